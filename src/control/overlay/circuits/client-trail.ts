/** Emits events of clients: log-ins, presence at routers, and connections. Costs nothing without a listener. */
import type { ApiSessions } from '../model/api-sessions.ts';
import type { FabricEvents } from '../model/fabric-events.ts';
import type { StatusBoard } from '../model/service-status.ts';

/** Follows sessions and presence from now on. Sessions and clients that are there already have no event. */
export function followClients(
  events: FabricEvents,
  sessions: Pick<ApiSessions, 'onAdded' | 'onRemoved'>,
  presence: Pick<StatusBoard, 'isConnected' | 'onMeasured'>,
): void {
  sessions.onAdded(({ id: sessionId, identityId, isSigned }) =>
    events.emit('apiSession', { type: 'created', sessionId, identityId, isSigned }),
  );
  sessions.onRemoved(({ id: sessionId, identityId, isSigned }) =>
    events.emit('apiSession', { type: 'deleted', sessionId, identityId, isSigned }),
  );
  const online = new Set<string>();
  presence.onMeasured((kind, identityId) => {
    if (kind !== 'identity') return;
    const isOnline = presence.isConnected(identityId);
    if (isOnline === online.has(identityId)) return;
    if (isOnline) online.add(identityId);
    else online.delete(identityId);
    events.emit('sdk', { identityId, isOnline });
  });
}
