/** The routers of a map as its list has them, and which of them are next to one. Pure. */
import type { MeshAnswer } from '#contract/schemas';

type MeshRouter = MeshAnswer['routers'][number];
type Link = Pick<MeshAnswer['links'][number], 'sourceRouterId' | 'destinationRouterId' | 'usable'>;

export interface ListedRouter extends Pick<MeshRouter, 'id' | 'name' | 'online'> {
  readonly links: number;
  readonly unusable: number;
}

/** Those that are disconnected first, then those with an unusable link, then by name. */
export function routersInOrder(
  routers: readonly Pick<MeshRouter, 'id' | 'name' | 'online'>[],
  links: readonly Link[],
): readonly ListedRouter[] {
  const counts = new Map(routers.map(({ id }) => [id, { links: 0, unusable: 0 }]));
  for (const { sourceRouterId, destinationRouterId, usable } of links) {
    for (const id of new Set([sourceRouterId, destinationRouterId])) {
      const count = counts.get(id);
      if (count === undefined) continue;
      count.links += 1;
      if (!usable) count.unusable += 1;
    }
  }
  const rank = ({ online, unusable }: ListedRouter): number => (!online ? 0 : unusable > 0 ? 1 : 2);
  return routers
    .map(({ id, name, online }): ListedRouter => ({ id, name, online, ...counts.get(id)! }))
    .toSorted(
      (one, other) =>
        rank(one) - rank(other) || one.name.localeCompare(other.name, undefined, { numeric: true }),
    );
}

/** The router itself, and those that a link joins to it. */
export function neighborsOf(id: string, links: readonly Link[]): ReadonlySet<string> {
  const near = new Set([id]);
  for (const { sourceRouterId, destinationRouterId } of links) {
    if (sourceRouterId === id) near.add(destinationRouterId);
    if (destinationRouterId === id) near.add(sourceRouterId);
  }
  return near;
}
