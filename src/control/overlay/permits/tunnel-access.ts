/**
 * Whether a router may dial or host a service by its tunnel listener: as the identity that has its id, which exists only
 * while an administrator permits the listener, and by the policies and grants of that identity (ADR 0041).
 */
import { EdgeErrorCode, RetryHint } from '#wire/circuits';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { Service } from '../model/service.ts';
import { passesPosture } from './posture-access.ts';

export type TunnelVerdict =
  | { readonly isAllowed: true; readonly service: Service }
  | {
      readonly isAllowed: false;
      readonly code: number;
      readonly retryHint: number;
      /** For the router and the log. */
      readonly text: string;
      /** Reason for the audit trail. */
      readonly reason: string;
      readonly service: Service | undefined;
    };

/** `service`: the one that the router named, if it exists. */
export function judgeTunnel(
  model: OverlayModel,
  routerId: string,
  service: Service | undefined,
  type: 'Dial' | 'Bind',
): TunnelVerdict {
  if (!model.edge.hasIdentity(routerId)) {
    const text = 'tunneling is not enabled for this router';
    return refused(EdgeErrorCode.tunnelingNotEnabled, text, 'tunneling-not-enabled', service);
  }
  if (service === undefined)
    return refused(EdgeErrorCode.invalidService, 'there is no such service', 'service-gone', service);
  const isPermitted = type === 'Dial' ? model.mayDial(routerId, service) : model.mayBind(routerId, service);
  if (!isPermitted) {
    const text = `no policy lets this router ${type.toLowerCase()} the service`;
    return refused(EdgeErrorCode.invalidService, text, 'not-granted', service);
  }
  // A router has no device that reports a posture.
  if (!passesPosture(model, { type, identityId: routerId, serviceId: service.id }, undefined, 0)) {
    const text = 'a router passes no posture check, and every policy demands one';
    return refused(EdgeErrorCode.invalidService, text, 'posture', service);
  }
  if (!model.mayUseRouter(routerId, service, routerId)) {
    const text = 'no service edge router policy lets this router carry the service';
    return refused(EdgeErrorCode.invalidEdgeRouterForSession, text, 'router-not-granted', service);
  }
  return { isAllowed: true, service };
}

/** Policies can come to permit it, so that a router may ask again. */
function refused(code: number, text: string, reason: string, service: Service | undefined): TunnelVerdict {
  return { isAllowed: false, code, retryHint: RetryHint.none, text, reason, service };
}
