/**
 * The certificates of a listener, and the selection for a client by OpenZiti's rule: candidates are the leafs of
 * the server's file and of the alternates, in that order; the first one that is valid for the requested name is
 * used, otherwise the first of all.
 */
import { createPrivateKey, type X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import { FrontdoorError } from '#base';
import { certificatesOfPem } from './certificate-chain.ts';
import { TLS_CIPHERS } from './tls-policy.ts';
import { CHANNEL_SERVER_TLS, channelTls, type TlsIdentity } from './channel/channel-tls.ts';

/** The certificates of a listener. The trust anchors are those of the default. */
export interface ServerTls {
  readonly default: TlsIdentity;
  readonly alternates: readonly TlsIdentity[];
}

/** A leaf with its intermediate authorities, as it is sent. */
export interface ServedLeaf {
  readonly certificate: X509Certificate;
  readonly chainPem: string;
}

export type TlsVersion = 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';

export interface TlsVersions {
  readonly min: TlsVersion;
  readonly max: TlsVersion;
}

interface Candidate {
  readonly leaf: X509Certificate;
  readonly options: SecureContextOptions;
  context: SecureContext | undefined;
}

/** For versions before 1.2, which OpenSSL refuses unless its security level is lowered. */
const OLD_CIPHERS =
  'ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:@SECLEVEL=0';
const SERVER_PURPOSES = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];

export class ServerCertificates {
  readonly #candidates: readonly Candidate[];

  /** Throws `invalid` if a file has no certificate, or a key does not belong to any of its certificates. */
  constructor(tls: ServerTls, versions?: TlsVersions) {
    const all = [tls.default, ...tls.alternates].flatMap((identity) =>
      leafsOf(identity).map((leaf) => ({
        leaf: leaf.certificate,
        options: {
          ...channelTls({ cert: leaf.chainPem, key: identity.key, ca: tls.default.ca }),
          ...CHANNEL_SERVER_TLS,
          ...(versions === undefined ? {} : versionOptions(versions)),
        },
        context: undefined,
      })),
    );
    const named = all.filter(({ leaf }) => isForServers(leaf));
    this.#candidates = named.length > 0 ? named : all.slice(0, 1);
  }

  /** For clients that request no name. */
  get defaultOptions(): SecureContextOptions {
    return this.#candidates[0]!.options;
  }

  contextFor(serverName: string): SecureContext {
    const found =
      this.#candidates.length === 1
        ? this.#candidates[0]!
        : (this.#candidates.find(({ leaf }) => isMadeOutTo(leaf, serverName)) ?? this.#candidates[0]!);
    found.context ??= createSecureContext(found.options);
    return found.context;
  }
}

/** Versions before 1.2 require ciphers that are disabled otherwise, so they are enabled with such a version. */
function versionOptions({ min, max }: TlsVersions): SecureContextOptions {
  const isOld = min === 'TLSv1' || min === 'TLSv1.1';
  return { minVersion: min, maxVersion: max, ...(isOld ? { ciphers: `${TLS_CIPHERS}:${OLD_CIPHERS}` } : {}) };
}

/** Throws as the constructor does. */
export function checkServerTls(tls: ServerTls): void {
  for (const identity of [tls.default, ...tls.alternates]) leafsOf(identity);
}

/**
 * A file may contain several leafs with their intermediates, all for one key. A self-signed authority counts as a
 * leaf only if there is no other. Throws `invalid` if the key belongs to none of them.
 */
export function leafsOf({ cert, key }: Pick<TlsIdentity, 'cert' | 'key'>): ServedLeaf[] {
  const certificates = certificatesOfPem(cert);
  const privateKey = createPrivateKey(key);
  const ours = certificates.filter((certificate) => certificate.checkPrivateKey(privateKey));
  const leafs = ours.filter(({ ca }) => !ca);
  const shown = leafs.length > 0 ? leafs : ours.slice(0, 1);
  if (shown.length === 0) {
    const message = 'a server certificate and its key do not belong together';
    throw new FrontdoorError('invalid', 'certificate-key-mismatch', message);
  }
  return shown.map((certificate) => {
    const behind = certificates.slice(certificates.indexOf(certificate) + 1);
    const end = behind.findIndex(({ ca }) => !ca);
    const chain = [certificate, ...behind.slice(0, end < 0 ? undefined : end)];
    return { certificate, chainPem: chain.map(String).join('') };
  });
}

function isForServers(leaf: X509Certificate): boolean {
  if (leaf.subjectAltName !== undefined && /\b(DNS|IP Address):/.test(leaf.subjectAltName)) return true;
  return leaf.keyUsage?.some((purpose) => SERVER_PURPOSES.includes(purpose)) ?? false;
}

function isMadeOutTo(leaf: X509Certificate, name: string): boolean {
  if (isIP(name) !== 0) return leaf.checkIP(name) !== undefined;
  return leaf.checkHost(name, { subject: 'never' }) !== undefined;
}
