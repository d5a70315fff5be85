/** Certificates made at run time for tests: a CA and leaves it signs. Never a key in the repository. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

export interface TestIdentity {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export interface TestAuthority {
  readonly ca: string;
  /** A leaf for both sides of TLS, with `localhost` and `127.0.0.1` in it. */
  issue(commonName: string, options?: { readonly days?: number }): Promise<TestIdentity>;
  /** A leaf (PEM) for the key and the subject of a certificate request. */
  certify(csrPem: string): Promise<string>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

export async function makeTestAuthority(name = 'test CA'): Promise<TestAuthority> {
  x509.cryptoProvider.set(webcrypto);
  const caKeys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: `CN=${name}`,
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + 30 * DAY_MS),
    keys: caKeys,
    signingAlgorithm: ALGORITHM,
    extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
  });
  const caPem = ca.toString('pem');
  let serial = 1;
  const sign = async (subject: string, publicKey: x509.PublicKeyType, days: number): Promise<string> => {
    serial += 1;
    const leaf = await x509.X509CertificateGenerator.create({
      serialNumber: serial.toString(16).padStart(4, '0'),
      subject,
      issuer: ca.subject,
      notBefore: new Date(Date.now() - DAY_MS),
      notAfter: new Date(Date.now() + days * DAY_MS),
      signingKey: caKeys.privateKey,
      publicKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false),
        new x509.ExtendedKeyUsageExtension([
          x509.ExtendedKeyUsage.serverAuth,
          x509.ExtendedKeyUsage.clientAuth,
        ]),
        new x509.SubjectAlternativeNameExtension([
          { type: 'dns', value: 'localhost' },
          { type: 'ip', value: '127.0.0.1' },
        ]),
      ],
    });
    return leaf.toString('pem');
  };
  return {
    ca: caPem,
    certify: async (csrPem) => {
      const request = new x509.Pkcs10CertificateRequest(csrPem);
      return sign(request.subject, request.publicKey, 7);
    },
    async issue(commonName, { days = 7 } = {}) {
      const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
      const cert = await sign(`CN=${commonName}`, keys.publicKey, days);
      const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString(
        'base64',
      );
      const key = `-----BEGIN PRIVATE KEY-----\n${pkcs8.replace(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
      return { cert, key, ca: caPem };
    },
  };
}
