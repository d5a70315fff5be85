/** Certificates made at run time for tests: a CA and leaves it signs. Never a key in the repository. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

export interface TestIdentity {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export interface IssueOptions {
  /** Time until it expires; negative for one that has expired. */
  readonly days?: number;
  /** Time until it becomes valid; it is valid at once when absent. */
  readonly startsInDays?: number | undefined;
  /** Its extended key usage; both client and server when absent. */
  readonly purposes?: readonly ('server' | 'client')[];
  /** Instead of `localhost` and `127.0.0.1`. */
  readonly dns?: readonly string[];
  /** URIs beside those. */
  readonly uris?: readonly string[];
  readonly emails?: readonly string[];
}

export interface TestAuthority {
  /** The certificate of the authority itself. */
  readonly ca: string;
  /** A leaf for both sides of TLS, with `localhost` and `127.0.0.1` in it unless others are named. */
  issue(commonName: string, options?: IssueOptions): Promise<TestIdentity>;
  /** A leaf (PEM) for the key and the subject of a certificate request. */
  certify(csrPem: string): Promise<string>;
  /** An authority below this one. What it issues holds the leaf alone. */
  intermediate(name: string): Promise<TestAuthority>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;

export async function makeTestAuthority(name = 'test CA', startsInDays = -1): Promise<TestAuthority> {
  x509.cryptoProvider.set(webcrypto);
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const subject = `CN=${name}`;
  return authorityOf(
    await makeAuthorityCertificate(subject, keys.publicKey, subject, keys, startsInDays),
    keys,
  );
}

function makeAuthorityCertificate(
  subject: string,
  publicKey: webcrypto.CryptoKey,
  issuer: string,
  issuerKeys: webcrypto.CryptoKeyPair,
  startsInDays = -1,
): Promise<x509.X509Certificate> {
  return x509.X509CertificateGenerator.create({
    serialNumber: '01',
    subject,
    issuer,
    notBefore: new Date(Date.now() + startsInDays * DAY_MS),
    notAfter: new Date(Date.now() + AUTHORITY_DAYS * DAY_MS),
    publicKey,
    signingKey: issuerKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [new x509.BasicConstraintsExtension(true, subject === issuer ? 1 : 0, true)],
  });
}

function authorityOf(ca: x509.X509Certificate, caKeys: webcrypto.CryptoKeyPair): TestAuthority {
  const caPem = ca.toString('pem');
  let serial = 1;
  const sign = async (
    subject: string,
    publicKey: x509.PublicKeyType,
    {
      days = 7,
      startsInDays = -1,
      purposes = ['server', 'client'],
      dns,
      uris = [],
      emails = [],
    }: IssueOptions = {},
  ): Promise<string> => {
    serial += 1;
    const leaf = await x509.X509CertificateGenerator.create({
      serialNumber: serial.toString(16).padStart(4, '0'),
      subject,
      issuer: ca.subject,
      notBefore: new Date(Date.now() + startsInDays * DAY_MS),
      notAfter: new Date(Date.now() + days * DAY_MS),
      signingKey: caKeys.privateKey,
      publicKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false),
        new x509.ExtendedKeyUsageExtension(
          purposes.map((purpose) => x509.ExtendedKeyUsage[`${purpose}Auth`]),
        ),
        new x509.SubjectAlternativeNameExtension([
          ...(dns?.map((value) => ({ type: 'dns' as const, value })) ?? [
            { type: 'dns' as const, value: 'localhost' },
            { type: 'ip' as const, value: '127.0.0.1' },
          ]),
          ...uris.map((value) => ({ type: 'url' as const, value })),
          ...emails.map((value) => ({ type: 'email' as const, value })),
        ]),
      ],
    });
    return leaf.toString('pem');
  };
  return {
    ca: caPem,
    certify: async (csrPem) => {
      const request = new x509.Pkcs10CertificateRequest(csrPem);
      return sign(request.subject, request.publicKey);
    },
    async issue(commonName, options) {
      const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      const cert = await sign(`CN=${commonName}`, keys.publicKey, options);
      const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString(
        'base64',
      );
      const key = `-----BEGIN PRIVATE KEY-----\n${pkcs8.replace(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
      return { cert, key, ca: caPem };
    },
    async intermediate(name) {
      const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      return authorityOf(
        await makeAuthorityCertificate(`CN=${name}`, keys.publicKey, ca.subject, caKeys),
        keys,
      );
    },
  };
}
