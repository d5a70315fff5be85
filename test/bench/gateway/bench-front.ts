/** A program that clients come in by: nginx, haproxy or a gateway, with what each way in asks of a client. */
import type { ClientEntrance } from '../check-client.ts';

export const NGINX_PROXY = 'nginx proxy';
export const HAPROXY = 'haproxy';

export interface Door {
  readonly port: number;
  readonly host: string;
  readonly entrance: ClientEntrance;
}

/** A front with one kind of authentication. Absent doors are ways that do not exist. */
export interface Front {
  /** As tables show it: `up, API key`. */
  readonly name: string;
  /** To the private service over plain HTTP and over TLS. */
  readonly plain?: Door;
  readonly secure?: Door;
  /** To the WebSocket echo. */
  readonly plainEcho?: Door;
  readonly secureEcho?: Door;
  /** How often nginx counts one request that comes this way. */
  readonly serviceRequests: number;
  /** Process ids by part, for CPU time and memory; the one that clients are connected to comes first. */
  readonly processes: ReadonlyMap<string, number>;
}
