/** Identities: their row in `identity`, with certificates and sessions, and their enrollment. */
import { textsOf } from '#base';
import { couldNotValidate, endLogIns, invalidParameter, type KeptLogIns } from '../../overlay/clients/mod.ts';
import { isUsername } from '../client-api/password-log-in.ts';
import { passwordAuthenticatorId } from '../client-api/authenticator-view.ts';
import {
  authPolicyIdOf,
  isTunnelRouter,
  tunnelIdentityOf,
  type EdgeEntityRecord,
  type JsonObject,
} from '../../overlay/model/mod.ts';
import {
  deleteEdgeIdentity,
  findEdgeEntity,
  identityClients,
  insertEdgeIdentity,
  UNKNOWN_CLIENT,
  renameIdentity,
  updateEdgeEntity,
} from '../../overlay/records/mod.ts';
import { identitiesWithTotp, userNames } from '../../credentials/identities/mod.ts';
import type { Queries } from '../../store/mod.ts';
import { endForbiddenLogIns } from './auth-policy-resource.ts';
import { entityView } from './entity-form.ts';
import { plainResource, type EntityResource, type ManagementParts } from './entity-resource.ts';
import { enrollAnew, enrollmentsView, openEnrollments, type NewEnrollmentOptions } from './enrollments.ts';
import { identityForm } from './identity-form.ts';

const MAX_QUOTED_CHARS = 100;
const LINKS = ['edge-router-policies', 'edge-routers', 'enrollments', 'service-policies', 'services'];

/** Log-ins in which no token and no certificate of another party named the identity. */
const KEPT_WITHOUT_OTHERS: KeptLogIns = {
  session: ({ method, signerId, secondSignerId }) =>
    method !== 'ext-jwt' && signerId === undefined && secondSignerId === undefined,
  administrator: (method) => method === 'password',
};

export const identityResource: EntityResource = {
  ...plainResource(identityForm),
  moreFields: ['enrollment'],

  all: ({ model: { edge } }) => Promise.resolve([...edge.all('identity'), ...edge.tunnelIdentities()]),

  async find(db, id) {
    const entity = await findEdgeEntity(db, 'identity', id);
    if (entity !== undefined) return entity;
    const router = await findEdgeEntity(db, 'edge-router', id);
    return router !== undefined && isTunnelRouter(router) ? tunnelIdentityOf(router) : undefined;
  },

  async viewer(parts) {
    const open = await openEnrollments(parts, 'identity');
    const usernames = await usernamesOf(parts);
    const withTotp = await identitiesWithTotp(parts.store.db);
    const clients = await identityClients(parts.store.db);
    const withSession = new Set(Array.from(parts.sessions.all(), ({ identityId }) => identityId));
    return (entity) => {
      const { id } = entity;
      const isConnected = parts.mesh.status.isConnected(id);
      return {
        ...entityView('identities', entity, LINKS),
        ...identityForm.view(parts.model, entity),
        authenticators: authenticatorsOf(parts, id, usernames.get(id)),
        enrollment: enrollmentsView(parts, open.get(id)),
        edgeRouterConnectionStatus: isConnected ? 'online' : 'offline',
        hasEdgeRouterConnection: isConnected,
        hasApiSession: withSession.has(id),
        isMfaEnabled: withTotp.has(id),
        ...(clients.get(id) ?? UNKNOWN_CLIENT),
      };
    };
  },

  async insert(parts, { trx, touch }, entity, { enrollment }) {
    const { id } = entity;
    await insertEdgeIdentity(trx, touch, entity);
    const wanted = wantedEnrollment(enrollment);
    if (wanted?.authorityId !== undefined) await checkAuthority(trx, 'enrollment', wanted.authorityId);
    if (wanted !== undefined) await enrollAnew(parts, trx, 'edge', id, wanted);
  },

  async update(parts, writing, entity) {
    const { trx, touch } = writing;
    const { id, name } = entity;
    await renameIdentity(trx, touch, id, name);
    const before = await findEdgeEntity(trx, 'identity', id);
    if (before === undefined) throw belongsToRouter(id);
    const policyId = authPolicyIdOf(entity);
    if (authPolicyIdOf(before) !== policyId) {
      // The built-in one permits everything, and may have a row that does not.
      const policy = await findEdgeEntity(trx, 'auth-policy', policyId);
      if (policy !== undefined) await endForbiddenLogIns(parts, writing, policy, [entity]);
    }
    // Tokens and certificates of other parties name it by another id from now on.
    if ((before.data['externalId'] ?? null) !== (entity.data['externalId'] ?? null))
      await endLogIns(trx, touch, [id], KEPT_WITHOUT_OTHERS, parts.clock.nowMs());
    await updateEdgeEntity(trx, touch, entity);
  },

  async remove(_parts, { trx, touch }, { id }) {
    if ((await findEdgeEntity(trx, 'identity', id)) === undefined) throw belongsToRouter(id);
    await deleteEdgeIdentity(trx, touch, id);
  },
};

/** The identity of a router changes, and ends, with its router. */
function belongsToRouter(id: string) {
  return invalidParameter('id', 'the identity belongs to an edge router: change or delete that', id);
}

/** An identity can only wait for a certificate of an authority that exists. Throws if there is none. */
export async function checkAuthority(trx: Queries, field: string, id: string): Promise<void> {
  if ((await findEdgeEntity(trx, 'ca', id)) === undefined)
    throw invalidParameter(field, `no ca found with ids [${id}]`, id);
}

/**
 * Reads `enrollment` of a new identity: `ott` gives it a certificate, `ottca` one that an authority of another party issued,
 * `updb` a password for that user name. Returns undefined for none of them.
 */
function wantedEnrollment(enrollment: unknown): NewEnrollmentOptions | undefined {
  if (enrollment === undefined || enrollment === null) return undefined;
  if (typeof enrollment !== 'object') throw couldNotValidate('enrollment is not an object');
  const { ott, ottca, updb, ...others } = enrollment as JsonObject;
  const isGiven = (value: unknown) =>
    value !== null && value !== undefined && value !== '' && value !== false;
  const other = Object.entries(others).find(([, value]) => isGiven(value));
  if (other !== undefined)
    throw invalidParameter('enrollment', `enrollment by ${other[0]} is not supported`, other[0]);
  if ([ott, ottca, updb].filter(isGiven).length > 1)
    throw invalidParameter('enrollment', 'an identity enrolls by one of ott, ottca and updb', '');
  if (isGiven(ottca)) return { authorityId: String(ottca).slice(0, MAX_QUOTED_CHARS) };
  if (!isGiven(updb)) return ott === true ? {} : undefined;
  if (!isUsername(updb))
    throw invalidParameter('enrollment', 'updb is no user name', String(updb).slice(0, MAX_QUOTED_CHARS));
  return { username: updb };
}

async function usernamesOf({ store }: ManagementParts): Promise<ReadonlyMap<string, string>> {
  return new Map((await userNames(store.db)).map(({ identityId, username }) => [identityId, username]));
}

function authenticatorsOf({ model }: ManagementParts, id: string, username: string | undefined): JsonObject {
  const [fingerprint] = model.identity(id)?.fingerprints ?? [];
  return {
    ...(fingerprint === undefined ? {} : { cert: { id: fingerprint, fingerprint } }),
    ...(username === undefined ? {} : { updb: { id: passwordAuthenticatorId({ id }), username } }),
  };
}

/** The attributes that identities have, for lists of them. */
export function roleAttributesOf(entities: Iterable<EdgeEntityRecord>): string[] {
  const found = new Set<string>();
  for (const { data } of entities) for (const one of textsOf(data['roleAttributes'])) found.add(one);
  return [...found].sort();
}
