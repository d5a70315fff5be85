/**
 * What each router on a circuit's path is told: forwarding entries in both directions, and the egress for the last.
 * Pure. Paths have one router, or two with a link between them.
 */
import { DestType, type Route_Forward } from '#wire/ctrl';

export interface RoutePlan {
  readonly ingressAddress: string;
  readonly egressAddress: string;
  /** In path order; the last has the egress. */
  readonly hops: readonly RouteHop[];
}

export interface RouteHop {
  readonly routerId: string;
  readonly isEgress: boolean;
  readonly forwards: readonly Forward[];
}

export type Forward = Pick<Route_Forward, 'srcAddress' | 'dstAddress' | 'dstType'>;

export interface PathAddresses {
  readonly ingressAddress: string;
  readonly egressAddress: string;
}

export function planOneRouter(routerId: string, addresses: PathAddresses): RoutePlan {
  const { ingressAddress, egressAddress } = addresses;
  const forwards = [
    { srcAddress: ingressAddress, dstAddress: egressAddress, dstType: DestType.END },
    { srcAddress: egressAddress, dstAddress: ingressAddress, dstType: DestType.START },
  ];
  return { ...addresses, hops: [{ routerId, isEgress: true, forwards }] };
}

export function planTwoRouters(
  ingressRouterId: string,
  linkId: string,
  egressRouterId: string,
  addresses: PathAddresses,
): RoutePlan {
  const { ingressAddress, egressAddress } = addresses;
  return {
    ...addresses,
    hops: [
      {
        routerId: ingressRouterId,
        isEgress: false,
        forwards: [
          { srcAddress: ingressAddress, dstAddress: linkId, dstType: DestType.LINK },
          { srcAddress: linkId, dstAddress: ingressAddress, dstType: DestType.START },
        ],
      },
      {
        routerId: egressRouterId,
        isEgress: true,
        forwards: [
          { srcAddress: egressAddress, dstAddress: linkId, dstType: DestType.LINK },
          { srcAddress: linkId, dstAddress: egressAddress, dstType: DestType.END },
        ],
      },
    ],
  };
}
