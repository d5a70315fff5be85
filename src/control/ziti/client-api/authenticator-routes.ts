/** The authenticators of the caller: the certificates that it may present, which it extends here, and its password. */
import { X509Certificate } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fingerprintOf } from '#net/channel';
import { authPolicyOf, passwordProblem } from '../../overlay/model/mod.ts';
import { hashPassword } from '../../credentials/passwords/mod.ts';
import { putIdentityPassword } from '../../credentials/identities/mod.ts';
import {
  couldNotValidate,
  notAuthorized,
  notFound,
  sendData,
  appendPeerAudit,
  endPasswordLogIns,
  bodyRule,
  MAX_CSR_BYTES,
  jsonBody,
  queryOf,
} from '../../overlay/clients/mod.ts';
import { authenticatorsOf, authenticatorView, passwordAuthenticatorId } from './authenticator-view.ts';
import type { EnrollmentContext, SignInContext } from './edge-context.ts';
import { sendPage } from './list-answer.ts';
import { renewedClient } from './enroll-routes.ts';
import { authenticatorSymbols } from './entity-symbols.ts';
import { isPassword, isUsername } from './password-log-in.ts';

export type AuthenticatorContext = SignInContext & EnrollmentContext;

interface ById {
  Params: { id: string };
}

const PATH = '/current-identity/authenticators';

/** Adds the routes that OpenZiti serves both at the root and below `/edge/client/v1`. */
export function addAuthenticatorRoutes(app: FastifyInstance, context: AuthenticatorContext): void {
  const { db } = context.store;
  const renews = { config: bodyRule({ maxBytes: MAX_CSR_BYTES }) };

  app.get(PATH, async (request, reply) => {
    const { identity } = context.callers.callerOf(request);
    const rows = await authenticatorsOf(db, identity.id);
    return sendPage(reply, queryOf(request), rows, authenticatorSymbols, (row) =>
      authenticatorView(row, identity, context.pki),
    );
  });

  app.get<ById>(`${PATH}/:id`, async (request, reply) => {
    const { identity } = context.callers.callerOf(request);
    const row = (await authenticatorsOf(db, identity.id)).find(({ id }) => id === request.params.id);
    if (row === undefined) throw notFound();
    return sendData(reply, authenticatorView(row, identity, context.pki));
  });

  // PUT replaces both, PATCH what it names. Only the present password permits either.
  const change = async (request: FastifyRequest<ById>, isWhole: boolean): Promise<Record<string, never>> => {
    const { identity, session } = context.callers.callerOf(request);
    const [present] = (await authenticatorsOf(db, identity.id)).filter(({ method }) => method === 'updb');
    if (present?.username === undefined || request.params.id !== passwordAuthenticatorId(identity))
      throw notFound();
    const body = jsonBody(request);
    const { currentPassword } = body;
    const username = isWhole ? body['username'] : (body['username'] ?? present.username);
    const password = isWhole ? body['password'] : (body['password'] ?? currentPassword);
    if (!isUsername(username)) throw couldNotValidate('username is missing or too long');
    if (!isPassword(password)) throw couldNotValidate('password is missing, too short or too long');
    const problem = passwordProblem(authPolicyOf(context.model.edge, identity.id), password);
    if (problem !== undefined) throw couldNotValidate(problem);
    const credentials = { username: present.username, password: currentPassword };
    const proof = await context.signIn.logIns.byPassword(request, credentials);
    if (proof.identity.id !== identity.id) throw notAuthorized();
    const wanted = { identityId: identity.id, username, passwordHash: await hashPassword(password) };
    await context.store.transaction(async (trx, touch) => {
      await putIdentityPassword(trx, wanted, context.clock.nowMs());
      await endPasswordLogIns(trx, touch, identity.id, context.clock.nowMs(), session.id);
      await appendPeerAudit(trx, touch, context, request, proof, {
        action: 'changePassword',
        target: { kind: identity.kind, id: identity.id },
        before: { username: present.username },
        after: { username },
      });
    });
    return {};
  };
  app.put<ById>(`${PATH}/:id`, async (request, reply) => sendData(reply, await change(request, true)));
  app.patch<ById>(`${PATH}/:id`, async (request, reply) => sendData(reply, await change(request, false)));

  // The id is that of the certificate in use, or of the one that an earlier renewal replaced.
  app.post<ById>(`${PATH}/:id/extend`, renews, async (request, reply) => {
    const { identity, leaf } = context.callers.callerOf(request);
    if (leaf === undefined) throw notAuthorized();
    if (!identity.fingerprints.includes(request.params.id)) throw notFound();
    const { clientCertCsr } = jsonBody(request);
    if (typeof clientCertCsr !== 'string') throw couldNotValidate('clientCertCsr is missing');
    const clientCert = await renewedClient(context, request, { identity, leaf }, clientCertCsr);
    return sendData(reply, { clientCert, ca: context.pki.caBundlePem });
  });

  // The former certificate ends with the first call that presents the new one.
  app.post<ById>(`${PATH}/:id/extend-verify`, renews, (request, reply) => {
    const { identity } = context.callers.callerOf(request);
    const { clientCert } = jsonBody(request);
    if (typeof clientCert !== 'string') throw couldNotValidate('clientCert is missing');
    if (!identity.fingerprints.includes(fingerprintOfPem(clientCert))) throw notFound();
    return sendData(reply, {});
  });
}

/** @throws EdgeApiRefusal if it is no certificate. */
function fingerprintOfPem(pem: string): string {
  try {
    return fingerprintOf(new X509Certificate(pem));
  } catch {
    throw couldNotValidate('clientCert is not a certificate in PEM');
  }
}
