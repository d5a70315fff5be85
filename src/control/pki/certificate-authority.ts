/**
 * One certificate authority (root or intermediate): a P-256 key with its certificate, and the one place that signs
 * certificates. What may be certified is decided by the callers, where the pair is kept by `keepAuthority`.
 */
import 'reflect-metadata';
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  X509Certificate,
  type KeyObject,
} from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PublicKey,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate as AsnCertificate,
  X509CertificateGenerator,
  type Extension,
} from '@peculiar/x509';
import { writeFileDurably } from '#net';
import { readIfThere, type AuthorityPair } from './authority-store.ts';

const DAY_MS = 86_400_000;
const SIGNING = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export const EXTENDED_USES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;

/** One subject alternative name, as @peculiar/x509 spells its kinds. */
export interface AlternativeName {
  readonly type: 'dns' | 'ip' | 'url' | 'email';
  readonly value: string;
}

export interface LeafRequest {
  readonly commonName: string;
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Uint8Array<ArrayBuffer>;
  readonly uses: readonly (keyof typeof EXTENDED_USES)[];
  readonly names: readonly AlternativeName[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export interface CertificateAuthority {
  readonly certificate: X509Certificate;
  readonly certificatePem: string;
  /** Signs an end-entity certificate; it never outlives the authority. PEM with one trailing line feed. */
  signLeaf(request: LeafRequest): Promise<string>;
  /** A new authority below this one. */
  signAuthority(commonName: string, spki: Uint8Array<ArrayBuffer>, span: Span): Promise<string>;
}

interface Span {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export interface AuthoritySeed {
  readonly commonName: string;
  readonly lifetimeDays: number;
  readonly nowMs: number;
  /** None: a self-signed root. */
  readonly parent?: CertificateAuthority;
}

/** A new authority: its key, and its certificate by its parent. */
export async function makeAuthority(seed: AuthoritySeed): Promise<AuthorityPair> {
  const { nowMs, lifetimeDays, commonName, parent } = seed;
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const spki = spkiOf(key);
  const span = { notBeforeMs: nowMs - DAY_MS, notAfterMs: nowMs + lifetimeDays * DAY_MS };
  const certificatePem =
    parent === undefined
      ? await signAuthority(undefined, key, commonName, spki, span)
      : await parent.signAuthority(commonName, spki, span);
  return { certificatePem, keyPem: key.export({ type: 'pkcs8', format: 'pem' }) };
}

export function authorityOf({ certificatePem, keyPem }: AuthorityPair): CertificateAuthority {
  const key = createPrivateKey(keyPem);
  const certificate = new X509Certificate(certificatePem);
  const asn = new AsnCertificate(certificatePem);
  const signingKey = key.toCryptoKey(SIGNING, false, ['sign']);
  return {
    certificate,
    certificatePem,
    async signLeaf(request) {
      const publicKey = new PublicKey(request.spki);
      const extensions: Extension[] = [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(leafUses(publicKey), true),
        new ExtendedKeyUsageExtension(request.uses.map((use) => EXTENDED_USES[use])),
        await SubjectKeyIdentifierExtension.create(publicKey),
        await AuthorityKeyIdentifierExtension.create(asn),
      ];
      if (request.names.length > 0) extensions.push(new SubjectAlternativeNameExtension([...request.names]));
      const leaf = await X509CertificateGenerator.create({
        serialNumber: newSerial(),
        subject: [{ CN: [request.commonName] }],
        issuer: asn.subject,
        notBefore: new Date(request.notBeforeMs),
        notAfter: new Date(Math.min(request.notAfterMs, asn.notAfter.getTime())),
        publicKey,
        signingKey,
        signingAlgorithm: SIGNING,
        extensions,
      });
      return `${leaf.toString('pem')}\n`;
    },
    signAuthority: (commonName, spki, span) => signAuthority(asn, key, commonName, spki, span),
  };
}

/** Loads a PKCS#8 key, or makes and keeps it (0600). */
export async function openKey(path: string, make: () => KeyObject): Promise<KeyObject> {
  const pem = await readIfThere(path);
  if (pem !== undefined) return createPrivateKey(pem);
  const key = make();
  await writeFileDurably(path, key.export({ type: 'pkcs8', format: 'pem' }));
  return key;
}

/** The public half of a private key: SubjectPublicKeyInfo, DER. */
export function spkiOf(key: KeyObject): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createPublicKey(key).export({ type: 'spki', format: 'der' }));
}

async function signAuthority(
  issuer: AsnCertificate | undefined,
  issuerKey: KeyObject,
  commonName: string,
  spki: Uint8Array<ArrayBuffer>,
  span: Span,
): Promise<string> {
  const publicKey = new PublicKey(spki);
  const extensions: Extension[] = [
    new BasicConstraintsExtension(true, issuer === undefined ? 1 : 0, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    await SubjectKeyIdentifierExtension.create(publicKey),
  ];
  if (issuer !== undefined) extensions.push(await AuthorityKeyIdentifierExtension.create(issuer));
  const subject = [{ CN: [commonName] }];
  const certificate = await X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject,
    issuer: issuer?.subject ?? subject,
    notBefore: new Date(span.notBeforeMs),
    notAfter: new Date(Math.min(span.notAfterMs, issuer?.notAfter.getTime() ?? Infinity)),
    publicKey,
    signingKey: issuerKey.toCryptoKey(SIGNING, false, ['sign']),
    signingAlgorithm: SIGNING,
    extensions,
  });
  return `${certificate.toString('pem')}\n`;
}

/** RSA keys of TLS 1.2 servers may also encipher; elliptic curves sign alone. */
function leafUses(publicKey: PublicKey): number {
  const rsa = publicKey.algorithm.name.startsWith('RSA');
  return rsa
    ? KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment
    : KeyUsageFlags.digitalSignature;
}

/** 127 random bits, positive and without a leading zero byte. */
function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes.toString('hex');
}
