/** A share for tests that need one in memory. */
import type { GuardedShare } from '#domain';
import { DEFAULT_UPSTREAM } from '#domain/upstream';

export function sampleShare(id: string, more: Partial<GuardedShare> = {}): GuardedShare {
  return {
    id,
    token: id,
    name: id,
    frontdoorId: 'fd',
    environmentId: 'env',
    shareMode: 'public',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:3000',
    reserved: true,
    targetByAgent: true,
    ingress: null,
    ingressPort: null,
    epoch: 1,
    frontends: [],
    customHosts: [],
    authProviderIds: [],
    accessPolicyId: null,
    grants: [],
    rules: null,
    upstream: DEFAULT_UPSTREAM,
    inspection: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    ...more,
  };
}
