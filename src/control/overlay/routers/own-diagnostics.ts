/** Diagnostics of this control plane by OpenZiti's names and in its JSON, as `ziti fabric inspect` asks for them. */
import { formatGoDuration } from '#base';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { RouterRegistry } from '../mesh/connected-router.ts';
import type { TerminatorCosts } from '../terminators/terminator-costs.ts';

export interface OwnDiagnosticsParts {
  readonly model: OverlayModel;
  readonly routers: RouterRegistry;
  readonly costs: TerminatorCosts;
  /** The state of the data model that routers get. */
  readonly dataModel: { readonly timelineId: string; readonly index: bigint };
  readonly validation: { readonly waiting: ReadonlyMap<string, readonly string[]> };
}

/** Returns undefined for a name that it does not know. `name` is in lower case. */
export function ownDiagnostic(parts: OwnDiagnosticsParts, name: string): unknown {
  switch (name) {
    case 'connected-routers':
      return connectedRouters(parts);
    case 'terminator-costs':
      return { terminators: [...parts.costs.all()] };
    case 'identity-connection-statuses':
      return identityConnections(parts);
    case 'router-messaging':
      return routerMessaging(parts);
    case 'router-data-model-index':
    case 'data-model-index':
      return { timeline: parts.dataModel.timelineId, index: Number(parts.dataModel.index) };
    default:
      return undefined;
  }
}

function connectedRouters({ routers, model }: OwnDiagnosticsParts): object[] {
  return [...routers.all()].map(({ id, version, connectedAtMs }) => ({
    Id: id,
    Name: model.identity(id)?.name ?? '',
    Version: version,
    ConnectTime: new Date(connectedAtMs).toISOString(),
  }));
}

function identityConnections({ routers }: OwnDiagnosticsParts): object {
  const connections: Record<
    string,
    { connected_routers: Record<string, object>; last_reported_state: string }
  > = {};
  for (const { id, presentIdentities, channel } of routers.all()) {
    for (const identityId of presentIdentities) {
      const row = (connections[identityId] ??= { connected_routers: {}, last_reported_state: 'online' });
      row.connected_routers[id] = { router_id: id, closed: channel.isClosed };
    }
  }
  // A report of a router is applied as it comes.
  return { connections, scanInterval: formatGoDuration(0) };
}

function routerMessaging({ validation, model }: OwnDiagnosticsParts): object {
  const terminatorValidations = [...validation.waiting].map(([id, terminators]) => ({
    router: { id, name: model.identity(id)?.name ?? '' },
    terminators,
    checkInProgress: false,
  }));
  // Changes of routers are sent to the others as they come.
  return { routerUpdates: [], terminatorValidations };
}
