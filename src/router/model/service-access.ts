/**
 * Decides by the data model whether an identity may dial or host a service: a policy of that type has to relate both.
 * The texts of refusals are those of OpenZiti's routers, which SDKs show.
 */
import { DataState_PolicyType } from '#wire/ctrl';
import type { DataModel } from './data-model.ts';

export type AccessType = 'Dial' | 'Bind';

const POLICY_TYPES = {
  Dial: DataState_PolicyType.DIAL_POLICY,
  Bind: DataState_PolicyType.BIND_POLICY,
} as const;

/** Returns the reason of a refusal, or undefined if a policy grants the access. */
export function accessFault(
  model: DataModel,
  identityId: string,
  serviceId: string,
  type: AccessType,
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
    // Posture data is not evaluated here, so a policy with posture checks grants nothing.
    if (relations.postureCheck.size === 0) return undefined;
    failed.push(`policy ${policy.value.name} [${policyId}] failed: this router evaluates no posture checks`);
  }
  if (failed.length === 0) return 'no policies provide access';
  return `${failed.length} policies failed: ${failed.slice(0, MAX_NAMED_POLICIES).join(', ')}`;
}

const MAX_NAMED_POLICIES = 4;
