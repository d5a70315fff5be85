/**
 * The control plane's certificates: root and intermediate authority, the two server leaves (edge API and control
 * channel), and those of identities and routers. Lifetimes: 30 days for our own agents, gateways and routers, one year for
 * foreign clients; the caller selects.
 */
import {
  createHash,
  generateKeyPairSync,
  randomUUID,
  type KeyObject,
  type X509Certificate,
} from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, type Clock, type Log } from '#base';
import { fingerprintOf } from '#net/channel';
import type { Secrets } from '../secrets/mod.ts';
import type { Queries } from '../store/mod.ts';
import type { AuthorityShelf } from './authority-store.ts';
import { loadAuthorities, type LoadedAuthorities } from './authority-generations.ts';
import { openKey, type CertificateAuthority } from './certificate-authority.ts';
import { certificateBundleBase64 } from './certificate-bundle.ts';
import { signEnrollmentJwt, signNetworkJwt, type EnrollmentClaims } from './enrollment-jwt.ts';
import { generationNumber } from './generation-policy.ts';
import { IssuedCertificates } from './issued-certificates.ts';
import { proveLeaf, type LeafProof } from './leaf-proof.ts';
import {
  leafFile,
  openServerLeaf,
  sharedLeaf,
  type ServerCredentials,
  type ServerLeafPlan,
} from './server-leaf.ts';
import { edgeApiKey, keepSharedKey } from './shared-key-store.ts';

/** Another control plane may have replaced the shared certificate. */
const RENEWAL_CHECK_MS = 60_000;
const SERVER_DAYS = 365;
const CONTROL_DAYS = 90;
const MARK_CHARS = 16;

export interface PkiOptions {
  /** Has the certificates of the control channel and the frontend and their keys, which belong to this process, in `pki`. */
  readonly dataDir: string;
  /** Has the authorities, the edge API's key and its certificates, which all control planes over it share. */
  readonly db: Queries;
  readonly secrets: Pick<Secrets, 'seal' | 'unseal'>;
  /** Host part of the SPIFFE URIs, in lower case. */
  readonly trustDomain: string;
  /** Advertised hosts of the edge API and the control channel: DNS names and IP literals. */
  readonly hosts: readonly string[];
  /** A further host of the control channel. The edge API's certificate, which control planes share, does not have it. */
  readonly ctrlHost?: string | undefined;
  /** Common name of the control channel's certificate: the controller's id. */
  readonly controllerId?: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Pki extends Pick<IssuedCertificates, 'issueClient' | 'issueSession' | 'issueRouter'> {
  /** The issuing intermediate, others that are trusted, then the roots. */
  readonly caBundlePem: string;
  /** The same as PKCS#7, base64 in lines. */
  readonly cacertsPkcs7Base64: string;
  /** Changes with the authorities, for clients that compare it. */
  readonly authoritiesMark: string;
  /** As of the last minute. */
  readonly authorities: LoadedAuthorities;
  /** Whether an authority of this installation, trusted or ended, has the certificate with that fingerprint. */
  isAuthority(fingerprint: string): boolean;
  /** Whether a certificate of this intermediate should be renewed now, because another one issues. */
  isReplaced(issuer: string | undefined): boolean;
  /**
   * RSA-2048, because OpenZiti's clients verify enrollment tokens with this key. All control planes over the database have
   * it, so that a token of one is valid where a load balancer leads to another.
   */
  readonly edgeServer: ServerCredentials;
  /** P-256, for server and client use. */
  readonly controlServer: ServerCredentials;
  /** For a gateway without certificates of its own: `*.zone` and `zone`. */
  frontendServer(zone: string): Promise<ServerCredentials>;
  /** Called after a server certificate or an authority changed, so that listeners reload the credentials. */
  onServerRenewed(listener: () => void): void;
  proveLeaf(leaf: X509Certificate): LeafProof;
  mintEnrollmentJwt(claims: EnrollmentClaims): string;
  /** `issuer` is `https://host:port` of the edge API. */
  mintNetworkJwt(issuer: string): string;
  /** Renews due certificates, and takes those that other control planes renewed. Runs every minute by itself. */
  renewServers(): Promise<void>;
  close(): void;
}

/** Opens the authorities and the server leaves, and creates missing ones. Throws if they contradict each other. */
export async function openPki(options: PkiOptions): Promise<Pki> {
  const { clock, log, trustDomain, db, secrets } = options;
  const folder = join(options.dataDir, 'pki');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const nowMs = clock.nowMs();
  const shelf: AuthorityShelf = { db, secrets, nowMs };
  const load = (at: number) => loadAuthorities({ ...shelf, nowMs: at }, trustDomain, log);
  let authorities = await load(nowMs);
  let bundle = bundleOf(authorities);
  const { edgePlan, controlPlan } = await serverPlans(options, shelf, folder);
  let edge = await openServerLeaf(edgePlan, serverAuthority(authorities), nowMs);
  let control = await openServerLeaf(controlPlan, serverAuthority(authorities), nowMs);
  const listeners: (() => void)[] = [];

  async function renewServers(): Promise<void> {
    const before = [bundle.pem, edge.credentials.certPem, control.credentials.certPem];
    authorities = await load(clock.nowMs());
    bundle = bundleOf(authorities);
    const servers = serverAuthority(authorities);
    edge = await openServerLeaf(edgePlan, servers, clock.nowMs());
    control = await openServerLeaf(controlPlan, servers, clock.nowMs());
    const after = [bundle.pem, edge.credentials.certPem, control.credentials.certPem];
    if (after.every((pem, i) => pem === before[i])) return;
    log.info(
      { issuer: authorities.issuer.name, edgeUntil: edge.leaf.validTo, controlUntil: control.leaf.validTo },
      'certificates of the control plane or its authorities changed',
    );
    for (const listener of listeners) listener();
  }

  const timer = setInterval(() => {
    renewServers().catch((error: unknown) =>
      log.error({ error: messageOf(error) }, 'server certificates could not be renewed'),
    );
  }, RENEWAL_CHECK_MS);
  timer.unref();

  const issuer = new IssuedCertificates({ authorities: () => authorities, trustDomain, clock, log });
  return {
    get caBundlePem() {
      return bundle.pem;
    },
    get cacertsPkcs7Base64() {
      return bundle.pkcs7Base64;
    },
    get authoritiesMark() {
      return bundle.mark;
    },
    get authorities() {
      return authorities;
    },
    isAuthority: (fingerprint) => bundle.fingerprints.has(fingerprint),
    isReplaced: (issuer) =>
      issuer !== undefined && generationNumber(issuer) < generationNumber(authorities.issuer.name),
    get edgeServer() {
      return edge.credentials;
    },
    get controlServer() {
      return control.credentials;
    },
    onServerRenewed: (listener) => listeners.push(listener),
    issueClient: (csrPem, subject) => issuer.issueClient(csrPem, subject),
    issueSession: (csrPem, subject) => issuer.issueSession(csrPem, subject),
    issueRouter: (csrs, subject) => issuer.issueRouter(csrs, subject),
    frontendServer: async (zone) => {
      const plan = await frontendPlan(zone, folder, log);
      return (await openServerLeaf(plan, serverAuthority(authorities), clock.nowMs())).credentials;
    },
    proveLeaf: (leaf) => proveLeaf(leaf, authorities, trustDomain, clock.nowMs()),
    mintEnrollmentJwt: (claims) => signEnrollmentJwt(claims, edge.key, fingerprintOf(edge.leaf)),
    mintNetworkJwt: (issuer) => signNetworkJwt(issuer, randomUUID(), edge.key, fingerprintOf(edge.leaf)),
    renewServers,
    close: () => clearInterval(timer),
  };
}

async function serverPlans(
  { db, clock, log, hosts: advertised, ctrlHost, controllerId }: PkiOptions,
  shelf: AuthorityShelf,
  folder: string,
): Promise<{ readonly edgePlan: ServerLeafPlan; readonly controlPlan: ServerLeafPlan }> {
  const hosts = [...new Set([...advertised, 'localhost', '127.0.0.1'])];
  return {
    edgePlan: {
      shelf: sharedLeaf(db, hosts[0]!, clock),
      isShared: true,
      commonName: hosts[0]!.length <= 64 ? hosts[0]! : 'edge-api',
      hosts,
      uses: ['server'],
      lifetimeDays: SERVER_DAYS,
      key: await keepSharedKey(shelf, 'edge-api', edgeApiKey.make),
    },
    controlPlan: {
      shelf: leafFile(join(folder, 'control.crt')),
      isShared: false,
      commonName: controllerId ?? 'controller',
      hosts: [...new Set([...hosts, ...(ctrlHost === undefined ? [] : [ctrlHost])])],
      uses: ['server', 'client'],
      lifetimeDays: CONTROL_DAYS,
      key: await openKey(join(folder, 'control.key'), newP256Key, log),
    },
  };
}

async function frontendPlan(zone: string, folder: string, log: Log): Promise<ServerLeafPlan> {
  return {
    shelf: leafFile(join(folder, 'frontend.crt')),
    isShared: false,
    commonName: zone.length <= 62 ? `*.${zone}` : 'frontend',
    hosts: [`*.${zone}`, zone],
    uses: ['server'],
    lifetimeDays: CONTROL_DAYS,
    key: await openKey(join(folder, 'frontend.key'), newP256Key, log),
  };
}

function bundleOf({ bundle, ended }: LoadedAuthorities) {
  const pem = bundle.map(({ certificatePem }) => certificatePem).join('');
  return {
    fingerprints: new Set([...bundle, ...ended].map(({ certificate }) => fingerprintOf(certificate))),
    pem,
    pkcs7Base64: certificateBundleBase64(bundle.map(({ certificate }) => certificate.raw)),
    mark: createHash('sha256').update(pem).digest('hex').slice(0, MARK_CHARS),
  };
}

function serverAuthority({ serverIssuer }: LoadedAuthorities): CertificateAuthority {
  return serverIssuer.authority!;
}

function newP256Key(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}
