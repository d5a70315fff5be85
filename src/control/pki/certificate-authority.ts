/**
 * One certificate authority (root or intermediate): a P-256 key with its certificate, and the only code that
 * signs certificates. Callers decide what is certified; `keepAuthority` stores the pair.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  X509Certificate,
  type KeyObject,
} from 'node:crypto';
import type {
  Extension,
  JsonAttributeObject,
  Name,
  PublicKey,
  X509Certificate as AsnCertificate,
} from '@peculiar/x509';
import type { Log } from '#base';
import { setAside, writeFileDurably } from '#net/files';
import { loadX509, type X509Library } from '#sdk';
import { privateKeyIn, readIfThere, type AuthorityPair } from './authority-store.ts';
import type { AlternativeName, SubjectField } from './requested-names-policy.ts';

const DAY_MS = 86_400_000;
const SIGNING = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export const EXTENDED_USES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;

export interface LeafRequest {
  readonly commonName: string;
  /** Further fields of the subject, before the common name; none by default. */
  readonly subject?: readonly SubjectField[];
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
  /** Signs an end-entity certificate, which never outlives the authority. PEM with one trailing line feed. */
  signLeaf(request: LeafRequest): Promise<string>;
  /** Signs an authority below this one. */
  signAuthority(commonName: string, spki: Uint8Array<ArrayBuffer>, span: Span): Promise<string>;
  /**
   * Returns a new certificate for the same name and key, so that everything that it signed stays valid: signed by `parent`,
   * or by itself without one.
   */
  renewed(parent: CertificateAuthority | undefined, seed: RenewalSeed): Promise<string>;
}

export type RenewalSeed = Pick<AuthoritySeed, 'commonName' | 'lifetimeDays' | 'nowMs'>;

interface Span {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

export interface AuthoritySeed {
  readonly commonName: string;
  readonly lifetimeDays: number;
  readonly nowMs: number;
  /** None for a self-signed root. */
  readonly parent?: CertificateAuthority | undefined;
}

/** Creates an authority: its key, and its certificate signed by its parent. */
export async function makeAuthority(seed: AuthoritySeed): Promise<AuthorityPair> {
  const { nowMs, lifetimeDays, commonName, parent } = seed;
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const spki = spkiOf(key);
  const span = spanOf(nowMs, lifetimeDays);
  const certificatePem =
    parent === undefined
      ? await signAuthority(undefined, key, commonName, spki, span)
      : await parent.signAuthority(commonName, spki, span);
  return { certificatePem, keyPem: key.export({ type: 'pkcs8', format: 'pem' }) };
}

function spanOf(nowMs: number, lifetimeDays: number): Span {
  return { notBeforeMs: nowMs - DAY_MS, notAfterMs: nowMs + lifetimeDays * DAY_MS };
}

export function authorityOf({ certificatePem, keyPem }: AuthorityPair): CertificateAuthority {
  const key = createPrivateKey(keyPem);
  const certificate = new X509Certificate(certificatePem);
  let asn: AsnCertificate | undefined;
  const asnOf = (x509: X509Library): AsnCertificate => (asn ??= new x509.X509Certificate(certificatePem));
  const signingKey = key.toCryptoKey(SIGNING, false, ['sign']);
  return {
    certificate,
    certificatePem,
    async signLeaf(request) {
      const x509 = await loadX509();
      const issuer = asnOf(x509);
      const publicKey = new x509.PublicKey(request.spki);
      const extensions: Extension[] = [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(leafUses(x509, publicKey), true),
        new x509.ExtendedKeyUsageExtension(request.uses.map((use) => EXTENDED_USES[use])),
        await x509.SubjectKeyIdentifierExtension.create(publicKey),
        await x509.AuthorityKeyIdentifierExtension.create(issuer),
      ];
      if (request.names.length > 0)
        extensions.push(new x509.SubjectAlternativeNameExtension([...request.names]));
      const leaf = await x509.X509CertificateGenerator.create({
        serialNumber: newSerial(),
        subject: subjectOf(x509, request),
        issuer: issuer.subject,
        notBefore: new Date(request.notBeforeMs),
        notAfter: new Date(Math.min(request.notAfterMs, issuer.notAfter.getTime())),
        publicKey,
        signingKey,
        signingAlgorithm: SIGNING,
        extensions,
      });
      return `${leaf.toString('pem')}\n`;
    },
    async signAuthority(commonName, spki, span) {
      return signAuthority(asnOf(await loadX509()), key, commonName, spki, span);
    },
    renewed(parent, { commonName, lifetimeDays, nowMs }) {
      const span = spanOf(nowMs, lifetimeDays);
      return parent === undefined
        ? signAuthority(undefined, key, commonName, spkiOf(key), span)
        : parent.signAuthority(commonName, spkiOf(key), span);
    },
  };
}

/**
 * Loads a PKCS#8 key, or creates and stores it (0600). A file without a key is set aside with a warning, because nothing but
 * the certificate depends on it, which is signed again.
 */
export async function openKey(path: string, make: () => KeyObject, log: Log): Promise<KeyObject> {
  const pem = await readIfThere(path);
  const kept = pem === undefined ? undefined : privateKeyIn(pem);
  if (kept !== undefined) return kept;
  if (pem !== undefined)
    log.warn(
      { file: path, movedTo: await setAside(path) },
      'the file holds no private key: a new one is made',
    );
  const key = make();
  await writeFileDurably(path, key.export({ type: 'pkcs8', format: 'pem' }));
  return key;
}

/** Returns the public half of a private key: SubjectPublicKeyInfo, DER. */
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
  const x509 = await loadX509();
  const { KeyUsageFlags } = x509;
  const publicKey = new x509.PublicKey(spki);
  const extensions: Extension[] = [
    new x509.BasicConstraintsExtension(true, issuer === undefined ? 1 : 0, true),
    new x509.KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    await x509.SubjectKeyIdentifierExtension.create(publicKey),
  ];
  if (issuer !== undefined) extensions.push(await x509.AuthorityKeyIdentifierExtension.create(issuer));
  const subject = [{ CN: [commonName] }];
  const certificate = await x509.X509CertificateGenerator.create({
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

/** Texts are never given as plain strings, because the library reads those that begin with `#` as encoded values. */
function subjectOf({ Name }: X509Library, { commonName, subject = [] }: LeafRequest): Name {
  const encoded = (type: string, text: string): JsonAttributeObject =>
    type === 'C' ? { printableString: text } : { utf8String: text };
  return new Name([
    ...subject.map(({ type, value }) => ({ [type]: [encoded(type, value)] })),
    { CN: [commonName] },
  ]);
}

/** RSA keys of TLS 1.2 servers may also encipher; elliptic curves only sign. */
function leafUses({ KeyUsageFlags }: X509Library, publicKey: PublicKey): number {
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
