/** Authenticators of identities: certificates, which can be revoked, and passwords, which can be set. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { FrontdoorError } from '#base';
import { appendMachineAudit } from '../../audit/mod.ts';
import {
  endManagementSessionsOf,
  endPasswordLogIns,
  endSessionsOf,
  invalidParameter,
  jsonBody,
  notFound,
  queryOf,
  sendData,
} from '../../overlay/clients/mod.ts';
import { isoTime } from '../client-api/service-view.ts';
import { sendPage } from '../client-api/list-answer.ts';
import type { QuerySymbols } from '../query/query-symbol.ts';
import { authPolicyOf, passwordProblem, type JsonObject } from '../../overlay/model/mod.ts';
import { hashPassword } from '../../credentials/passwords/mod.ts';
import {
  certificatesOfEdgeIdentities,
  deleteCertificate,
  findEdgeEntity,
} from '../../overlay/records/mod.ts';
import { deleteIdentityPassword, putIdentityPassword, userNames } from '../../credentials/identities/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import { MAX_CREDENTIAL_CHARS, MIN_PASSWORD_CHARS } from './administrator-creation.ts';
import type { Administrators } from './administrators.ts';
import { choice, text } from './body-fields.ts';
import { bodyReader } from './body-reader.ts';
import { referenceView } from './entity-form.ts';
import type { ManagementParts } from './entity-resource.ts';

interface ById {
  Params: { id: string };
}

interface Authenticator {
  /** The fingerprint of a certificate; `updb.` and the identity's id for its password. */
  readonly id: string;
  readonly method: 'cert' | 'updb';
  readonly identityId: string;
  readonly fingerprint: string | null;
  readonly username: string | null;
  /** Whether our authority issued the certificate. */
  readonly isOurs: boolean;
  readonly createdAtMs: number;
}

const symbols: QuerySymbols<Authenticator> = {
  id: { type: 'text', read: ({ id }) => id },
  method: { type: 'text', read: ({ method }) => method },
  identity: { type: 'text', read: ({ identityId }) => identityId },
  fingerprint: { type: 'text', read: ({ fingerprint }) => fingerprint },
  username: { type: 'text', read: ({ username }) => username },
  createdAt: { type: 'date', read: ({ createdAtMs }) => createdAtMs },
};

const PASSWORD = 'updb.';

export function addAuthenticatorRoutes(
  app: FastifyInstance,
  parts: ManagementParts,
  administrators: Administrators,
): void {
  const { db } = parts.store;
  const view = (one: Authenticator): JsonObject => authenticatorView(parts, one);
  const changes = new AuthenticatorChanges(parts, administrators);

  app.get('/authenticators', async (request, reply) =>
    sendPage(reply, queryOf(request), await allAuthenticators(db), symbols, view),
  );
  app.get<ById>('/authenticators/:id', async (request, reply) =>
    sendData(reply, view(await known(db, request.params.id))),
  );
  app.get<ById>('/identities/:id/authenticators', async (request, reply) => {
    const all = await allAuthenticators(db);
    const found = all.filter(({ identityId }) => identityId === request.params.id);
    return sendPage(reply, queryOf(request), found, symbols, view);
  });

  app.delete<ById>('/authenticators/:id', async (request, reply) => {
    const { id, method, identityId } = await known(db, request.params.id);
    await changes.write(
      request,
      'deleteEdgeAuthenticator',
      identityId,
      { method, id },
      async (trx, touch) => {
        if (method === 'cert') {
          await deleteCertificate(trx, id);
          await endSessionsOf(trx, touch, [id], parts.clock.nowMs());
        } else {
          await deleteIdentityPassword(trx, identityId);
          await endPasswordLogIns(trx, touch, identityId, parts.clock.nowMs());
        }
      },
    );
    return sendData(reply, {});
  });

  addPasswordRoutes(app, parts, changes);
}

const CREDENTIALS = { username: text(MAX_CREDENTIAL_CHARS), password: text() };
const readCreation = bodyReader({ method: choice(['updb']), identityId: text(), ...CREDENTIALS });
const readChange = bodyReader(CREDENTIALS);

function addPasswordRoutes(
  app: FastifyInstance,
  parts: ManagementParts,
  changes: AuthenticatorChanges,
): void {
  app.post('/authenticators', async (request, reply) => {
    const { identityId, username, password } = readCreation(jsonBody(request));
    if (username === '') throw invalidParameter('username', 'username is missing', '');
    await changes.setPassword(request, identityId, username, password);
    const id = `${PASSWORD}${identityId}`;
    return sendData(reply, { _links: { self: { href: `./authenticators/${id}` } }, id }, 201);
  });

  for (const method of ['put', 'patch'] as const) {
    app[method]<ById>('/authenticators/:id', async (request, reply) => {
      const { identityId, username } = await known(parts.store.db, request.params.id);
      if (username === null)
        throw invalidParameter('id', 'a certificate cannot be changed', request.params.id);
      const { username: newName, password } = readChange(jsonBody(request));
      await changes.setPassword(request, identityId, newName === '' ? username : newName, password);
      return sendData(reply, {});
    });
  }
}

async function known(db: Queries, id: string): Promise<Authenticator> {
  const found = (await allAuthenticators(db)).find((one) => one.id === id);
  if (found === undefined) throw notFound();
  return found;
}

/** Changes of authenticators, each one transaction with its audit event. */
class AuthenticatorChanges {
  readonly #parts: ManagementParts;
  readonly #administrators: Administrators;

  constructor(parts: ManagementParts, administrators: Administrators) {
    this.#parts = parts;
    this.#administrators = administrators;
  }

  async setPassword(
    request: FastifyRequest,
    identityId: string,
    username: string,
    password: string,
  ): Promise<void> {
    if (password.length < MIN_PASSWORD_CHARS || password.length > MAX_CREDENTIAL_CHARS) {
      const reason = `password must have ${MIN_PASSWORD_CHARS} to ${MAX_CREDENTIAL_CHARS} characters`;
      throw invalidParameter('password', reason, '');
    }
    const problem = passwordProblem(authPolicyOf(this.#parts.model.edge, identityId), password);
    if (problem !== undefined) throw invalidParameter('password', problem, '');
    const passwordHash = await hashPassword(password);
    const after = { method: 'updb', username };
    await this.write(request, 'setEdgePassword', identityId, after, async (trx, touch) => {
      if ((await findEdgeEntity(trx, 'identity', identityId)) === undefined) throw notFound();
      await putIdentityPassword(trx, { identityId, username, passwordHash }, this.#parts.clock.nowMs());
      await endPasswordLogIns(trx, touch, identityId, this.#parts.clock.nowMs());
    }).catch((error: unknown) => {
      if (!(error instanceof FrontdoorError) || error.kind !== 'conflict') throw error;
      throw invalidParameter('username', 'the user name is taken', username);
    });
  }

  /** Sessions of the identity end with the authenticator that opened them, here and at the client API. */
  async write(
    request: FastifyRequest,
    action: string,
    identityId: string,
    after: JsonObject,
    work: (trx: Queries, touch: Touch) => Promise<void>,
  ): Promise<void> {
    const actor = { kind: 'edge', id: this.#administrators.of(request).identity.id } as const;
    const target = { kind: 'edge-identity', id: identityId };
    await this.#parts.store.transaction(async (trx, touch) => {
      await work(trx, touch);
      await endManagementSessionsOf(trx, [identityId]);
      touch('identity', identityId);
      const event = { ownerId: null, actor, action, target, after, address: request.ip };
      await appendMachineAudit(trx, touch, this.#parts, event);
    });
  }
}

async function allAuthenticators(db: Queries): Promise<Authenticator[]> {
  const certificates = await certificatesOfEdgeIdentities(db);
  // Only identities of this API have passwords.
  const passwords = await userNames(db);
  return [
    ...passwords.map(({ identityId, username, createdAtMs }) => ({
      id: `${PASSWORD}${identityId}`,
      method: 'updb' as const,
      identityId,
      username,
      fingerprint: null,
      isOurs: false,
      createdAtMs,
    })),
    ...certificates.map(({ identityId, fingerprint, authorityId, createdAtMs }) => ({
      id: fingerprint,
      method: 'cert' as const,
      identityId,
      fingerprint,
      username: null,
      isOurs: authorityId === null,
      createdAtMs,
    })),
  ];
}

function authenticatorView({ model }: ManagementParts, one: Authenticator): JsonObject {
  const { id, method, identityId, username, fingerprint, isOurs, createdAtMs } = one;
  const at = isoTime(createdAtMs);
  return {
    _links: { self: { href: `./authenticators/${id}` } },
    id,
    method,
    tags: {},
    createdAt: at,
    updatedAt: at,
    identityId,
    identity: referenceView('identities', identityId, model.identity(identityId)?.name ?? ''),
    ...(username === null ? {} : { username }),
    ...(fingerprint === null ? {} : { fingerprint, isIssuedByNetwork: isOurs }),
  };
}
