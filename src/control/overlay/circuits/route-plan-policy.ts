/**
 * The Route for each router on a circuit's path: forwarding entries in both directions, and the egress for the
 * last one. Pure. Paths may have any length.
 */
import { DestType, type Route_Forward } from '#wire/ctrl';

export interface RouteHop {
  readonly routerId: string;
  readonly isEgress: boolean;
  readonly forwards: readonly PlannedForward[];
}

export type PlannedForward = Pick<Route_Forward, 'srcAddress' | 'dstAddress' | 'dstType'>;

export interface PathAddresses {
  readonly ingressAddress: string;
  readonly egressAddress: string;
}

export interface RoutedPath {
  readonly routerIds: readonly string[];
  readonly linkIds: readonly string[];
}

/** In path order. */
export function planRoute(path: RoutedPath, addresses: PathAddresses): RouteHop[] {
  const { ingressAddress, egressAddress } = addresses;
  const last = path.routerIds.length - 1;
  return path.routerIds.map((routerId, at) => {
    const before = path.linkIds[at - 1];
    const after = path.linkIds[at];
    const start = before ?? ingressAddress;
    const end = after ?? egressAddress;
    const forwards: PlannedForward[] = [
      { srcAddress: start, dstAddress: end, dstType: after === undefined ? DestType.END : DestType.LINK },
      { srcAddress: end, dstAddress: start, dstType: before === undefined ? DestType.START : DestType.LINK },
    ];
    // In OpenZiti's order, the entry of the own end comes first at either end.
    if (at === last && at > 0) forwards.reverse();
    return { routerId, isEgress: at === last, forwards };
  });
}
