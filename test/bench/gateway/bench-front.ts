/** Ways in front of the private service: nginx, haproxy and our gateway, with what each way asks of a client. */
import type { Door } from '../check-client.ts';
import type { HttpTarget } from '../http-samplers.ts';

/** What the product's fronts are called in tables: the shape, then what is asked of a client. */
export const UP = 'up';
export const UP_KEY = 'up, API key';
export const UP_SESSION = 'up, session';
export const SEPARATE = 'separate';
export const SEPARATE_KEY = 'separate, API key';

/** Ways to the private service over plain HTTP and over TLS. */
export type DoorKind = 'plain' | 'secure';
type Doors = Readonly<Record<DoorKind, Door>>;

/** A front with one kind of authentication. Absent doors are ways that do not exist. */
export interface Front extends Partial<Readonly<Record<DoorKind, Door | undefined>>> {
  /** As tables show it: `up, API key`. */
  readonly name: string;
  /** How often nginx counts one request that comes this way. */
  readonly serviceRequests: number;
  /** Process ids by part, for CPU time and memory; the one that clients are connected to comes first. */
  readonly processes: ReadonlyMap<string, number>;
}

/** A front of the product: both doors. */
export type ProductFront = Front & Doors;

/** The fronts that have such a door, as targets of a load. */
export function targetsOf(fronts: readonly Front[], kind: DoorKind): HttpTarget[] {
  return fronts.flatMap(({ name, serviceRequests, processes, [kind]: door }) =>
    door === undefined ? [] : [{ name, ...door, serviceRequests, processes }],
  );
}
