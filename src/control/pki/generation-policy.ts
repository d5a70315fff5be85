/** Which generation of an authority does what at a given time (ADR 0062). Decides from names and times only. */

export type AuthorityKind = 'root' | 'intermediate';

/** One row of `authority`, without its key. */
export interface Generation {
  /** `root-ca` or `intermediate-ca`; later generations end in `-2` and so on. */
  readonly name: string;
  /** The root above an intermediate. */
  readonly parent: string | undefined;
  readonly issuesAtMs: number;
  readonly endsAtMs: number | undefined;
  /** Whether its key is stored: it was deleted when the generation was replaced by hand. */
  readonly hasKey: boolean;
}

export interface Generations<T extends Generation> {
  /** Trusted now, the oldest first. */
  readonly roots: readonly T[];
  readonly intermediates: readonly T[];
  /** Signs the certificates of clients and routers. */
  readonly issuer: T;
  /**
   * Signs the certificates of the control plane's servers. It stays below the former root until that ends soon, so that
   * peers that were away can still get the new one.
   */
  readonly serverIssuer: T;
}

export const ROOT = 'root-ca';
export const INTERMEDIATE = 'intermediate-ca';
/** Control planes read the generations once a minute. After this time all of them have read a change. */
export const SPREAD_MS = 120_000;
/** How long before the end of the former root the servers change to the new one, for control planes that read it late. */
const SERVER_CHANGE_MS = 2 * SPREAD_MS;

export function kindOf(name: string): AuthorityKind {
  return name.startsWith(ROOT) ? 'root' : 'intermediate';
}

export function generationNumber(name: string): number {
  return Number(/-ca-(\d+)$/.exec(name)?.[1] ?? 1);
}

export function isTrusted({ endsAtMs }: Pick<Generation, 'endsAtMs'>, nowMs: number): boolean {
  return endsAtMs === undefined || nowMs < endsAtMs;
}

/** Throws a RangeError if no intermediate can issue. */
export function generationsAt<T extends Generation>(all: readonly T[], nowMs: number): Generations<T> {
  const trusted = all
    .filter((one) => isTrusted(one, nowMs))
    .toSorted((a, b) => generationNumber(a.name) - generationNumber(b.name));
  const roots = trusted.filter(({ name }) => kindOf(name) === 'root');
  const intermediates = trusted.filter(({ name }) => kindOf(name) === 'intermediate');
  const able = intermediates.filter(({ hasKey }) => hasKey);
  // A clock that was set back may be before all of them.
  const issuing = able.filter(({ issuesAtMs }) => issuesAtMs <= nowMs);
  const issuer = issuing.at(-1) ?? able[0];
  if (issuer === undefined) throw new RangeError('no intermediate authority can issue');
  const former = roots.find(({ endsAtMs }) => endsAtMs !== undefined && nowMs < endsAtMs - SERVER_CHANGE_MS);
  const belowFormer = former && issuing.findLast(({ parent }) => parent === former.name);
  return { roots, intermediates, issuer, serverIssuer: belowFormer ?? issuer };
}

/** `distributed`: the new generation is trusted and does not issue yet; `issuing`: the former is still trusted. */
export type RotationStep = 'distributed' | 'issuing';

export interface Rotation<T extends Generation> {
  readonly kind: AuthorityKind;
  readonly step: RotationStep;
  /** The generations that end, and those that replace them: an intermediate, and its root in a rotation of the root. */
  readonly former: readonly T[];
  readonly next: readonly T[];
}

/** The rotation that is not done; undefined for none. */
export function rotationAt<T extends Generation>(all: readonly T[], nowMs: number): Rotation<T> | undefined {
  const trusted = all.filter((one) => isTrusted(one, nowMs));
  const former = trusted.filter(({ endsAtMs }) => endsAtMs !== undefined);
  if (former.length === 0) return undefined;
  const next = trusted.filter(({ endsAtMs }) => endsAtMs === undefined);
  const replaced = next.filter((one) => former.some(({ name }) => kindOf(name) === kindOf(one.name)));
  const kind = former.some(({ name }) => kindOf(name) === 'root') ? 'root' : 'intermediate';
  const step = replaced.some(({ issuesAtMs }) => nowMs < issuesAtMs) ? 'distributed' : 'issuing';
  return { kind, step, former, next: replaced };
}

/** When the next step of the rotation happens by itself. */
export function nextRotationStep<T extends Generation>(
  rotation: Rotation<T> | undefined,
): { readonly kind: AuthorityKind; readonly step: RotationStep; readonly atMs: number } | undefined {
  if (rotation === undefined) return undefined;
  const { kind, step, former, next } = rotation;
  const atMs =
    step === 'distributed'
      ? Math.max(...next.map(({ issuesAtMs }) => issuesAtMs))
      : Math.min(...former.map(({ endsAtMs }) => endsAtMs ?? Infinity));
  return { kind, step, atMs };
}
