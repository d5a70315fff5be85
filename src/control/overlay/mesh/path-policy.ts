/**
 * Finds the cheapest path through the mesh with Dijkstra's algorithm over routers and the cheapest link between
 * each two. Entering a router costs its link and the router; leaving a router that requested no new circuits
 * costs so much that any other path is preferred. A router without traversal is never left. Pure.
 */

/** The cheapest usable link between two routers. */
export interface Edge {
  readonly linkId: string;
  readonly cost: number;
}

/** Router to neighbour to edge. Every router that may be on a path is a key. */
export type Mesh = ReadonlyMap<string, ReadonlyMap<string, Edge>>;

export interface CircuitPath {
  /** The ingress first. */
  readonly routerIds: readonly string[];
  /** Link `i` joins routers `i` and `i + 1`. */
  readonly linkIds: readonly string[];
  readonly cost: number;
}

export interface Step {
  readonly cost: number;
  /** Undefined at the start. */
  readonly previousId: string | undefined;
  readonly linkId: string;
}

/** The last step of the cheapest path to each reachable router. */
export type PathTree = ReadonlyMap<string, Step>;

export const MIN_ROUTER_COST = 10;
/** Above any path's real cost: twenty unmeasured links cost less. */
export const QUIESCED_COST = 10_000_000;

/** What the administrator decided about a router. */
export interface PathTraits {
  readonly cost: number;
  readonly noTraversal: boolean;
}

const usual = (): PathTraits => ({ cost: 0, noTraversal: false });

/** The cost of entering a router, beside that of the link. */
export function entryCost({ cost }: PathTraits): number {
  return Math.max(cost, MIN_ROUTER_COST);
}

export function searchPaths(
  mesh: Mesh,
  fromId: string,
  isQuiesced: (routerId: string) => boolean,
  traitsOf: (routerId: string) => PathTraits = usual,
): PathTree {
  const reached = new Map<string, Step>();
  if (!mesh.has(fromId)) return reached;
  const settled = new Set<string>();
  const heap = new Heap();
  reached.set(fromId, { cost: 0, previousId: undefined, linkId: '' });
  heap.push(0, fromId);
  for (let next = heap.pop(); next !== undefined; next = heap.pop()) {
    const { id } = next;
    if (settled.has(id)) continue;
    settled.add(id);
    if (id !== fromId && traitsOf(id).noTraversal) continue;
    const { cost } = reached.get(id)!;
    const leaving = id !== fromId && isQuiesced(id) ? QUIESCED_COST : 0;
    for (const [neighbourId, edge] of mesh.get(id) ?? []) {
      if (settled.has(neighbourId) || !mesh.has(neighbourId)) continue;
      const total = cost + leaving + edge.cost + entryCost(traitsOf(neighbourId));
      const known = reached.get(neighbourId);
      if (known !== undefined && known.cost <= total) continue;
      reached.set(neighbourId, { cost: total, previousId: id, linkId: edge.linkId });
      heap.push(total, neighbourId);
    }
  }
  return reached;
}

/** Returns undefined if the search did not reach it. */
export function pathTo(tree: PathTree, toId: string): CircuitPath | undefined {
  const last = tree.get(toId);
  if (last === undefined) return undefined;
  const routerIds = [toId];
  const linkIds: string[] = [];
  for (let step = last; step.previousId !== undefined; step = tree.get(step.previousId)!) {
    routerIds.push(step.previousId);
    linkIds.push(step.linkId);
  }
  return { routerIds: routerIds.reverse(), linkIds: linkIds.reverse(), cost: last.cost };
}

interface Entry {
  readonly cost: number;
  readonly id: string;
}

class Heap {
  readonly #entries: Entry[] = [];

  push(cost: number, id: string): void {
    const entries = this.#entries;
    let at = entries.length;
    entries.push({ cost, id });
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (entries[parent]!.cost <= cost) break;
      entries[at] = entries[parent]!;
      at = parent;
    }
    entries[at] = { cost, id };
  }

  pop(): Entry | undefined {
    const entries = this.#entries;
    const top = entries[0];
    const last = entries.pop();
    if (top === undefined || last === undefined || entries.length === 0) return top;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= entries.length) break;
      const right = left + 1;
      const least = right < entries.length && entries[right]!.cost < entries[left]!.cost ? right : left;
      if (entries[least]!.cost >= last.cost) break;
      entries[at] = entries[least]!;
      at = least;
    }
    entries[at] = last;
    return top;
  }
}
