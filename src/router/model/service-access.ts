/**
 * Decides by the data model whether an identity may dial or host a service: a policy of that type has to relate both,
 * and the device has to pass all posture checks of that policy.
 * The texts of refusals are those of OpenZiti's routers, which SDKs show.
 */
import { postureFault, type Posture } from '#domain/posture';
import { DataState_PolicyType } from '#wire/ctrl';
import type { DataModel } from './data-model.ts';

export type AccessType = 'Dial' | 'Bind';

const POLICY_TYPES = {
  Dial: DataState_PolicyType.DIAL_POLICY,
  Bind: DataState_PolicyType.BIND_POLICY,
} as const;

/** The posture that the caller's device has reported, and the time of the decision. */
export interface DeviceState {
  readonly posture: Posture | undefined;
  readonly nowMs: number;
}

/** Returns the reason of a refusal, or undefined if a policy grants the access. */
export function accessFault(
  model: DataModel,
  identityId: string,
  serviceId: string,
  type: AccessType,
  device: DeviceState,
): string | undefined {
  if (!model.entities('identity').has(identityId)) return 'identity not found by id';
  if (!model.entities('service').has(serviceId)) return 'service not found by id';
  const failed: string[] = [];
  const ofIdentity = model.policiesOf('identity', identityId);
  const ofService = model.policiesOf('service', serviceId);
  for (const policyId of ofIdentity.length < ofService.length ? ofIdentity : ofService) {
    const policy = model.entities('servicePolicy').get(policyId);
    const relations = model.relationsOf(policyId);
    if (policy?.case !== 'servicePolicy' || policy.value.policyType !== POLICY_TYPES[type]) continue;
    if (relations === undefined) continue;
    if (!relations.service.has(serviceId) || !relations.identity.has(identityId)) continue;
    const fault = checksFault(model, relations.postureCheck, device);
    if (fault === undefined) return undefined;
    failed.push(`policy ${policy.value.name} [${policyId}] failed: ${fault}`);
  }
  if (failed.length === 0) return 'no policies provide access';
  return `${failed.length} policies failed: ${failed.slice(0, MAX_NAMED_POLICIES).join(', ')}`;
}

const MAX_NAMED_POLICIES = 4;

/** Returns why the first failing check fails, or undefined if all pass. */
function checksFault(
  model: DataModel,
  checkIds: ReadonlySet<string>,
  { posture, nowMs }: DeviceState,
): string | undefined {
  for (const checkId of checkIds) {
    const check = model.entities('postureCheck').get(checkId);
    if (check?.case !== 'postureCheck') return `posture check ${checkId} is not in the data model`;
    const fault = postureFault(check.value, posture, nowMs);
    if (fault !== undefined) return `posture check ${check.value.name} [${checkId}]: ${fault}`;
  }
  return undefined;
}
