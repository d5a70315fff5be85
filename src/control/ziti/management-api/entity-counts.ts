/** How many entities of each kind there are, by OpenZiti's names. */
import { POSTURE_CHECK_TYPES } from '../../overlay/model/mod.ts';
import { countOpenEnrollments } from '../../overlay/enrollments/mod.ts';
import { countEdgeTerminators } from '../../overlay/records/mod.ts';
import { KINDS_OF } from './enrollments.ts';
import type { ManagementParts } from './entity-resource.ts';

type Counted = Pick<ManagementParts, 'model' | 'sessions' | 'addresses' | 'store' | 'clock'>;

export async function entityCounts(parts: Counted): Promise<Record<string, number>> {
  const { model, sessions, store, clock } = parts;
  const { controllers } = parts.addresses;
  const { edge } = model;
  const routers = model.routerCount;
  const apiSessions = [...sessions.all()].filter(({ identityId }) => edge.hasIdentity(identityId)).length;
  return {
    apiSessions,
    authPolicies: edge.withBuiltIns('auth-policy').length,
    cas: edge.count('ca'),
    configTypes: edge.configTypes().length,
    configs: edge.count('config'),
    controllers: controllers().length,
    edgeRouterPolicies: edge.count('edge-router-policy'),
    enrollments: await countOpenEnrollments(store.db, Object.values(KINDS_OF).flat(), clock.nowMs()),
    externalJwtSigners: edge.count('external-jwt-signer'),
    identities: edge.count('identity'),
    identityTypes: 2,
    postureCheckTypes: POSTURE_CHECK_TYPES.length,
    postureChecks: edge.count('posture-check'),
    routers,
    'routers.edge': routers - edge.count('transit-router'),
    serviceEdgeRouterPolicies: edge.count('service-edge-router-policy'),
    servicePolicies: edge.count('service-policy'),
    services: edge.count('service'),
    'services.edge': edge.count('service'),
    terminators: await countEdgeTerminators(store.db),
  };
}
