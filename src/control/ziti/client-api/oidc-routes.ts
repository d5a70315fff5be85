/**
 * OpenID Connect below `/oidc` (ADR 0033), as OpenZiti's SDKs log in with it: authorization code with PKCE, the log-in itself by
 * client certificate, password or a token of another party, with a code where the identity has a second factor; refresh and
 * revocation.
 */
import { addressKey } from '#base';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LoginFailures, textOfBase64 } from '../../credentials/oauth/mod.ts';
import {
  EdgeApiRefusal,
  limited,
  notAuthorized,
  sendJson,
  bodyRule,
  jsonBody,
  queryOf,
  textBody,
  type LogInMethod,
} from '../../overlay/clients/mod.ts';

import { OIDC_PATH } from './information-routes.ts';
import type { LogInProof, LogIns } from './log-in.ts';
import { wishOf, type LogInWish } from './log-in-body.ts';
import { accept } from './totp-routes.ts';
import type { PasswordCredentials } from './password-log-in.ts';
import { grantTokens, GRANT_TYPES, type GrantAnswer, type OidcContext } from './oidc-grants.ts';
import { addOidcTotpEnrollment } from './oidc-totp-enrollment.ts';
import { authorizationOf, OidcRequests, redirectTo, type LoggedInRequest } from './oidc-requests.ts';

const MAX_FORM_BYTES = 16_384;
/** Wrong codes and tokens per address. */
const FAILURES = { perSecond: 1, burst: 100 };
const FAILURE_TARGET = 'oidc';

/** The steps of a log-in by their path below `login`. */
const LOG_IN_STEPS: ReadonlyMap<string, LogInMethod> = new Map([
  ['cert', 'cert'],
  ['username', 'password'],
  ['password', 'password'],
  ['ext-jwt', 'ext-jwt'],
]);
/** How SDKs ask for a code. */
const CODE_QUERY = {
  typeId: 'TOTP',
  provider: 'ziti',
  format: 'alphaNumeric',
  minLength: 4,
  maxLength: 6,
  httpMethod: 'POST',
  httpUrl: './oidc/login/totp',
};
/** Where `authorize` leads for each value of `method`. */
const STEP_OF_METHOD: Readonly<Record<string, string>> = {
  cert: 'cert',
  password: 'username',
  'ext-jwt': 'ext-jwt',
};

/** What the steps of a log-in share. */
interface OidcParts {
  readonly context: OidcContext;
  readonly requests: OidcRequests;
}

const anybody = { config: bodyRule({ maxBytes: MAX_FORM_BYTES, maxUnprovenBytes: MAX_FORM_BYTES }) };

export function addOidcRoutes(app: FastifyInstance, context: OidcContext): void {
  const parts: OidcParts = { context, requests: new OidcRequests(context.secrets, context.clock) };
  app.get(`${OIDC_PATH}/.well-known/openid-configuration`, (request, reply) =>
    sendJson(reply, 200, discovery(issuerOf(context, request))),
  );
  app.get(`${OIDC_PATH}/keys`, (_request, reply) =>
    sendJson(reply, 200, context.edgeTokens.tokenKeys.jwks()),
  );
  addAuthorization(app, parts);
  addLogInSteps(app, parts);
  addTokenEndpoint(app, parts);
}

/** Begins a log-in, and ends it with a code for the client. */
function addAuthorization(app: FastifyInstance, { context, requests }: OidcParts): void {
  const authorize = (parameters: URLSearchParams, reply: FastifyReply): FastifyReply => {
    const method = parameters.get('method') ?? 'cert';
    const request = authorizationOf(parameters);
    if ('error' in request) {
      const { redirectUri, error, text, state } = request;
      return found(reply, redirectTo(redirectUri, { error, error_description: text, state }));
    }
    if ('text' in request) return sendText(reply, 400, request.text);
    const step = STEP_OF_METHOD[method];
    if (step === undefined) throw unknownMethod();
    return found(
      reply,
      `${OIDC_PATH}/login/${step}?authRequestID=${encodeURIComponent(requests.begin(request))}`,
    );
  };
  app.get(`${OIDC_PATH}/authorize`, (request, reply) => authorize(queryOf(request), reply));
  app.post(`${OIDC_PATH}/authorize`, anybody, (request, reply) => authorize(formOf(request), reply));

  app.get(`${OIDC_PATH}/authorize/callback`, (request, reply) => {
    const login = requests.logIn(queryOf(request).get('id') ?? '');
    if (login === undefined) return sendText(reply, 400, 'request not found');
    // Without a certificate, the id alone is the proof: it is sealed, and nobody but the client has it.
    if (login.method === 'cert' && context.callers.peerOf(request).identity.id !== login.identityId)
      throw notAuthorized();
    const { redirectUri, state } = login;
    return found(reply, redirectTo(redirectUri, { code: requests.code(login), state }));
  });
}

function addLogInSteps(app: FastifyInstance, parts: OidcParts): void {
  const { context, requests } = parts;
  for (const step of LOG_IN_STEPS.keys()) {
    app.get(`${OIDC_PATH}/login/${step}`, (request, reply) => {
      const id = queryOf(request).get('authRequestID') ?? '';
      if (requests.request(id) === undefined) throw notAuthorized();
      return sendText(reply.header('auth-request-id', id), 200, 'please POST to this URL');
    });
  }

  for (const [step, method] of LOG_IN_STEPS) {
    const rule = method === 'cert' ? {} : anybody;
    app.post(`${OIDC_PATH}/login/${step}`, rule, (request, reply) => takeStep(parts, method, request, reply));
  }

  app.post(`${OIDC_PATH}/login/totp`, anybody, async (request, reply) => {
    const { id, code } = fieldsOf(request);
    const asked = requests.request(typeof id === 'string' ? id : '');
    const session = asked && (await context.signIn.sessions.findById(asked.sessionId));
    if (asked === undefined || session?.form !== 'pending') throw notAuthorized();
    const { identityId, method } = session;
    accept(await context.signIn.secondFactors.check(identityId, code, { recovery: true, isVerified: true }));
    return found(reply, callbackOf(parts, request, { ...asked, identityId, method }));
  });

  addOidcTotpEnrollment(app, context, anybody, {
    fieldsOf,
    requestOf: (id) => requests.request(id),
    finish: (request, reply, login) => found(reply, callbackOf(parts, request, login)),
  });
}

/** One step of a log-in, which may ask for a code or a token of another party. */
async function takeStep(
  parts: OidcParts,
  method: LogInMethod,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { signIn } = parts.context;
  const { id, wish, credentials } = logInOf(request);
  const proof = await provenBy(signIn.logIns, method, request, credentials);
  const query = queryOf(request);
  const asked = parts.requests.request(id ?? query.get('id') ?? query.get('authRequestID') ?? '');
  if (asked === undefined) throw notAuthorized();
  const { id: identityId } = proof.identity;
  const { sessionId } = asked;
  const need = await signIn.secondFactors.needOf(identityId);
  if (need !== 'none') void reply.header('totp-required', 'true');
  const codeQueries = need === 'none' ? [] : [{ ...CODE_QUERY, isTotpEnrolled: need === 'code' }];
  const second = await signIn.secondTokens.check(request, identityId);
  const { signerId: secondSignerId } = second;
  // The client repeats the step with the token, and has no session before.
  if (!second.isProven && secondSignerId !== undefined)
    return sendJson(reply, 200, {
      authQueries: [...codeQueries, signIn.secondTokens.query(secondSignerId)],
    });
  const whole = { ...proof, secondSignerId };
  // A client that repeats its step has the session already.
  const present = await signIn.sessions.findById(sessionId);
  if (present === undefined) await signIn.logIns.open(request, whole, wish, 'pending', { id: sessionId });
  else if (present.identityId !== identityId || present.form !== 'pending') throw notAuthorized();
  if (need === 'none') return found(reply, callbackOf(parts, request, { ...asked, identityId, method }));
  return sendJson(reply, 200, { authQueries: codeQueries });
}

function provenBy(
  logIns: LogIns,
  method: LogInMethod,
  request: FastifyRequest,
  credentials: PasswordCredentials,
): Promise<LogInProof> {
  if (method === 'cert') return logIns.byCertificate(request);
  return method === 'password' ? logIns.byPassword(request, credentials) : logIns.byExternalToken(request);
}

function callbackOf(
  { context, requests }: OidcParts,
  request: FastifyRequest,
  login: LoggedInRequest,
): string {
  const id = encodeURIComponent(requests.loggedIn(login));
  return `${issuerOf(context, request)}/authorize/callback?id=${id}`;
}

function addTokenEndpoint(app: FastifyInstance, { context, requests }: OidcParts): void {
  const failures = new LoginFailures(FAILURES, context.clock);

  app.post(`${OIDC_PATH}/oauth/token`, anybody, async (request, reply) => {
    const address = addressKey(request.ip);
    const waitMs = failures.waitMs(FAILURE_TARGET, address);
    if (waitMs > 0) throw limited(waitMs);
    const form = formOf(request);
    const call = {
      form,
      clientId: clientOf(request, form),
      issuer: issuerOf(context, request),
      address: request.ip,
    };
    const answer = await grantTokens(context, requests, call);
    if ('error' in answer) failures.failed(FAILURE_TARGET, address);
    return sendGrant(reply, answer);
  });

  // A client that ends one token of a session ends the session: tokens of it may be anywhere.
  app.post(`${OIDC_PATH}/revoke`, anybody, async (request, reply) => {
    const address = addressKey(request.ip);
    const waitMs = failures.waitMs(FAILURE_TARGET, address);
    if (waitMs > 0) throw limited(waitMs);
    const token = formOf(request).get('token') ?? '';
    const { log } = context;
    const { sessionTokens } = context.edgeTokens;
    const { sessions } = context.signIn;
    const grant = sessionTokens.verifyRefresh(token) ?? sessionTokens.verifyAccessClient(token);
    if (grant === undefined) failures.failed(FAILURE_TARGET, address);
    else if ((await sessions.findById(grant.sessionId)) !== undefined) {
      await sessions.remove(grant.sessionId);
      const fields = { identity: grant.identityId, apiSession: grant.sessionId, address: request.ip };
      log.info(fields, 'edge API: session revoked');
    }
    return sendJson(reply, 200, {});
  });
}

function discovery(issuer: string): Readonly<Record<string, unknown>> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/revoke`,
    jwks_uri: `${issuer}/keys`,
    scopes_supported: ['openid', 'offline_access'],
    response_types_supported: ['code'],
    grant_types_supported: GRANT_TYPES,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
    revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
    code_challenge_methods_supported: ['S256'],
  };
}

/** As the client dials it, because clients compare; only one of our addresses. */
function issuerOf(context: OidcContext, request: FastifyRequest): string {
  const dialed = `https://${request.headers.host ?? ''}`;
  const isOurs = context.addresses.controllers().some(({ apiUrls }) => apiUrls.includes(dialed));
  return `${isOurs ? dialed : context.addresses.apiUrl()}${OIDC_PATH}`;
}

function formOf(request: FastifyRequest): URLSearchParams {
  return new URLSearchParams(textBody(request));
}

/** The body of a log-in. */
function logInOf(request: FastifyRequest): {
  readonly id: string | undefined;
  readonly wish: LogInWish;
  readonly credentials: PasswordCredentials;
} {
  const fields = fieldsOf(request);
  const { id, username, password } = fields;
  return {
    id: typeof id === 'string' ? id : undefined,
    wish: wishOf(fields),
    credentials: { username, password },
  };
}

/** The fields of a step: a form of the Go SDK, JSON of the C SDK. */
function fieldsOf(request: FastifyRequest): Readonly<Record<string, unknown>> {
  if (request.headers['content-type']?.includes('json') === true) return jsonBody(request);
  const form = formOf(request);
  return { ...Object.fromEntries(form), configTypes: form.getAll('configTypes') };
}

/** Clients have no secret: they name themselves in the header or in the form. */
function clientOf(request: FastifyRequest, form: URLSearchParams): string | undefined {
  const encoded = /^basic ([A-Za-z0-9+/=]+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const [named] = encoded === undefined ? [] : (textOfBase64(encoded) ?? '').split(':');
  return named ?? form.get('client_id') ?? undefined;
}

function sendGrant(reply: FastifyReply, answer: GrantAnswer): FastifyReply {
  void reply.header('cache-control', 'no-store');
  if ('body' in answer) return sendJson(reply, 200, answer.body);
  const { error, text } = answer;
  return sendJson(reply, error === 'invalid_client' ? 401 : 400, { error, error_description: text });
}

function unknownMethod(): EdgeApiRefusal {
  return new EdgeApiRefusal(
    'invalid',
    'INVALID_AUTH_METHOD',
    'The supplied authentication method is not valid: identities log in here by certificate, password or a token of another party',
  );
}

function found(reply: FastifyReply, location: string): FastifyReply {
  return reply.code(302).header('location', location).send();
}

function sendText(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).header('content-type', 'text/plain; charset=utf-8').send(text);
}
