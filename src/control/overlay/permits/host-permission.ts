/** The permission of an identity to host a service at a router, without its session, which its router judges. */
import type { OverlayModel } from '../model/overlay-model.ts';
import type { HostPostures } from './posture-access.ts';

interface Host {
  readonly identityId: string;
  readonly serviceId: string;
  readonly routerId: string;
}

export function mayHost(
  model: OverlayModel,
  hosts: HostPostures,
  { serviceId, identityId, routerId }: Host,
): boolean {
  const service = model.service(serviceId);
  return (
    service !== undefined &&
    model.identity(identityId) !== undefined &&
    model.mayBind(identityId, service) &&
    hosts.pass(identityId, service.id) &&
    model.mayUseRouter(identityId, service, routerId) &&
    model.identity(routerId) !== undefined
  );
}
