/**
 * Loads the files of a router's `identity` section, given as paths or inline PEM: the client's certificate and key, and
 * the server certificates, which listeners select by the name that a client requests. Follows OpenZiti's rules: text
 * that is not a certificate is skipped, one file can contain several chains, and the client's chain is completed from
 * `ca`.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { FrontdoorError, messageOf, validityProblem, type Secret } from '#base';
import { validityOf, type ServerTls } from '#net';
import type { TlsIdentity } from '#net/channel';
import type { IdentityConfig } from '../config/router-config.ts';
import { isInlinePem } from '../config/text-kinds.ts';

export interface RouterIdentity {
  /** Common name of the client certificate. */
  readonly id: string;
  readonly client: TlsIdentity;
  readonly server: ServerTls;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const MAX_CHAIN = 8;
/** Extended key usages: TLS server, and any. */
const SERVER_USAGES = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];

/**
 * `where` is the path of the section, for messages. Identities of web servers have the same form.
 * @throws FrontdoorError `invalid` that names the key of the section.
 */
export function loadRouterIdentity(identity: IdentityConfig, where = 'identity'): RouterIdentity {
  const key = loadKey(`${where}.key`, identity.key);
  const ca = loadPem(`${where}.ca`, identity.ca);
  const anchors = certificatesIn(`${where}.ca`, ca);
  const chain = completed(certificatesIn(`${where}.cert`, loadPem(`${where}.cert`, identity.cert)), anchors);
  checkKey(`${where}.key`, key, chain[0]!, `${where}.cert`);
  const id = /^CN=(.+)$/m.exec(chain[0]!.subject)?.[1];
  if (id === undefined) throw invalid(`${where}.cert has no common name`);
  const client = { cert: pemOf(chain), key, ca };
  const served = [
    identity.serverCert === undefined
      ? [client]
      : serverChains(`${where}.server`, identity.serverCert, identity.serverKey, key, ca),
    ...identity.alternates.map(({ serverCert, serverKey }, i) =>
      serverChains(`${where}.alt_server_certs[${i}].server`, serverCert, serverKey, key, ca),
    ),
  ].flat();
  const candidates = candidatesOf(served);
  return { id, client, server: { default: candidates[0]!, alternates: candidates.slice(1) } };
}

/** Why the files cannot be used now; undefined if they can. */
export function identityProblem(identity: IdentityConfig, nowMs: number): string | undefined {
  try {
    const { client } = loadRouterIdentity(identity);
    const problem = validityProblem(validityOf(new X509Certificate(client.cert)), nowMs);
    return problem && `the certificate ${problem}`;
  } catch (error) {
    return messageOf(error);
  }
}

/** Prefers certificates with names, then certificates for servers, then all others. */
function candidatesOf(served: readonly TlsIdentity[]): readonly TlsIdentity[] {
  const leafOf = ({ cert }: TlsIdentity): X509Certificate => new X509Certificate(cert);
  const named = served.filter((one) => leafOf(one).subjectAltName !== undefined);
  if (named.length > 0) return named;
  const forServers = served.filter((one) =>
    (leafOf(one).keyUsage as readonly string[] | undefined)?.some((usage) => SERVER_USAGES.includes(usage)),
  );
  return forServers.length > 0 ? forServers : served;
}

/** `where` followed by `_cert` and `_key` gives the keys of the two files. */
function serverChains(
  where: string,
  certText: string,
  keyText: Secret | undefined,
  commonKey: string,
  ca: string,
): TlsIdentity[] {
  const key = keyText === undefined ? commonKey : loadKey(`${where}_key`, keyText);
  const chains: X509Certificate[][] = [];
  for (const certificate of certificatesIn(`${where}_cert`, loadPem(`${where}_cert`, certText))) {
    if (certificate.ca && chains.length > 0) chains.at(-1)!.push(certificate);
    else chains.push([certificate]);
  }
  return chains.map((chain) => {
    checkKey(`${where}_key`, key, chain[0]!, `${where}_cert`);
    return { cert: pemOf(chain), key, ca };
  });
}

function loadPem(path: string, text: string): string {
  if (isInlinePem(text)) return text.replace(/^pem:/, '');
  try {
    return readFileSync(text, 'utf8');
  } catch (cause) {
    throw invalid(`${path}: cannot read ${text}: ${messageOf(cause)}`, cause);
  }
}

/** The value may be a key in another form than PEM, so that the message contains it only if it is the path of a file. */
function loadKey(path: string, location: Secret): string {
  const text = location.reveal();
  if (isInlinePem(text) || existsSync(text)) return loadPem(path, text);
  throw invalid(`${path}: the file that it names does not exist`);
}

function certificatesIn(path: string, pem: string): X509Certificate[] {
  const found: X509Certificate[] = [];
  for (const [text] of pem.matchAll(CERTIFICATE)) {
    try {
      found.push(new X509Certificate(text));
    } catch {
      // PEM blocks that contain no certificate are skipped, as in OpenZiti.
    }
  }
  if (found.length === 0)
    throw invalid(`${path} holds no certificate that can be read: restore it, or enroll again`);
  return found;
}

/** Adds the intermediates that `anchors` contain, but not the root: peers have it, or do not trust it. */
function completed(
  chain: readonly X509Certificate[],
  anchors: readonly X509Certificate[],
): X509Certificate[] {
  const whole = [...chain];
  while (whole.length < MAX_CHAIN) {
    const last = whole.at(-1)!;
    const issuer = anchors.find((anchor) => last.checkIssued(anchor) && last.verify(anchor.publicKey));
    if (issuer === undefined || issuer.checkIssued(issuer) || whole.some((one) => one.raw.equals(issuer.raw)))
      break;
    whole.push(issuer);
  }
  return whole;
}

function checkKey(path: string, key: string, leaf: X509Certificate, certPath: string): void {
  let fits: boolean;
  try {
    fits = leaf.checkPrivateKey(createPrivateKey(key));
  } catch (cause) {
    throw invalid(`${path} holds no private key that can be read: restore it, or enroll again`, cause);
  }
  if (!fits) throw invalid(`${path} is not the key of ${certPath}`);
}

function pemOf(chain: readonly X509Certificate[]): string {
  return chain.map((certificate) => certificate.toString()).join('');
}

function invalid(message: string, cause?: unknown): FrontdoorError {
  return new FrontdoorError('invalid', 'bad-identity', message, { cause });
}
