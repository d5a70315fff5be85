/**
 * A server certificate of the control plane. It is made if absent, and made again with the same key after two thirds of
 * its lifetime, if its authority changed, or if names are missing.
 */
import { X509Certificate, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { FrontdoorError, type Clock } from '#base';
import { writeFileDurably } from '#net/files';
import type { Queries } from '../store/mod.ts';
import { readIfThere } from './authority-store.ts';
import { spkiOf, type CertificateAuthority } from './certificate-authority.ts';
import type { AlternativeName } from './requested-names-policy.ts';

const DAY_MS = 86_400_000;
/** How long before its signature a certificate begins to be valid, for machines whose clocks are late. */
export const BACKDATE_MS = DAY_MS;
/** Several control planes that start at once each add their names to the shared certificate. */
const MAX_STORE_ATTEMPTS = 20;

/** Where the certificate (PEM) is stored. */
export interface LeafShelf {
  find(): Promise<string | undefined>;
  /** Stores `pem` instead of `before`. Returns another one if another process replaced `before` first. */
  replace(before: string | undefined, pem: string): Promise<string>;
}

export interface ServerLeafPlan {
  readonly shelf: LeafShelf;
  /** Whether names of other control planes that the stored certificate has are kept when this one's are added. */
  readonly isShared: boolean;
  readonly commonName: string;
  /** DNS names and IP literals. */
  readonly hosts: readonly string[];
  readonly uses: readonly ('server' | 'client')[];
  readonly lifetimeDays: number;
  readonly key: KeyObject;
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
  const { key, shelf, commonName, uses, lifetimeDays } = plan;
  let kept = await shelf.find();
  for (let attempt = 0; attempt < MAX_STORE_ATTEMPTS; attempt += 1) {
    const usable = kept !== undefined && !isDue(kept, plan, authority, nowMs) ? kept : undefined;
    if (usable !== undefined && hasNames(usable, plan.hosts)) return serverLeaf(key, usable, authority);
    const others = plan.isShared && usable !== undefined ? hostsOf(usable) : [];
    const pem = await authority.signLeaf({
      commonName,
      spki: spkiOf(key),
      uses,
      names: [...new Set([...plan.hosts, ...others])].map(hostName),
      notBeforeMs: nowMs - BACKDATE_MS,
      notAfterMs: nowMs + lifetimeDays * DAY_MS,
    });
    kept = await shelf.replace(kept, pem);
  }
  throw new FrontdoorError(
    'unavailable',
    'server-certificate-contended',
    `other control planes replaced the certificate of ${commonName} ${MAX_STORE_ATTEMPTS} times in the meantime: start again`,
  );
}

/** A file of the data directory: the certificate belongs to this process alone. */
export function leafFile(path: string): LeafShelf {
  return {
    find: () => readIfThere(path),
    async replace(_before, pem) {
      await writeFileDurably(path, pem);
      return pem;
    },
  };
}

/**
 * A row of the database: control planes with the same first advertised host, which is a load balancer's if there are
 * several, have the same certificate, because a client that enrolls trusts the one that proved its token.
 */
export function sharedLeaf(db: Queries, host: string, clock: Clock): LeafShelf {
  const row = { host };
  const find = async (): Promise<string | undefined> =>
    (await db.selectFrom('shared_leaf').select('certificate_pem').where('host', '=', host).executeTakeFirst())
      ?.certificate_pem;
  return {
    find,
    async replace(before, pem) {
      const values = { certificate_pem: pem, created_at: clock.nowMs() };
      if (before === undefined)
        await db
          .insertInto('shared_leaf')
          .values({ ...row, ...values })
          .onConflict((conflict) => conflict.column('host').doNothing())
          .execute();
      else
        await db
          .updateTable('shared_leaf')
          .set(values)
          .where('host', '=', host)
          .where('certificate_pem', '=', before)
          .execute();
      return (await find()) ?? pem;
    },
  };
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
    !leaf.checkPrivateKey(plan.key) ||
    !leaf.verify(authority.certificate.publicKey) ||
    leaf.subject !== `CN=${plan.commonName}`
  );
}

function hasNames(leafPem: string, hosts: readonly string[]): boolean {
  const leaf = new X509Certificate(leafPem);
  return hosts.every((host) => (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)) !== undefined);
}

/** The alternative names of a leaf that a control plane of Frontdoor signed. */
function hostsOf(leafPem: string): string[] {
  const names = new X509Certificate(leafPem).subjectAltName ?? '';
  return [...names.matchAll(/(?:DNS|IP Address):([^\s,"]+)/g)].map(([, host]) => host!);
}

function hostName(host: string): AlternativeName {
  return isIP(host) === 0 ? { type: 'dns', value: host } : { type: 'ip', value: host };
}
