/**
 * Verifies new certificates from a controller before they are used, and writes them so that a crash leaves a working
 * set.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { FrontdoorError } from '#base';
import { writeFileDurably } from '#net/files';
import type { RouterConfig } from '../config/router-config.ts';
import { loadRouterIdentity, type RouterIdentity } from '../identity/router-identity.ts';

export interface RenewedCertificates {
  readonly clientPem: string;
  readonly serverPem: string;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const MAX_PEM_CHARS = 65_536;
const MAX_CHAIN = 6;

/**
 * Returns the identity with its new certificates. @throws FrontdoorError `badGateway` if they do not match its keys and
 * name.
 */
export function withRenewed(
  identity: RouterIdentity,
  config: RouterConfig,
  renewed: RenewedCertificates,
  nowMs: number,
): RouterIdentity {
  const { id, client } = identity;
  const hasServer = config.identity.serverCert !== undefined;
  const serverKey = identity.server.default.key;
  const problem =
    problemOf(renewed.clientPem, client.key, client.ca, id, nowMs) ??
    (hasServer ? problemOf(renewed.serverPem, serverKey, client.ca, id, nowMs) : undefined);
  if (problem !== undefined) {
    throw new FrontdoorError(
      'badGateway',
      'renewal-invalid',
      `the controller sent certificates that ${problem}`,
    );
  }
  const inline = {
    cert: `pem:${renewed.clientPem}`,
    serverCert: hasServer ? `pem:${renewed.serverPem}` : undefined,
  };
  return loadRouterIdentity({ ...config.identity, ...inline });
}

/** Reads the files that `config` names. */
export function readCertificates({ identity }: RouterConfig): RenewedCertificates {
  return {
    clientPem: readFileSync(identity.cert, 'utf8'),
    serverPem: identity.serverCert === undefined ? '' : readFileSync(identity.serverCert, 'utf8'),
  };
}

/** Keys do not change, so a crash between the two files leaves working certificates. */
export async function writeCertificates(
  config: RouterConfig,
  certificates: RenewedCertificates,
): Promise<void> {
  const { cert, serverCert } = config.identity;
  if (serverCert !== undefined) await writeFileDurably(serverCert, certificates.serverPem);
  await writeFileDurably(cert, certificates.clientPem);
}

/** Returns the keys of the `identity` section that contain PEM in the file itself, which cannot be rewritten. */
export function inlineCertificates({ identity }: RouterConfig): string[] {
  const named = { cert: identity.cert, server_cert: identity.serverCert };
  return Object.entries(named)
    .filter(([, text]) => text !== undefined && (text.startsWith('pem:') || text.includes('-----BEGIN')))
    .map(([name]) => `identity.${name}`);
}

function problemOf(pem: string, key: string, ca: string, id: string, nowMs: number): string | undefined {
  try {
    const [leaf, ...chain] = certificatesOf(pem);
    if (leaf === undefined) return 'are none';
    if (!leaf.checkPrivateKey(createPrivateKey(key))) return 'are for another key';
    if (!leaf.subject.split('\n').includes(`CN=${id}`)) return 'are for another router';
    if (Date.parse(leaf.validTo) <= nowMs) return 'have expired';
    return isTrusted(leaf, chain, certificatesOf(ca)) ? undefined : 'are not of our authority';
  } catch {
    return 'cannot be read';
  }
}

function certificatesOf(pem: string): X509Certificate[] {
  if (pem.length > MAX_PEM_CHARS) return [];
  return [...pem.matchAll(CERTIFICATE)].slice(0, MAX_CHAIN).map(([text]) => new X509Certificate(text));
}

/** Returns true if the chain leads from the leaf to one of the anchors. */
function isTrusted(
  leaf: X509Certificate,
  chain: readonly X509Certificate[],
  anchors: readonly X509Certificate[],
): boolean {
  let at = leaf;
  for (let depth = 0; depth < MAX_CHAIN; depth += 1) {
    const signed = (issuer: X509Certificate): boolean =>
      issuer.ca && at.checkIssued(issuer) && at.verify(issuer.publicKey);
    if (anchors.some(signed)) return true;
    const next = chain.find(signed);
    if (next === undefined) return false;
    at = next;
  }
  return false;
}
