/**
 * Places the routers of a mesh: those with links stand near each other, none over another. The same mesh is drawn in the same
 * place each time. Forces after Fruchterman and Reingold. Pure.
 */

export interface PlacedNode {
  readonly id: string;
  /** From 0 to 1, within the map. */
  readonly x: number;
  readonly y: number;
}

interface Link {
  readonly sourceRouterId: string;
  readonly destinationRouterId: string;
}

const ROUNDS = 120;
const MIN_DISTANCE = 1e-4;
const MARGIN = 0.06;

export function mapLayout(ids: readonly string[], links: readonly Link[]): readonly PlacedNode[] {
  const sorted = [...ids].sort();
  const count = sorted.length;
  if (count === 0) return [];
  const at = new Map(sorted.map((id, index) => [id, index]));
  // The golden angle spreads them; nothing is drawn at random.
  const xs = new Float64Array(count);
  const ys = new Float64Array(count);
  for (let index = 0; index < count; index += 1) {
    const angle = index * 2.399963;
    const radius = 0.45 * Math.sqrt((index + 0.5) / count);
    xs[index] = 0.5 + radius * Math.cos(angle);
    ys[index] = 0.5 + radius * Math.sin(angle);
  }
  const pairs = links.flatMap(({ sourceRouterId, destinationRouterId }) => {
    const [from, to] = [at.get(sourceRouterId), at.get(destinationRouterId)];
    return from === undefined || to === undefined || from === to ? [] : [[from, to] as const];
  });
  const wanted = Math.sqrt(1 / count);
  for (let round = 0; round < ROUNDS; round += 1) move(xs, ys, pairs, wanted, 0.12 * (1 - round / ROUNDS));
  return sorted.map((id, index) => ({ id, ...scaled(xs, ys, index) }));
}

/** One round: all repel each other, links attract, and nobody moves further than `reach`. */
function move(
  xs: Float64Array,
  ys: Float64Array,
  pairs: readonly (readonly [number, number])[],
  wanted: number,
  reach: number,
): void {
  const count = xs.length;
  const dx = new Float64Array(count);
  const dy = new Float64Array(count);
  for (let a = 0; a < count; a += 1) {
    for (let b = a + 1; b < count; b += 1) {
      const [x, y] = [xs[a]! - xs[b]!, ys[a]! - ys[b]!];
      const force = (wanted * wanted) / Math.max(x * x + y * y, MIN_DISTANCE);
      dx[a]! += x * force;
      dy[a]! += y * force;
      dx[b]! -= x * force;
      dy[b]! -= y * force;
    }
  }
  for (const [a, b] of pairs) {
    const [x, y] = [xs[a]! - xs[b]!, ys[a]! - ys[b]!];
    const force = Math.hypot(x, y) / wanted;
    dx[a]! -= x * force;
    dy[a]! -= y * force;
    dx[b]! += x * force;
    dy[b]! += y * force;
  }
  for (let index = 0; index < count; index += 1) {
    const length = Math.max(Math.hypot(dx[index]!, dy[index]!), MIN_DISTANCE);
    const step = Math.min(length, reach) / length;
    xs[index]! += dx[index]! * step;
    ys[index]! += dy[index]! * step;
  }
}

function scaled(
  xs: Float64Array,
  ys: Float64Array,
  index: number,
): { readonly x: number; readonly y: number } {
  const within = (values: Float64Array): number => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const share = most - least < MIN_DISTANCE ? 0.5 : (values[index]! - least) / (most - least);
    return MARGIN + share * (1 - 2 * MARGIN);
  };
  return { x: within(xs), y: within(ys) };
}
