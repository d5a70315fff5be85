/** The proof that an administrator has an authority's key, and the token by which its clients enroll. */
import type { FastifyInstance } from 'fastify';
import { appendMachineAudit } from '../../audit/mod.ts';
import { EdgeApiRefusal, invalidParameter, notFound, sendData, textBody } from '../../overlay/clients/mod.ts';
import type { EdgeEntityRecord } from '../../overlay/model/mod.ts';
import { commonNameOf, isIssuedBy, readCertificate } from '../../pki/mod.ts';
import { findEdgeEntity, lockEdgeEntities, updateEdgeEntity } from '../../overlay/records/mod.ts';
import type { Administrators } from './administrators.ts';
import type { ManagementParts } from './entity-resource.ts';

interface ById {
  Params: { id: string };
}

export function addAuthorityRoutes(
  app: FastifyInstance,
  parts: ManagementParts,
  administrators: Administrators,
): void {
  const { store, clock, pki } = parts;
  const { apiUrl } = parts.addresses;

  // The body is a certificate of the authority whose common name is the verification token.
  app.post<ById>('/cas/:id/verify', async (request, reply) => {
    const { id } = request.params;
    const read = readCertificate(textBody(request));
    if ('problem' in read) throw invalidParameter('certificate', read.problem, '');
    const { certificate } = read;
    await store.transaction(async (trx, touch) => {
      await lockEdgeEntities(trx);
      const authority = await findEdgeEntity(trx, 'ca', id);
      if (authority === undefined) throw notFound();
      const { data } = authority;
      if (data['isVerified'] === true)
        throw new EdgeApiRefusal('conflict', 'CA_ALREADY_VERIFIED', 'CA has already been verified');
      if (commonNameOf(certificate) !== data['verificationToken']) throw wrongCommonName();
      if (!isIssuedBy(certificate, String(data['certPem']), clock.nowMs())) throw failedValidation();
      const updatedAtMs = clock.nowMs();
      await updateEdgeEntity(trx, touch, { ...authority, data: { ...data, isVerified: true }, updatedAtMs });
      await appendMachineAudit(trx, touch, parts, {
        ownerId: null,
        action: 'verifyEdgeCa',
        address: request.ip,
        actor: { kind: 'edge', id: administrators.of(request).identity.id },
        target: { kind: 'edge-ca', id },
      });
    });
    return sendData(reply, {});
  });

  app.get<ById>('/cas/:id/jwt', async (request, reply) => {
    const authority = await findEdgeEntity(store.db, 'ca', request.params.id);
    if (authority === undefined || !enrolls(authority)) throw notFound();
    const jwt = pki.mintEnrollmentJwt({
      issuer: apiUrl(),
      subject: authority.id,
      jti: authority.id,
      method: 'ca',
      expiresAtMs: undefined,
      controlAddresses: [],
    });
    return reply.header('content-type', 'application/jwt').send(Buffer.from(jwt));
  });
}

function enrolls({ data }: EdgeEntityRecord): boolean {
  return data['isVerified'] === true && data['isAutoCaEnrollmentEnabled'] === true;
}

function wrongCommonName(): EdgeApiRefusal {
  const text = 'The common name of the supplied certificate is invalid';
  return new EdgeApiRefusal('invalid', 'INVALID_COMMON_NAME', text);
}

function failedValidation(): EdgeApiRefusal {
  const text = 'The supplied certificate is not a valid one of the authority';
  return new EdgeApiRefusal('invalid', 'FAILED_CERTIFICATE_VALIDATION', text);
}
