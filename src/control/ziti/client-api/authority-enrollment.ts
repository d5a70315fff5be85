/**
 * Enrollment with a certificate that an authority of another party issued: by a one-time token for an identity (OpenZiti's
 * `ottca`), or by the certificate alone, which creates an identity (`ca`). The TLS connection proves the key.
 */
import { textsOf } from '#base';
import { randomUUID, X509Certificate } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { issuersOf } from '#net';
import { fingerprintOf } from '#net/channel';
import { appendMachineAudit, type AuditTarget } from '../../audit/mod.ts';
import type { EdgeEntityRecord } from '../../overlay/model/mod.ts';
import {
  commonNameOf,
  endsPath,
  externalIdOf,
  isForClients,
  isValidAt,
  pathAbove,
  thirdPartyLeaf,
} from '../../pki/mod.ts';
import { claimOf, EdgeApiRefusal, jsonBody, certificateOf } from '../../overlay/clients/mod.ts';
import {
  findEdgeIdentityByExternalId,
  findIdentity,
  insertCertificate,
  insertEdgeIdentity,
  isCertificateKnown,
  isEdgeNameTaken,
  lockEdgeEntities,
} from '../../overlay/records/mod.ts';
import { claimEnrollment } from '../../overlay/enrollments/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import type { EnrollmentContext } from './edge-context.ts';
import { admitIdentity, KINDS, openEnrollment, refused } from './enrollment-token.ts';
import { enrolledIdentity, identityNameOf } from './enrolled-identity.ts';

type Purpose = 'isOttCaEnrollmentEnabled' | 'isAutoCaEnrollmentEnabled';

/** Gives the identity of the token the certificate of this connection. */
export async function enrollOwnCertificate(
  context: EnrollmentContext,
  request: FastifyRequest,
  token: string,
): Promise<void> {
  const { store, secrets, clock, model, log } = context;
  const { id, authorityId } = await openEnrollment(context, request, token, 'ottca');
  const authority = authorityId === null ? undefined : model.edge.get('ca', authorityId);
  const certificate = certificateOf(request.raw.socket);
  if (
    authority === undefined ||
    certificate === undefined ||
    !vouches(context, authority, certificate, 'ottca')
  )
    throw failedValidation(context, request);
  const nowMs = clock.nowMs();
  const claimed = await store.transaction(async (trx, touch) => {
    const result = await claimEnrollment(trx, secrets, token, nowMs, KINDS.ottca);
    if (!result.ok) return result;
    const known = await findIdentity(trx, id);
    if (known === undefined) return { ok: false, reason: 'identity-gone' } as const;
    await addCertificate(trx, touch, { identityId: id, certificate, authority, nowMs });
    await record(context, request, trx, touch, {
      actor: { kind: 'enrollment', id: result.enrollment.id },
      target: { kind: known.kind, id },
      after: { ca: authority.id, fingerprint: fingerprintOf(certificate) },
    });
    return result;
  });
  if (!claimed.ok) throw refused(context, request, claimed.reason);
  log.info({ identity: id, ca: authority.id, address: request.ip }, 'enrolled with a certificate of its own');
}

/** Creates an identity for the certificate of this connection, if an authority vouches for it. */
export async function enrollNewIdentity(context: EnrollmentContext, request: FastifyRequest): Promise<void> {
  const { store, clock, model, log } = context;
  const { name: requestedName } = jsonBody(request);
  const certificate = certificateOf(request.raw.socket);
  const authority =
    certificate && [...model.edge.all('ca')].find((one) => vouches(context, one, certificate, 'ca'));
  if (certificate === undefined || authority === undefined) throw failedValidation(context, request);
  const claim = claimOf(authority.data);
  const externalId = claim && externalIdOf(certificate, claim);
  if (claim !== undefined && externalId === undefined) throw missingClaim();
  if (externalId !== undefined && context.enrollments.externalIds.isKnown(externalId))
    throw certificateInUse();
  admitIdentity(context);
  const nowMs = clock.nowMs();
  const id = randomUUID();
  const fingerprint = fingerprintOf(certificate);
  const { identityNameFormat: format } = authority.data;
  const wanted = identityNameOf(format, {
    caName: authority.name,
    caId: authority.id,
    commonName: commonNameOf(certificate),
    requestedName: typeof requestedName === 'string' && requestedName !== '' ? requestedName : id,
    identityId: id,
  });
  await store.transaction(async (trx, touch) => {
    await lockEdgeEntities(trx);
    const name = (await isEdgeNameTaken(trx, 'identity', wanted)) ? `${wanted}-${id}` : wanted;
    const roleAttributes = textsOf(authority.data['identityRoles']);
    const wish = { id, name, roleAttributes, nowMs };
    // An identity that its certificates name has any of them.
    if (externalId === undefined) {
      await insertEdgeIdentity(trx, touch, enrolledIdentity(wish));
      await addCertificate(trx, touch, { identityId: id, certificate, authority, nowMs });
    } else {
      if ((await findEdgeIdentityByExternalId(trx, externalId)) !== undefined) throw certificateInUse();
      await insertEdgeIdentity(trx, touch, enrolledIdentity({ ...wish, externalId }));
    }
    await record(context, request, trx, touch, {
      actor: { kind: 'edge', id },
      target: { kind: 'edge', id },
      after: { name, ca: authority.id, fingerprint },
    });
  });
  log.info({ identity: id, ca: authority.id, address: request.ip }, 'enrolled by its authority');
}

/** Whether administrators verified the authority and let it enroll this way, and it or one below it issued the certificate. */
function vouches(
  { clock }: EnrollmentContext,
  { data }: EdgeEntityRecord,
  certificate: X509Certificate,
  method: 'ottca' | 'ca',
): boolean {
  const purpose: Purpose = method === 'ca' ? 'isAutoCaEnrollmentEnabled' : 'isOttCaEnrollmentEnabled';
  if (data['isVerified'] !== true || data[purpose] !== true || !isForClients(certificate)) return false;
  const nowMs = clock.nowMs();
  if (!isValidAt(certificate, nowMs)) return false;
  const path = pathAbove(certificate, issuersOf(certificate), nowMs);
  return endsPath(path, new X509Certificate(String(data['certPem'])), nowMs);
}

interface OwnCertificate {
  readonly identityId: string;
  readonly certificate: X509Certificate;
  readonly authority: EdgeEntityRecord;
  readonly nowMs: number;
}

async function addCertificate(trx: Queries, touch: Touch, own: OwnCertificate): Promise<void> {
  const { identityId, certificate, authority, nowMs } = own;
  const issued = { ...thirdPartyLeaf(certificate, identityId), authorityId: authority.id };
  if (await isCertificateKnown(trx, issued.fingerprint)) throw certificateInUse();
  await insertCertificate(trx, identityId, issued, nowMs);
  touch('identity', identityId);
}

async function record(
  context: EnrollmentContext,
  request: FastifyRequest,
  trx: Queries,
  touch: Touch,
  event: {
    readonly actor: { readonly kind: 'enrollment' | 'edge'; readonly id: string };
    readonly target: AuditTarget;
    readonly after: unknown;
  },
): Promise<void> {
  const { ip: address } = request;
  await appendMachineAudit(trx, touch, context, { ...event, ownerId: null, action: 'enroll', address });
}

function certificateInUse(): EdgeApiRefusal {
  const text = 'The certificate supplied is already associated with another identity';
  return new EdgeApiRefusal('conflict', 'CERT_IN_USE', text);
}

function missingClaim(): EdgeApiRefusal {
  const text = 'The certificate is expected to contain an externalId, which was not found';
  return new EdgeApiRefusal('invalid', 'MISSING_CERT_CLAIM', text);
}

/** Callers get one answer for every reason. */
function failedValidation({ log }: EnrollmentContext, request: FastifyRequest): EdgeApiRefusal {
  log.warn({ address: request.ip }, 'enrollment refused: no authority vouches for the certificate');
  return new EdgeApiRefusal('invalid', 'CERT_FAILED_VALIDATION', 'certificate failed to validate against CA');
}
