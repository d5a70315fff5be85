/**
 * Parses an untrusted certificate signing request: verifies that its sender has the key, checks the key against a
 * policy, and trusts nothing else in it. The names are as requested: `requested-names-policy.ts` decides about them.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Pkcs10CertificateRequest } from '@peculiar/x509';
import { loadX509, type X509Library } from '#sdk';
import type { RequestedName, RequestedNames } from './requested-names-policy.ts';

const MAX_REQUEST_CHARS = 32_768;
const MAX_NAMES = 64;
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
const HASHES: ReadonlySet<string> = new Set(['SHA-256', 'SHA-384', 'SHA-512']);
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17';
const REQUEST_PEM =
  /^\s*-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----\s([A-Za-z0-9+/=\s]+)-----END (?:NEW )?CERTIFICATE REQUEST-----\s*$/;

export interface ProvenRequest {
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Uint8Array<ArrayBuffer>;
  /** The requested common name of the subject. */
  readonly commonName: string | undefined;
  readonly requested: RequestedNames;
}

export type RequestReading = { readonly request: ProvenRequest } | { readonly problem: string };

/** Takes PEM text. A problem is an expected result, and its text may be shown to the sender. */
export async function parseCertificateRequest(pem: string): Promise<RequestReading> {
  if (pem.length > MAX_REQUEST_CHARS) return { problem: 'the certificate request is too long' };
  const base64 = REQUEST_PEM.exec(pem)?.[1];
  if (base64 === undefined) return { problem: 'not one PEM certificate request' };
  const x509 = await loadX509();
  try {
    const request = new x509.Pkcs10CertificateRequest(Buffer.from(base64, 'base64'));
    const spki = new Uint8Array(request.publicKey.rawData);
    const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
    const problem = keyProblem(key);
    if (problem !== undefined) return { problem };
    const hash = (request.signatureAlgorithm as { hash?: { name: string } }).hash?.name;
    if (hash === undefined || !HASHES.has(hash))
      return { problem: 'the signature must use SHA-256, 384 or 512' };
    if (!(await request.verify())) return { problem: 'the signature of the certificate request is wrong' };
    const alternatives = requestedAlternatives(x509, request);
    if (alternatives.length > MAX_NAMES) return { problem: `more than ${MAX_NAMES} alternative names` };
    const subject = request.subjectName
      .toJSON()
      .flatMap((fields) => Object.entries(fields))
      .flatMap(([type, values]) => values.map((value) => ({ type, value })));
    const commonName = subject.findLast(({ type }) => type === 'CN')?.value;
    return { request: { spki, commonName, requested: { subject, alternatives } } };
  } catch {
    return { problem: 'the certificate request cannot be read' };
  }
}

/** Accepts EC P-256, P-384, P-521, or RSA of 2048 to 4096 bits, which OpenZiti's clients use. */
function keyProblem(key: KeyObject): string | undefined {
  const details = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'ec') {
    return CURVES.has(details.namedCurve ?? '') ? undefined : 'the curve must be P-256, P-384 or P-521';
  }
  if (key.asymmetricKeyType === 'rsa') {
    const bits = details.modulusLength ?? 0;
    if (bits < 2048 || bits > 4096) return 'an RSA key must have 2048 to 4096 bits';
    const exponent = details.publicExponent ?? 0n;
    if (exponent < 65_537n || exponent > 0xffff_ffffn) return 'the RSA exponent is outside 65537 to 2^32';
    return undefined;
  }
  return 'the key must be EC or RSA';
}

function requestedAlternatives(x509: X509Library, request: Pkcs10CertificateRequest): RequestedName[] {
  // By OID, because looking up by class returns nothing on a request.
  const extension = request.getExtension(SUBJECT_ALTERNATIVE_NAME);
  return extension === null ? [] : new x509.SubjectAlternativeNameExtension(extension.rawData).names.toJSON();
}
