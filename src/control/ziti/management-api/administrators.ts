/**
 * Log-ins of administrators at the edge management API: by password, by certificate, or by a token of another party. Each
 * call looks its session up and whether its identity is still an administrator, so that an end holds at once. Calls with
 * the access token of a log-in through OpenID Connect need no log-in here (`signed-administrators.ts`).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addressKey, TokenBuckets } from '#base';
import { appendMachineAudit } from '../../audit/mod.ts';
import { acceptsPassword } from '../client-api/password-attempts.ts';
import {
  EdgeApiRefusal,
  bearerTokensOf,
  bodyRule,
  couldNotValidate,
  endManagementSession,
  extendManagementSession,
  findAdministratorSession,
  jsonBody,
  limited,
  notAuthorized,
  openManagementSession,
  queryOf,
  sendData,
  type ManagementSession,
} from '../../overlay/clients/mod.ts';
import { isoTime } from '../client-api/service-view.ts';
import { passwordAuthenticatorId } from '../client-api/authenticator-view.ts';
import { reportLogIn } from '../client-api/log-in-report.ts';
import type { EdgeContext } from '../client-api/edge-context.ts';
import { authPolicyOf, permitsLogIn, type LogInWay } from '../../overlay/model/mod.ts';
import { LoginFailures } from '../../credentials/oauth/mod.ts';
import { findEdgeEntity, type EdgeEntityRecord } from '../../overlay/records/mod.ts';
import { findIdentityPassword } from '../../credentials/identities/mod.ts';
import type { Administrator } from './administrator.ts';
import { referenceView } from './entity-form.ts';
import { endSigned, isStillSigned, signedAdministratorOf } from './signed-administrators.ts';

export const SESSION_LIFETIME_MS = 1_800_000;
/** An extension is written when a session has used up this part of its lifetime. */
const EXTEND_AFTER_MS = 300_000;
export const MAX_LOG_IN_BYTES = 16_384;
/** Wrong passwords of one user name at one address. */
const FAILURES = { perSecond: 0.1, burst: 10 };
/** Log-ins of one address, each of which costs a computation of a hash. */
const LOG_INS = { perSecond: 20, burst: 200 };
const MAX_CREDENTIAL_CHARS = 1_024;

/** The identity that a log-in proved; its id is undefined if the log-in proved none. */
interface ProvenLogIn extends LogInWay {
  readonly identityId?: string | undefined;
  /** The identity that a log-in named without proof. */
  readonly triedId?: string | undefined;
  readonly authenticatorId?: string | undefined;
}

export class Administrators {
  readonly #context: EdgeContext;
  readonly #failures: LoginFailures;
  readonly #logIns: TokenBuckets;
  readonly #callers = new WeakMap<FastifyRequest, Administrator>();

  constructor(context: EdgeContext) {
    this.#context = context;
    this.#failures = new LoginFailures(FAILURES, context.clock);
    this.#logIns = new TokenBuckets(LOG_INS, context.clock);
  }

  /** The administrator that `prove` found for this request. */
  of(request: FastifyRequest): Administrator {
    const caller = this.#callers.get(request);
    if (caller === undefined) throw notAuthorized();
    return caller;
  }

  /** Throws unless the request has a session of an administrator. */
  async prove(request: FastifyRequest, reply: FastifyReply): Promise<Administrator> {
    const caller = await this.#use(request);
    if (caller === undefined) throw notAuthorized();
    this.#callers.set(request, caller);
    if (caller.isSigned) return caller;
    const expiresAtMs = this.#context.clock.nowMs() + SESSION_LIFETIME_MS;
    expiring(reply, Math.max(caller.session.expiresAtMs, expiresAtMs));
    return caller;
  }

  /** For a request that continues: whether `prove` would still accept it. It is a use of the session. */
  async isStillAllowed(request: FastifyRequest): Promise<boolean> {
    const caller = this.#callers.get(request);
    // Its token may be over in the meantime: a client refreshes tokens, and its streams continue.
    if (caller?.isSigned === true) return isStillSigned(this.#context, caller);
    return (await this.#use(request)) !== undefined;
  }

  async #use(request: FastifyRequest): Promise<Administrator | undefined> {
    const { store, secrets, clock } = this.#context;
    const token = request.headers['zt-session'];
    const nowMs = clock.nowMs();
    if (typeof token !== 'string') return signedAdministratorOf(this.#context, request);
    const caller = await findAdministratorSession(store.db, secrets, token, nowMs);
    if (caller === undefined) return undefined;
    const { session } = caller;
    // As at the client API, each call has the token of another party that the policy demands.
    if (!(await this.#context.signIn.secondTokens.check(request, caller.identity.id)).isProven)
      return undefined;
    const expiresAtMs = nowMs + SESSION_LIFETIME_MS;
    if (expiresAtMs - session.expiresAtMs > EXTEND_AFTER_MS)
      await extendManagementSession(store.db, session.id, expiresAtMs);
    return { ...caller, isSigned: false };
  }

  /** The connection of the request lasts as long as its stream. */
  proveConnection(request: FastifyRequest): void {
    this.#context.callers.prove(request.raw.socket);
  }

  addRoutes(app: FastifyInstance): void {
    const rule = { config: bodyRule({ maxBytes: MAX_LOG_IN_BYTES, maxUnprovenBytes: MAX_LOG_IN_BYTES }) };
    app.post('/authenticate', rule, async (request, reply) => {
      const method = queryOf(request).get('method');
      const waitMs = this.#logIns.take(addressKey(request.ip));
      if (waitMs > 0) throw limited(waitMs);
      return this.#open(request, reply, await this.#provenBy(method, request));
    });

    app.get('/current-api-session', (request, reply) => {
      const { session, identity } = this.of(request);
      return sendData(reply, sessionView(session, identity, request.ip, this.#context.clock.nowMs()));
    });

    app.delete('/current-api-session', async (request, reply) => {
      const { session, isSigned } = this.of(request);
      if (isSigned) await endSigned(this.#context, session.id);
      else await endManagementSession(this.#context.store.db, session.id);
      return sendData(reply, {});
    });
  }

  async #provenBy(method: string | null, request: FastifyRequest): Promise<ProvenLogIn> {
    if (method === 'password') return this.#byPassword(request);
    if (method === 'ext-jwt') return this.#byToken(request);
    return method === 'cert' ? this.#byCertificate(request) : { method: 'cert' };
  }

  async #byPassword(request: FastifyRequest): Promise<ProvenLogIn> {
    const method = 'password';
    const { username, password } = jsonBody(request);
    if (typeof username !== 'string' || typeof password !== 'string')
      throw couldNotValidate('username or password is missing');
    if (username.length > MAX_CREDENTIAL_CHARS || password.length > MAX_CREDENTIAL_CHARS) return { method };
    const waitMs = this.#failures.waitMs(username, request.ip);
    if (waitMs > 0) throw limited(waitMs);
    const found = await findIdentityPassword(this.#context.store.db, username);
    const release = this.#context.callers.hold(request.raw.socket);
    const isRight = await acceptsPassword(this.#context, password, found, request.ip).finally(release);
    if (!isRight) this.#failures.failed(username, request.ip);
    if (found === undefined) return { method };
    const { identityId } = found;
    const authenticatorId = passwordAuthenticatorId({ id: identityId });
    return { method, authenticatorId, ...(isRight ? { identityId } : { triedId: identityId }) };
  }

  #byCertificate(request: FastifyRequest): ProvenLogIn {
    const proof = this.#context.callers.peers.of(request.raw.socket);
    if ('problem' in proof) return { method: 'cert' };
    const { identity, leaf } = proof.peer;
    return { method: 'cert', identityId: identity.id, authenticatorId: leaf.fingerprint };
  }

  async #byToken(request: FastifyRequest): Promise<ProvenLogIn> {
    for (const token of bearerTokensOf(request)) {
      const proof = await this.#context.enrollments.externalSigners.prove(token);
      if ('identity' in proof)
        return { method: 'ext-jwt', identityId: proof.identity.id, signerId: proof.signerId };
    }
    return { method: 'ext-jwt' };
  }

  /** Why the log-in is refused; undefined if it is not. */
  async #problemOf(
    request: FastifyRequest,
    identity: Administrator['identity'] | undefined,
    proven: ProvenLogIn,
  ): Promise<string | undefined> {
    if (identity === undefined) return 'the credentials are wrong';
    const { model } = this.#context;
    const { secondFactors, secondTokens } = this.#context.signIn;
    // A session here has no one-time password, so it is no way around that.
    const isWhole =
      (await secondFactors.needOf(identity.id)) === 'none' &&
      (await secondTokens.check(request, identity.id)).isProven;
    if (!permitsLogIn(authPolicyOf(model.edge, identity.id), proven))
      return 'the authentication policy does not permit the method';
    if (identity.data['isAdmin'] !== true) return 'the identity is no administrator';
    return isWhole ? undefined : 'a second factor is required, which this log-in does not have';
  }

  async #open(request: FastifyRequest, reply: FastifyReply, proven: ProvenLogIn) {
    const { method, identityId } = proven;
    const { store, secrets, clock, log, model, mesh } = this.#context;
    const identity =
      identityId === undefined ? undefined : await findEdgeEntity(store.db, 'identity', identityId);
    const problem = await this.#problemOf(request, identity, proven);
    const { authenticatorId, signerId, triedId = identityId } = proven;
    const attempt = { method, identityId: triedId, authenticatorId, signerId, problem };
    reportLogIn({ model, events: mesh.events }, request, attempt);
    if (identity === undefined || problem !== undefined) {
      const fields = { identity: triedId, address: request.ip, problem };
      log.info(fields, 'edge management API: log-in refused');
      throw new EdgeApiRefusal('unauthenticated', 'INVALID_AUTH', 'The authentication request failed');
    }
    const nowMs = clock.nowMs();
    const session = await store.transaction(async (trx, touch) => {
      const opened = await openManagementSession(
        trx,
        secrets,
        { identityId: identity.id, method },
        nowMs,
        SESSION_LIFETIME_MS,
      );
      await appendMachineAudit(trx, touch, this.#context, {
        ownerId: null,
        actor: { kind: 'edge', id: identity.id },
        action: 'logInAdministrator',
        target: { kind: 'management-session', id: opened.id },
        address: request.ip,
      });
      return opened;
    });
    void reply.header('zt-session', session.token);
    expiring(reply, session.expiresAtMs);
    return sendData(reply, {
      ...sessionView(session, identity, request.ip, nowMs),
      token: session.token,
    });
  }
}

function expiring(reply: FastifyReply, expiresAtMs: number): void {
  void reply.header('expires-at', isoTime(expiresAtMs));
  void reply.header('expiration-seconds', String(SESSION_LIFETIME_MS / 1_000));
}

function sessionView(session: ManagementSession, identity: EdgeEntityRecord, address: string, nowMs: number) {
  const now = isoTime(nowMs);
  return {
    _links: { self: { href: `./api-sessions/${session.id}` } },
    id: session.id,
    createdAt: isoTime(session.createdAtMs),
    updatedAt: now,
    tags: {},
    authQueries: [],
    authenticatorId: identity.id,
    lastActivityAt: now,
    cachedLastActivityAt: now,
    configTypes: [],
    expirationSeconds: SESSION_LIFETIME_MS / 1_000,
    expiresAt: isoTime(session.expiresAtMs),
    identity: referenceView('identities', identity.id, identity.name),
    identityId: identity.id,
    ipAddress: address,
    isCertExtendable: false,
    isMfaComplete: false,
    isMfaRequired: false,
  };
}
