/** Certificates of authorities of other parties, which administrators add, and of those that these issue. */
import { X509Certificate, type KeyObject } from 'node:crypto';
import { messageOf } from '#base';
import { fingerprintOf } from '#net/channel';
import { CLIENT_AUTH, spkiSha256Of, type ProvenLeaf } from './leaf-proof.ts';

const MAX_PEM_CHARS = 16_384;
const ONE_CERTIFICATE = /^\s*-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*$/;

export type CertificateReading =
  | { readonly certificate: X509Certificate; readonly fingerprint: string }
  /** May be shown to the sender. */
  | { readonly problem: string };

/** Reads the one certificate of a PEM text. */
export function readCertificate(pem: string): CertificateReading {
  if (pem.length > MAX_PEM_CHARS || !ONE_CERTIFICATE.test(pem))
    return { problem: `not one PEM certificate of at most ${MAX_PEM_CHARS} characters` };
  try {
    const certificate = new X509Certificate(pem);
    return { certificate, fingerprint: fingerprintOf(certificate) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** Whether the authority, which is valid now, issued this certificate, which is valid now and no authority. */
export function isIssuedBy(certificate: X509Certificate, authorityPem: string, nowMs: number): boolean {
  const authority = new X509Certificate(authorityPem);
  return (
    !certificate.ca &&
    [certificate, authority].every((one) => isValidAt(one, nowMs)) &&
    certificate.checkIssued(authority) &&
    certificate.verify(authority.publicKey)
  );
}

/** Whether a client may present the certificate: its extended key usage names clients, or is absent. */
export function isForClients({ keyUsage }: X509Certificate): boolean {
  const usages = keyUsage as readonly string[] | undefined;
  return usages === undefined || usages.includes(CLIENT_AUTH);
}

export function commonNameOf(certificate: X509Certificate): string {
  const { CN } = certificate.toLegacyObject().subject as { CN?: string | readonly string[] };
  return (typeof CN === 'string' ? CN : CN?.[0]) ?? '';
}

/** Returns the leaf of another party as one of the identity, which enrolled with it, or which `authorityId` names in it. */
export function thirdPartyLeaf(
  certificate: X509Certificate,
  identityId: string,
  authorityId?: string,
): ProvenLeaf {
  return {
    fingerprint: fingerprintOf(certificate),
    spkiSha256: spkiSha256Of(certificate),
    role: 'identity',
    id: identityId,
    notBeforeMs: Date.parse(certificate.validFrom),
    notAfterMs: Date.parse(certificate.validTo),
    isThirdParty: true,
    authorityId,
  };
}

/** Returns the public key of a certificate that is valid now. Throws for a damaged PEM text. */
export function keyValidAt(pem: string, nowMs: number): KeyObject | undefined {
  const certificate = new X509Certificate(pem);
  return isValidAt(certificate, nowMs) ? certificate.publicKey : undefined;
}

export function isValidAt({ validFrom, validTo }: X509Certificate, nowMs: number): boolean {
  return Date.parse(validFrom) <= nowMs && nowMs <= Date.parse(validTo);
}
