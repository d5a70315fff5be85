/** Certificate requests with a new or an existing key, and the trust bundle of control planes. */
import { createPrivateKey, createPublicKey, KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { JsonGeneralName } from '@peculiar/x509';
import { FrontdoorError } from '#base';
import { loadX509 } from './x509-library.ts';

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
/** By OpenSSL's names. */
const CURVES: Readonly<Record<string, { readonly namedCurve: string; readonly hash: string }>> = {
  prime256v1: { namedCurve: 'P-256', hash: 'SHA-256' },
  secp384r1: { namedCurve: 'P-384', hash: 'SHA-384' },
  secp521r1: { namedCurve: 'P-521', hash: 'SHA-512' },
};

export interface KeyRequest {
  /** PKCS#8 PEM. */
  readonly keyPem: string;
  /** PKCS#10 PEM. */
  readonly csrPem: string;
}

/** Names that a router requests in its certificate; clients request none. An issuer may omit any of them. */
export interface RequestDetails {
  /** DNS names and IP literals. */
  readonly hosts?: readonly string[];
  readonly uris?: readonly string[];
  readonly emails?: readonly string[];
  readonly subject?: {
    readonly country?: string;
    readonly province?: string;
    readonly locality?: string;
    readonly organization?: string;
    readonly organizationalUnit?: string;
  };
}

const SUBJECT_KEYS = {
  country: 'C',
  province: 'ST',
  locality: 'L',
  organization: 'O',
  organizationalUnit: 'OU',
} as const;

/** Creates a P-256 key and a certificate request for it. */
export async function makeKeyRequest(commonName: string, details: RequestDetails = {}): Promise<KeyRequest> {
  const keys = await webcrypto.subtle.generateKey(P256, true, ['sign', 'verify']);
  return {
    keyPem: KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }),
    csrPem: await signRequest(keys, P256, commonName, details),
  };
}

/** Creates a certificate request (PEM) for an existing key: EC P-256, P-384, P-521 or RSA. Throws for any other. */
export async function makeRequestFor(
  keyPem: string,
  commonName: string,
  details: RequestDetails = {},
): Promise<string> {
  const key = createPrivateKey(keyPem);
  const algorithm = algorithmOf(key);
  const keys = {
    privateKey: key.toCryptoKey(algorithm, true, ['sign']),
    publicKey: createPublicKey(key).toCryptoKey(algorithm, true, ['verify']),
  };
  return signRequest(keys, algorithm, commonName, details);
}

function algorithmOf(key: KeyObject): { name: string; hash: string; namedCurve?: string } {
  const curve = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (key.asymmetricKeyType === 'ec' && curve !== undefined) return { name: 'ECDSA', ...curve };
  if (key.asymmetricKeyType === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  throw new FrontdoorError('invalid', 'key-unsupported', 'the key must be EC P-256, P-384, P-521 or RSA');
}

async function signRequest(
  keys: webcrypto.CryptoKeyPair,
  algorithm: { name: string; hash: string; namedCurve?: string },
  commonName: string,
  { hosts = [], uris = [], emails = [], subject = {} }: RequestDetails,
): Promise<string> {
  const alternatives: JsonGeneralName[] = [
    ...hosts.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
    ...uris.map((value) => ({ type: 'url' as const, value })),
    ...emails.map((value) => ({ type: 'email' as const, value })),
  ];
  const fields = Object.entries(subject).map(([field, text]) => ({
    [SUBJECT_KEYS[field as keyof typeof SUBJECT_KEYS]]: [text],
  }));
  const { Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } = await loadX509();
  const csr = await Pkcs10CertificateRequestGenerator.create({
    name: [...fields, { CN: [commonName] }],
    keys,
    signingAlgorithm: algorithm,
    extensions: alternatives.length === 0 ? [] : [new SubjectAlternativeNameExtension(alternatives)],
  });
  return `${csr.toString('pem')}\n`;
}

/** Returns the authorities of a PKCS#7 bundle (base64) as PEM. Rejects if it is not a bundle. */
export async function parseCertificateBundle(base64: string): Promise<string[]> {
  const { X509Certificates } = await loadX509();
  const found = new X509Certificates(Buffer.from(base64, 'base64'));
  return found
    .map((certificate) => `${certificate.toString('pem')}\n`)
    .filter((pem) => new X509Certificate(pem).ca);
}
