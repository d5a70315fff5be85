/** Selects circuits that are worth moving: the most expensive few for which another path is much cheaper. Pure. */

export const MIN_COST_DROP = 15;
const MOVED_SHARE = 0.02;
const MAX_MOVED = 4;

export interface SmartMove<Circuit> {
  readonly circuit: Circuit;
  readonly now: number;
  readonly best: number;
}

/** `costsOf` returns the cost of a path now and that of the best path; undefined if not known. */
export function pickSmartMoves<Circuit extends { readonly path: object }>(
  circuits: Iterable<Circuit>,
  count: number,
  costsOf: (path: Circuit['path']) => { readonly now: number; readonly best: number } | undefined,
): SmartMove<Circuit>[] {
  // Circuits with the same path share one path object.
  const known = new Map<Circuit['path'], { readonly now: number; readonly best: number } | undefined>();
  const found: SmartMove<Circuit>[] = [];
  for (const circuit of circuits) {
    const { path } = circuit;
    if (!known.has(path)) known.set(path, costsOf(path));
    const costs = known.get(path);
    if (costs !== undefined && costs.now - costs.best >= MIN_COST_DROP) found.push({ circuit, ...costs });
  }
  const most = Math.min(MAX_MOVED, Math.max(1, Math.floor(count * MOVED_SHARE)));
  return found.sort((a, b) => b.now - a.now).slice(0, most);
}
