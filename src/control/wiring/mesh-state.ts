/** The state of the mesh in answers of the edge management API. */
import type { MeshState } from '../ziti/management-api/mod.ts';
import type { EdgeRouter } from '../overlay/model/mod.ts';
import type { FabricView } from '../overlay/mod.ts';

/** `edgeRouters`: those with an edge listener, also at other control planes. */
export function meshState(
  fabric: Pick<FabricView, 'routers' | 'dynamicCost'>,
  edgeRouters: () => readonly EdgeRouter[],
): MeshState {
  return {
    dynamicCost: (id) => fabric.dynamicCost(id),
    onlineRouterIds: () =>
      new Set([...edgeRouters(), ...fabric.routers()].filter(({ isOnline }) => isOnline).map(({ id }) => id)),
  };
}
