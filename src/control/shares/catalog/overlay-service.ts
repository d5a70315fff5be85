/** A share as the overlay has it: a service under the share's token, which only its environment may host. */
import { BACKEND_MODE_TABLE, parseShareTarget, type BackendMode, type Share } from '#domain';
import type { ProjectedService, ServiceEndpoint } from '../../overlay/model/mod.ts';

/** One for each mode, because there are many shares. Our clients learn whether it is a stream or datagrams. */
const TAGS = new Map(
  Object.keys(BACKEND_MODE_TABLE).map((backendMode) => [backendMode as BackendMode, { backendMode }]),
);

export function overlayServiceOf(share: Share): ProjectedService {
  const { id, token, environmentId, shareMode, grants, frontdoorId, target, backendMode, updatedAtMs } =
    share;
  return {
    id,
    name: token,
    hostId: environmentId,
    openTo: shareMode === 'public' ? 'gateways' : 'grants',
    grants,
    // Administrators let a frontdoor use a tunnel router by an attribute with its id.
    routerRole: frontdoorId,
    endpoint: endpointOf(target),
    tags: TAGS.get(backendMode)!,
    updatedAtMs,
  };
}

function endpointOf(text: string): ServiceEndpoint | undefined {
  const target = parseShareTarget(text);
  if (target === undefined) return undefined;
  const { mode, clientPort } = target;
  return {
    protocol: BACKEND_MODE_TABLE[mode].speaks === 'datagrams' ? 'udp' : 'tcp',
    clientPort,
    server: 'host' in target ? { address: target.host, port: target.port } : undefined,
  };
}
