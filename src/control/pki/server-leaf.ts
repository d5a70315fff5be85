/**
 * A server certificate of the control plane on disk. It is made if absent, and made again with the same key after
 * two thirds of its lifetime, or if its authority or its names changed.
 */
import { X509Certificate, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { writeFileDurably } from '#net';
import { readIfThere } from './authority-store.ts';
import { openKey, spkiOf, type AlternativeName, type CertificateAuthority } from './certificate-authority.ts';

const DAY_MS = 86_400_000;
const BACKDATE_MS = 60_000;

export interface ServerLeafPlan {
  readonly folder: string;
  /** File name without extension. */
  readonly name: string;
  readonly commonName: string;
  /** DNS names and IP literals. */
  readonly hosts: readonly string[];
  readonly uses: readonly ('server' | 'client')[];
  readonly lifetimeDays: number;
  readonly makeKey: () => KeyObject;
}

/** The input of a TLS listener; `certPem` is the leaf and its intermediate. */
export interface ServerCredentials {
  readonly keyPem: string;
  readonly certPem: string;
  /** The leaf alone. */
  readonly leafPem: string;
}

export interface ServerLeaf {
  readonly key: KeyObject;
  readonly leaf: X509Certificate;
  readonly credentials: ServerCredentials;
}

/** Loads the leaf, or signs and stores a new one if that is due. */
export async function openServerLeaf(
  plan: ServerLeafPlan,
  authority: CertificateAuthority,
  nowMs: number,
): Promise<ServerLeaf> {
  const path = join(plan.folder, `${plan.name}.crt`);
  const key = await openKey(join(plan.folder, `${plan.name}.key`), plan.makeKey);
  const kept = await readIfThere(path);
  if (kept !== undefined && !isDue(kept, key, plan, authority, nowMs))
    return serverLeaf(key, kept, authority);
  const pem = await authority.signLeaf({
    commonName: plan.commonName,
    spki: spkiOf(key),
    uses: plan.uses,
    names: plan.hosts.map(hostName),
    notBeforeMs: nowMs - BACKDATE_MS,
    notAfterMs: nowMs + plan.lifetimeDays * DAY_MS,
  });
  await writeFileDurably(path, pem);
  return serverLeaf(key, pem, authority);
}

function serverLeaf(key: KeyObject, leafPem: string, authority: CertificateAuthority): ServerLeaf {
  return {
    key,
    leaf: new X509Certificate(leafPem),
    credentials: {
      keyPem: key.export({ type: 'pkcs8', format: 'pem' }),
      certPem: leafPem + authority.certificatePem,
      leafPem,
    },
  };
}

function isDue(
  leafPem: string,
  key: KeyObject,
  plan: ServerLeafPlan,
  authority: CertificateAuthority,
  nowMs: number,
): boolean {
  let leaf: X509Certificate;
  try {
    leaf = new X509Certificate(leafPem);
  } catch {
    return true;
  }
  const notBeforeMs = Date.parse(leaf.validFrom);
  const notAfterMs = Date.parse(leaf.validTo);
  return (
    nowMs < notBeforeMs ||
    nowMs > notBeforeMs + ((notAfterMs - notBeforeMs) * 2) / 3 ||
    !leaf.checkPrivateKey(key) ||
    !leaf.verify(authority.certificate.publicKey) ||
    leaf.subject !== `CN=${plan.commonName}` ||
    !plan.hosts.every((host) => (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)) !== undefined)
  );
}

function hostName(host: string): AlternativeName {
  return isIP(host) === 0 ? { type: 'dns', value: host } : { type: 'ip', value: host };
}
