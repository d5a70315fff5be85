/**
 * Certificates of a session. A client that logged in without a certificate gets one for its channels to routers, which
 * ends with the session.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import {
  type SessionCertificate,
  badCsr,
  couldNotValidate,
  notAuthorized,
  notFound,
  sendData,
  MAX_CSR_BYTES,
  bodyRule,
  jsonBody,
  queryOf,
} from '../../overlay/clients/mod.ts';
import type { EdgeContext, SignInContext } from './edge-context.ts';
import { sendPage } from './list-answer.ts';
import { sessionCertificateSymbols } from './entity-symbols.ts';
import { isoTime } from './service-view.ts';

export type SessionCertificateContext = SignInContext & Pick<EdgeContext, 'pki'>;

const PATH = '/current-api-session/certificates';
/** The oldest are replaced. */
const MAX_CERTIFICATES = 8;

interface ById {
  Params: { id: string };
}

/** Adds the routes that OpenZiti serves both at the root and below `/edge/client/v1`. */
export function addSessionCertificateRoutes(app: FastifyInstance, context: SessionCertificateContext): void {
  const { pki, clock, log } = context;
  const { sessions } = context.signIn;

  app.post(PATH, { config: bodyRule({ maxBytes: MAX_CSR_BYTES }) }, async (request, reply) => {
    const { session, identity } = context.callers.callerOf(request);
    const { csr } = jsonBody(request);
    if (typeof csr !== 'string') throw couldNotValidate('csr is missing');
    const id = randomUUID();
    const answer = await pki.issueSession(csr, {
      identityId: identity.id,
      sessionId: session.id,
      certificateId: id,
    });
    if ('problem' in answer) throw badCsr(answer.problem);
    const { fingerprint, notAfterMs: untilMs, chainPem } = answer.issued;
    const added: SessionCertificate = { id, fingerprint, createdAtMs: clock.nowMs(), untilMs };
    const stored = await sessions.changeCertificates(session.id, (present) =>
      [...present, added].slice(-MAX_CERTIFICATES),
    );
    if (stored === undefined) throw notAuthorized();
    const fields = { identity: identity.id, apiSession: session.id, fingerprint, address: request.ip };
    log.info(fields, 'edge API: certificate of a session issued');
    return sendData(reply, { id, certificate: chainPem, cas: pki.caBundlePem }, 201);
  });

  app.get(PATH, (request, reply) => {
    const { session } = context.callers.callerOf(request);
    return sendPage(reply, queryOf(request), session.certificates, sessionCertificateSymbols, viewOf);
  });

  app.get<ById>(`${PATH}/:id`, (request, reply) => {
    const { session } = context.callers.callerOf(request);
    const found = session.certificates.find(({ id }) => id === request.params.id);
    if (found === undefined) throw notFound();
    return sendData(reply, viewOf(found));
  });

  app.delete<ById>(`${PATH}/:id`, async (request, reply) => {
    const { session } = context.callers.callerOf(request);
    const changed = await sessions.changeCertificates(session.id, (present) => {
      const kept = present.filter(({ id }) => id !== request.params.id);
      return kept.length === present.length ? undefined : kept;
    });
    if (changed === undefined) throw notFound();
    return sendData(reply, {});
  });
}

function viewOf({ id, fingerprint, createdAtMs, untilMs }: SessionCertificate): Record<string, unknown> {
  const createdAt = isoTime(createdAtMs);
  return {
    _links: { self: { href: `.${PATH}/${id}` } },
    id,
    createdAt,
    updatedAt: createdAt,
    tags: {},
    fingerprint,
    validFrom: createdAt,
    validTo: isoTime(untilMs),
  };
}
