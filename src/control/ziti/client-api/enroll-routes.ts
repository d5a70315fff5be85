/**
 * Enrollment and renewal: one-time tokens are exchanged for certificates, and certificates for newer ones. The
 * claim, the identity and its certificate are one transaction, so that a crash leaves nothing or all of it.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseName } from '#domain';
import {
  BACKDATE_MS,
  FOREIGN_LIFETIME_DAYS,
  OWN_LIFETIME_DAYS,
  type IssuedCertificate,
} from '../../pki/mod.ts';
import { appendMachineAudit } from '../../audit/mod.ts';
import {
  renewCertificate,
  bodyRule,
  MAX_CSR_BYTES,
  badCsr,
  couldNotValidate,
  notAuthorized,
  sendData,
  jsonBody,
  queryOf,
  textBody,
  type ProvenPeer,
} from '../../overlay/clients/mod.ts';
import {
  findIdentity,
  insertCertificate,
  insertIdentity,
  noteRootReceipt,
} from '../../overlay/records/mod.ts';
import { claimEnrollment, refuseCsr } from '../../overlay/enrollments/mod.ts';
import { touchResource } from '../../store/mod.ts';
import { admitAddress, invalidToken, KINDS, openEnrollment, refused } from './enrollment-token.ts';
import { enrollNewIdentity, enrollOwnCertificate } from './authority-enrollment.ts';
import { enrollByToken } from './token-enrollment.ts';
import { enrollPassword } from './password-enrollment.ts';
import type { EnrollmentContext } from './edge-context.ts';

const DAY_MS = 86_400_000;
interface RouterCsrs {
  readonly certCsr: string;
  readonly serverCertCsr: string;
}

export function addEnrollRoutes(app: FastifyInstance, context: EnrollmentContext): void {
  const enrolls = { config: bodyRule({ maxBytes: MAX_CSR_BYTES, maxUnprovenBytes: MAX_CSR_BYTES }) };
  const renews = { config: bodyRule({ maxBytes: MAX_CSR_BYTES }) };

  app.post('/enroll', enrolls, async (request, reply) => {
    const query = queryOf(request);
    const method = query.get('method') ?? 'ott';
    const token = query.get('token') ?? '';
    admitAddress(context, request);
    if (method === 'ott')
      return sendData(reply, await enrollClient(context, request, token, textBody(request)));
    if (method === 'erott' || method === 'trott')
      return sendData(reply, await enrollRouter(context, request, token, method, routerCsrs(request)));
    if (method === 'updb') return sendData(reply, await enrollPassword(context, request, token));
    if (method === 'token') return sendData(reply, await enrollByToken(context, request));
    if (method === 'ottca') await enrollOwnCertificate(context, request, token);
    else if (method === 'ca') await enrollNewIdentity(context, request);
    else throw invalidToken();
    return sendData(reply, {});
  });

  app.post('/enroll/ottca', enrolls, async (request, reply) => {
    admitAddress(context, request);
    const { token } = jsonBody(request);
    const stated = typeof token === 'string' ? token : (queryOf(request).get('token') ?? '');
    await enrollOwnCertificate(context, request, stated);
    return sendData(reply, {});
  });

  app.post('/enroll/ca', enrolls, async (request, reply) => {
    admitAddress(context, request);
    await enrollNewIdentity(context, request);
    return sendData(reply, {});
  });

  app.post('/enroll/token', enrolls, async (request, reply) => {
    admitAddress(context, request);
    return sendData(reply, await enrollByToken(context, request));
  });

  app.post('/enroll/updb', enrolls, async (request, reply) => {
    admitAddress(context, request);
    const token = queryOf(request).get('token') ?? '';
    return sendData(reply, await enrollPassword(context, request, token));
  });

  app.post('/enroll/ott', enrolls, async (request, reply) => {
    admitAddress(context, request);
    const { clientCsr, token } = jsonBody(request);
    if (typeof clientCsr !== 'string' || typeof token !== 'string')
      throw couldNotValidate('clientCsr or token is missing');
    return sendData(reply, await enrollClient(context, request, token, clientCsr));
  });

  app.post('/enroll/extend/identity', renews, async (request, reply) => {
    const peer = context.callers.peerOf(request);
    if (peer.identity.kind === 'router') throw couldNotValidate('a router renews at /enroll/extend/router');
    const { csr } = jsonBody(request);
    if (typeof csr !== 'string') throw couldNotValidate('csr is missing');
    return sendData(reply, { cert: await renewedClient(context, request, peer, csr) });
  });

  app.post('/enroll/extend/router', renews, async (request, reply) => {
    const peer = context.callers.peerOfKind(request, 'router');
    const lifetimeDays = lifetimeDaysOf(peer);
    const answer = await context.pki.issueRouter(routerCsrs(request), {
      id: peer.identity.id,
      lifetimeDays,
      isRenewal: true,
    });
    if ('problem' in answer) throw badCsr(answer.problem);
    await addRenewed(context, request, peer, answer.issued);
    const { chainPem, serverChainPem } = answer.issued;
    return sendData(reply, { cert: chainPem, serverCert: serverChainPem, ca: context.pki.caBundlePem });
  });
}

/** Issues a further certificate to an identity and returns its chain. Throws if the request or the peer is refused. */
export async function renewedClient(
  context: EnrollmentContext,
  request: FastifyRequest,
  peer: ProvenPeer,
  csr: string,
): Promise<string> {
  if (peer.leaf.isThirdParty === true) throw couldNotValidate('the issuer of the certificate renews it');
  const subject = { id: peer.identity.id, lifetimeDays: lifetimeDaysOf(peer) };
  const answer = await context.pki.issueClient(csr, subject);
  if ('problem' in answer) throw badCsr(answer.problem);
  await addRenewed(context, request, peer, answer.issued);
  return answer.issued.chainPem;
}

async function enrollClient(
  context: EnrollmentContext,
  request: FastifyRequest,
  token: string,
  csr: string,
): Promise<{ cert: string }> {
  const { id } = await openEnrollment(context, request, token, 'ott');
  const name = nameOf(request);
  const answer = await context.pki.issueClient(csr, { id, lifetimeDays: lifetimeDaysFor(name) });
  if ('problem' in answer) {
    await refuseCsr(context.store.db, context.secrets, token);
    throw badCsr(answer.problem);
  }
  await claim(context, request, token, 'ott', name, answer.issued);
  return { cert: answer.issued.chainPem };
}

async function enrollRouter(
  context: EnrollmentContext,
  request: FastifyRequest,
  token: string,
  method: 'erott' | 'trott',
  csrs: RouterCsrs,
): Promise<{ cert: string; serverCert: string; ca: string }> {
  const { id } = await openEnrollment(context, request, token, method);
  const name = nameOf(request);
  const answer = await context.pki.issueRouter(csrs, {
    id,
    lifetimeDays: lifetimeDaysFor(name),
    isRenewal: false,
  });
  if ('problem' in answer) {
    await refuseCsr(context.store.db, context.secrets, token);
    throw badCsr(answer.problem);
  }
  await claim(context, request, token, method, name, answer.issued);
  const { chainPem, serverChainPem } = answer.issued;
  return { cert: chainPem, serverCert: serverChainPem, ca: context.pki.caBundlePem };
}

async function claim(
  context: EnrollmentContext,
  request: FastifyRequest,
  token: string,
  method: 'ott' | 'erott' | 'trott',
  name: string | undefined,
  issued: IssuedCertificate,
): Promise<void> {
  const { store, secrets, clock, log } = context;
  const nowMs = clock.nowMs();
  const claimed = await store.transaction(async (trx, touch) => {
    const result = await claimEnrollment(trx, secrets, token, nowMs, KINDS[method]);
    if (!result.ok) return result;
    const { identityId, kind, ownerId } = result.enrollment;
    // Foreign clients send no name, so their environment is named after its enrollment or its id.
    const environmentName = name ?? result.enrollment.name ?? identityId;
    if (kind === 'environment') {
      const identity = { id: identityId, kind, name: environmentName, createdAtMs: nowMs };
      await insertIdentity(trx, touch, { ...identity, ownerId });
    } else if ((await findIdentity(trx, identityId)) === undefined) {
      return { ok: false, reason: 'identity-gone' } as const;
    }
    await insertCertificate(trx, identityId, issued, nowMs);
    // Clients get the bundle before they enroll, routers with their certificates.
    await noteRootReceipt(trx, context.pki.authorities, identityId, nowMs);
    touch('identity', identityId);
    if (kind === 'environment')
      touchResource(touch, { ownerId, kind: 'enrollment', id: result.enrollment.id });
    await appendMachineAudit(trx, touch, context, {
      ownerId,
      actor: { kind: 'enrollment', id: result.enrollment.id },
      action: 'enroll',
      target: { kind, id: identityId },
      after: {
        ...(kind === 'environment' ? { frontdoorId: ownerId, name: environmentName } : {}),
        fingerprint: issued.fingerprint,
        expiresAt: new Date(issued.notAfterMs).toISOString(),
      },
      address: request.ip,
    });
    return result;
  });
  if (!claimed.ok) throw refused(context, request, claimed.reason);
  const { identityId, kind, ownerId } = claimed.enrollment;
  log.info({ identity: identityId, kind, frontdoor: ownerId, address: request.ip }, 'enrolled');
}

async function addRenewed(
  context: EnrollmentContext,
  request: FastifyRequest,
  { identity, leaf }: ProvenPeer,
  issued: IssuedCertificate,
): Promise<void> {
  if (!(await renewCertificate(context, identity, leaf.fingerprint, issued, request.ip)))
    throw notAuthorized();
  context.log.info(
    { identity: identity.id, until: new Date(issued.notAfterMs).toISOString() },
    'certificate renewed',
  );
}

/** The name that our own programs send; undefined for foreign clients. */
function nameOf(request: FastifyRequest): string | undefined {
  const header = request.headers['frontdoor-name'];
  if (typeof header !== 'string') return undefined;
  let name: string | undefined;
  try {
    name = parseName(decodeURIComponent(header));
  } catch {
    name = undefined;
  }
  if (name === undefined) throw couldNotValidate('frontdoor-name is not a percent-encoded name');
  return name;
}

function lifetimeDaysFor(name: string | undefined): number {
  return name === undefined ? FOREIGN_LIFETIME_DAYS : OWN_LIFETIME_DAYS;
}

/** A renewed certificate has the lifetime of the old one. */
function lifetimeDaysOf(peer: ProvenPeer): number {
  return Math.max(1, Math.round((peer.leaf.notAfterMs - peer.leaf.notBeforeMs - BACKDATE_MS) / DAY_MS));
}

function routerCsrs(request: FastifyRequest): RouterCsrs {
  const { certCsr, serverCertCsr } = jsonBody(request);
  if (typeof certCsr !== 'string' || typeof serverCertCsr !== 'string') {
    throw couldNotValidate('certCsr or serverCertCsr is missing');
  }
  return { certCsr, serverCertCsr };
}
