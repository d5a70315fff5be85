/** Emits an event for each link and terminator that comes, changes or goes. Costs nothing without a listener. */
import type { FabricEvents, TerminatorChangeType } from '../model/fabric-events.ts';
import type { RouterRegistry } from '../mesh/connected-router.ts';
import type { LinkRegistry } from '../mesh/link-registry.ts';
import { precedenceName } from '../terminators/precedence-name.ts';
import type { TerminatorCosts } from '../terminators/terminator-costs.ts';
import type { Terminator, TerminatorRegistry } from '../terminators/terminator-registry.ts';

export interface MeshTrailOptions {
  readonly events: FabricEvents;
  readonly links: LinkRegistry;
  readonly terminators: TerminatorRegistry;
  readonly routers: Pick<RouterRegistry, 'get'>;
  readonly costs: TerminatorCosts;
}

const TYPE_OF = { added: 'created', changed: 'updated', removed: 'deleted' } as const;

/** Follows the registries from now on. */
export function followMesh({ events, links, terminators, routers, costs }: MeshTrailOptions): void {
  links.onReported((link, isLost) => {
    if (!events.has('link')) return;
    const { id, sourceId, destinationId, protocol, dialAddress, staticCost, connections } = link;
    events.emit('link', {
      type: isLost ? 'fault' : 'routerLinkNew',
      linkId: id,
      sourceId,
      destinationId,
      protocol,
      dialAddress,
      cost: staticCost,
      connections,
    });
  });

  const report = (type: TerminatorChangeType, terminator: Terminator): void => {
    if (!events.has('terminator')) return;
    const ofService = terminators.ofService(terminator.serviceId);
    const isOnline = ({ routerId }: Terminator): boolean => routers.get(routerId) !== undefined;
    const usable = { default: 0, required: 0, failed: 0 };
    for (const one of ofService.values()) if (isOnline(one)) usable[precedenceName(one.precedence)] += 1;
    const { id, serviceId, routerId, identityId, instanceId, precedence, cost } = terminator;
    events.emit('terminator', {
      type,
      terminatorId: id,
      serviceId,
      routerId,
      instanceId,
      hostId: identityId ?? '',
      isRouterOnline: isOnline(terminator),
      precedence: precedenceName(precedence),
      staticCost: cost,
      dynamicCost: costs.dynamicCost(id),
      total: ofService.size,
      usableDefault: usable.default,
      usableRequired: usable.required,
    });
  };
  terminators.onChange((terminator, change) => report(TYPE_OF[change], terminator));
}
