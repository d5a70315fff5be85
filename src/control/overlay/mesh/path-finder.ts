/**
 * Paths between connected routers, cached until routers, links or traits change, because new circuits need the same few
 * paths repeatedly. Equal requests return the same object.
 */
import type { RouterRegistry } from './connected-router.ts';
import type { LinkRegistry } from './link-registry.ts';
import {
  entryCost,
  pathTo,
  QUIESCED_COST,
  searchPaths,
  type CircuitPath,
  type Edge,
  type PathTraits,
  type PathTree,
} from './path-policy.ts';

/** The traits of routers, with a version that changes with them. */
export interface TraitSource {
  readonly traitsVersion: number;
  routerTraits(id: string): PathTraits;
}

export class PathFinder {
  readonly #routers: RouterRegistry;
  readonly #links: LinkRegistry;
  readonly #traits: TraitSource;
  #routersVersion = -1;
  #linksVersion = -1;
  #traitsVersion = -1;
  #mesh = new Map<string, Map<string, Edge>>();
  readonly #trees = new Map<string, PathTree>();
  readonly #paths = new Map<string, Map<string, CircuitPath | undefined>>();

  constructor(routers: RouterRegistry, links: LinkRegistry, traits: TraitSource) {
    this.#routers = routers;
    this.#links = links;
    this.#traits = traits;
  }

  /** Returns undefined if either router is not connected, or no links lead there. */
  find(ingressId: string, egressId: string): CircuitPath | undefined {
    this.#refresh();
    let paths = this.#paths.get(ingressId);
    if (paths === undefined) this.#paths.set(ingressId, (paths = new Map<string, CircuitPath | undefined>()));
    const known = paths.get(egressId);
    if (known !== undefined || paths.has(egressId)) return known;
    let tree = this.#trees.get(ingressId);
    if (tree === undefined) {
      const isQuiesced = (id: string): boolean => this.#routers.isQuiesced(id);
      tree = searchPaths(this.#mesh, ingressId, isQuiesced, (id) => this.#traits.routerTraits(id));
      this.#trees.set(ingressId, tree);
    }
    // Unknown ids are not cached, because their number is unbounded.
    const found = pathTo(tree, egressId);
    if (this.#mesh.has(ingressId) && this.#mesh.has(egressId)) paths.set(egressId, found);
    return found;
  }

  /** Returns its current cost by the rules of the search, or undefined if a link or router of it was removed. */
  costOf({ routerIds, linkIds }: CircuitPath): number | undefined {
    let cost = 0;
    for (const [at, id] of routerIds.entries()) {
      if (this.#routers.get(id) === undefined) return undefined;
      const linkId = linkIds[at];
      const nextId = routerIds[at + 1];
      if (linkId === undefined || nextId === undefined) continue;
      const link = this.#links.get(linkId);
      if (link === undefined) return undefined;
      const mustLeave = this.#routers.isQuiesced(id) || this.#traits.routerTraits(id).noTraversal;
      cost += link.cost + entryCost(this.#traits.routerTraits(nextId));
      if (at > 0 && mustLeave) cost += QUIESCED_COST;
    }
    return cost;
  }

  #refresh(): void {
    const { version: routersVersion } = this.#routers;
    const { version: linksVersion } = this.#links;
    const { traitsVersion } = this.#traits;
    const isSameMesh = routersVersion === this.#routersVersion && linksVersion === this.#linksVersion;
    if (isSameMesh && traitsVersion === this.#traitsVersion) return;
    this.#routersVersion = routersVersion;
    this.#linksVersion = linksVersion;
    this.#traitsVersion = traitsVersion;
    this.#trees.clear();
    this.#paths.clear();
    const mesh = (this.#mesh = new Map<string, Map<string, Edge>>());
    for (const { id } of this.#routers.all()) mesh.set(id, new Map());
    for (const { id: linkId, sourceId, destinationId, cost } of this.#links.all()) {
      const there = mesh.get(sourceId);
      const back = mesh.get(destinationId);
      if (there === undefined || back === undefined) continue;
      const best = there.get(destinationId);
      // If costs are equal, the smaller id wins, so that the result does not depend on the order of reports.
      if (best !== undefined && (best.cost < cost || (best.cost === cost && best.linkId < linkId))) continue;
      const edge = { linkId, cost };
      there.set(destinationId, edge);
      back.set(sourceId, edge);
    }
  }
}
