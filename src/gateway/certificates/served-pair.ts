/**
 * A certificate and its key, read from files and checked before use. An expired certificate is still used,
 * because clients show a clear error for it, and the owner is warned.
 */
import { createPrivateKey, type X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { messageOf } from '#base';
import { leafsOf } from '#net';
import { readPrivateFile } from '#net/files';
import { canonicalHost } from '../http/host-policy.ts';
import { alternativeNames } from './alternative-names.ts';
import type { CertificateFiles } from './certificate-folder.ts';

const MAX_CERTIFICATE_BYTES = 1_048_576;
const MAX_NAMES = 1_000;
/** The pair used for lack of a matching one, which need not name a host. */
export const DEFAULT_NAME = 'default';

/** PEM texts. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface ServedPair {
  readonly name: string;
  /** The leaf first, whatever the order in the file. */
  readonly pair: KeyPair;
  /** DNS names of its subject alternative names in lower case; a wildcard is `*.rest`. */
  readonly hosts: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** SHA-256 of the leaf in the form of X.509 tools. */
  readonly fingerprint: string;
  /** Whether it was obtained from a certificate authority, and is no file of the operator. */
  readonly isObtained: boolean;
}

export type LoadedPair = { readonly loaded: ServedPair } | { readonly problem: string };

export async function loadServedPair({ name, certFile, keyFile }: CertificateFiles): Promise<LoadedPair> {
  let cert: string;
  try {
    const { size } = await stat(certFile);
    if (size > MAX_CERTIFICATE_BYTES)
      return { problem: `${certFile} is larger than 1 MiB, so it is no certificate` };
    cert = await readFile(certFile, 'utf8');
  } catch (error) {
    return {
      problem: `${certFile} cannot be read (${codeOf(error)}): check that it exists and its permissions`,
    };
  }
  const key = await readPrivateFile(keyFile);
  if ('problem' in key) return { problem: `${keyFile} is refused: ${key.problem}` };
  return checkServedPair(name, { cert, key: key.text }, { certFile, keyFile });
}

/** `files` are the names of the two in problems. */
export function checkServedPair(
  name: string,
  { cert, key }: KeyPair,
  { certFile, keyFile }: Pick<CertificateFiles, 'certFile' | 'keyFile'>,
  isObtained = false,
): LoadedPair {
  try {
    createPrivateKey(key);
  } catch {
    const remedy = key.includes('ENCRYPTED')
      ? 'it is encrypted with a passphrase: store it without one, readable only by its owner'
      : 'it is not a private key in PEM form';
    return { problem: `${keyFile} cannot be used: ${remedy}` };
  }
  if (!cert.includes('-----BEGIN CERTIFICATE-----'))
    return { problem: `${certFile} has no certificate in PEM form` };
  let leaf: X509Certificate;
  let chainPem: string;
  try {
    const [first] = leafsOf({ cert, key });
    ({ certificate: leaf, chainPem } = first!);
  } catch (error) {
    const isOther = (error as { code?: string }).code === 'certificate-key-mismatch';
    const why = isOther ? `${keyFile} is not the key of ${certFile}` : `${certFile} cannot be read`;
    return { problem: `${why}: store a certificate beside its own key` };
  }
  const hosts = hostsOf(leaf);
  if (hosts.length === 0 && name !== DEFAULT_NAME) {
    return {
      problem: `${certFile} names no host (DNS name in its subject alternative names): get one that does`,
    };
  }
  try {
    createSecureContext({ cert: chainPem, key });
  } catch (error) {
    return { problem: `${certFile} cannot be served: ${messageOf(error)}` };
  }
  return {
    loaded: {
      name,
      pair: { cert: chainPem, key },
      hosts,
      notBeforeMs: leaf.validFromDate.getTime(),
      notAfterMs: leaf.validToDate.getTime(),
      fingerprint: leaf.fingerprint256,
      isObtained,
    },
  };
}

/** Names that no client could send are skipped. */
function hostsOf(leaf: X509Certificate): string[] {
  const hosts = alternativeNames(leaf, 'DNS', MAX_NAMES).flatMap((name) => {
    const isWildcard = name.startsWith('*.');
    const host = canonicalHost(isWildcard ? name.slice(2) : name);
    if (host === undefined || host.includes(':')) return [];
    return [isWildcard ? `*.${host}` : host];
  });
  return [...new Set(hosts)];
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? messageOf(error);
}
