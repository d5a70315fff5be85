/**
 * The control plane's certificates: root and intermediate authority, the two server leaves (edge API and control
 * channel), and those of identities and routers. Roles are in a SPIFFE URI that only this file writes. Lifetimes:
 * 30 days for our own agents, gateways and routers, one year for foreign clients; the caller selects.
 */
import { createHash, generateKeyPairSync, randomUUID, X509Certificate, type KeyObject } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { messageOf, type Clock, type Log } from '#base';
import { fingerprintOf } from '#net/channel';
import type { Secrets } from '../secrets/mod.ts';
import type { Queries } from '../store/mod.ts';
import type { AuthorityShelf } from './authority-store.ts';
import { loadAuthorities, type LoadedAuthorities } from './authority-generations.ts';
import { openKey, type CertificateAuthority } from './certificate-authority.ts';
import { certificateBundleBase64 } from './certificate-bundle.ts';
import { parseCertificateRequest, type ProvenRequest } from './certificate-request.ts';
import { signEnrollmentJwt, signNetworkJwt, type EnrollmentClaims } from './enrollment-jwt.ts';
import { generationNumber } from './generation-policy.ts';
import { proveLeaf, spkiSha256Of, type LeafProof, type ProvenLeaf } from './leaf-proof.ts';
import { allowedNames, type AllowedNames } from './requested-names-policy.ts';
import {
  BACKDATE_MS,
  leafFile,
  openServerLeaf,
  sharedLeaf,
  type ServerCredentials,
  type ServerLeafPlan,
} from './server-leaf.ts';
import { keepSharedKey } from './shared-key-store.ts';

const DAY_MS = 86_400_000;
/** Another control plane may have replaced the shared certificate. */
const RENEWAL_CHECK_MS = 60_000;
const SERVER_DAYS = 365;
const CONTROL_DAYS = 90;
const MARK_CHARS = 16;
/** Refused names that one answer or log message contains. */
const MAX_REASONS = 5;

/** Lifetimes for our own agents, gateways and routers, and for foreign clients. */
export const OWN_LIFETIME_DAYS = 30;
export const FOREIGN_LIFETIME_DAYS = 365;

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
  /** Common name of the control channel's certificate: the controller's id. */
  readonly controllerId?: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface IssuedCertificate {
  /** Leaf, then intermediate. */
  readonly chainPem: string;
  /** The name of the intermediate that issued it. */
  readonly issuer: string;
  /** SHA-1 of the DER leaf in lower-case hex. */
  readonly fingerprint: string;
  /** SHA-256 of the subject public key info in lower-case hex. */
  readonly spkiSha256: string;
  readonly notAfterMs: number;
}

export interface IssuedRouter extends IssuedCertificate {
  readonly serverChainPem: string;
}

export interface SessionSubject {
  readonly identityId: string;
  readonly sessionId: string;
  readonly certificateId: string;
}

export interface RouterSubject {
  readonly id: string;
  readonly lifetimeDays: number;
  /**
   * At enrollment, a name that is not allowed refuses the request, because someone is there to correct it. A renewal
   * leaves such names out with a warning in the log, so that no router loses its certificate over one.
   */
  readonly isRenewal: boolean;
}

/** `problem` may be shown to the sender of the request. */
export type Issued<T> = { readonly issued: T } | { readonly problem: string };

export interface Pki {
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
  issueClient(
    csrPem: string,
    subject: { id: string; lifetimeDays: number },
  ): Promise<Issued<IssuedCertificate>>;
  /** For the channels of one session to routers, which know it by the SPIFFE URI. It proves no identity here. */
  issueSession(csrPem: string, subject: SessionSubject): Promise<Issued<IssuedCertificate>>;
  issueRouter(
    csrs: { certCsr: string; serverCertCsr: string },
    subject: RouterSubject,
  ): Promise<Issued<IssuedRouter>>;
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
  const shelf: AuthorityShelf = { db, secrets, folder, nowMs };
  const load = (at: number) => loadAuthorities({ ...shelf, nowMs: at }, trustDomain, log);
  let authorities = await load(nowMs);
  let bundle = bundleOf(authorities);
  const hosts = [...new Set([...options.hosts, 'localhost', '127.0.0.1'])];
  const edgePlan: ServerLeafPlan = {
    shelf: sharedLeaf(db, hosts[0]!, clock),
    isShared: true,
    commonName: hosts[0]!.length <= 64 ? hosts[0]! : 'edge-api',
    hosts,
    uses: ['server'],
    lifetimeDays: SERVER_DAYS,
    key: await keepSharedKey(
      shelf,
      'edge-api',
      () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
      log,
    ),
  };
  const controlPlan: ServerLeafPlan = {
    shelf: leafFile(join(folder, 'control.crt')),
    isShared: false,
    commonName: options.controllerId ?? 'controller',
    hosts,
    uses: ['server', 'client'],
    lifetimeDays: CONTROL_DAYS,
    key: await openKey(join(folder, 'control.key'), newP256Key, log),
  };
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

  const spiffeIdOf = (role: ProvenLeaf['role'], id: string): string =>
    `spiffe://${trustDomain}/${role}/${id}`;

  /** `names` are those of a router. Names of other clients have no meaning, and are left out. */
  async function signFor(
    { spki }: ProvenRequest,
    use: 'client' | 'server',
    role: ProvenLeaf['role'],
    {
      id,
      lifetimeDays,
      spiffePath = id,
    }: { readonly id: string; readonly lifetimeDays: number; readonly spiffePath?: string },
    names?: AllowedNames,
  ): Promise<Signed> {
    const at = clock.nowMs();
    const { name: issuer, certificatePem, authority } = authorities.issuer;
    const leafPem = await authority!.signLeaf({
      commonName: id,
      spki,
      uses: [use],
      subject: names?.subject ?? [],
      names: [{ type: 'url', value: spiffeIdOf(role, spiffePath) }, ...(names?.alternatives ?? [])],
      notBeforeMs: at - BACKDATE_MS,
      notAfterMs: at + lifetimeDays * DAY_MS,
    });
    return { issuer, chainPem: leafPem + certificatePem };
  }

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
    async issueClient(csrPem, subject) {
      const reading = await parseCertificateRequest(csrPem);
      if ('problem' in reading) return reading;
      return { issued: issuedOf(await signFor(reading.request, 'client', 'identity', subject)) };
    },
    async issueSession(csrPem, { identityId: id, sessionId, certificateId }) {
      const reading = await parseCertificateRequest(csrPem);
      if ('problem' in reading) return reading;
      const spiffePath = `${id}/apiSession/${sessionId}/apiSessionCertificate/${certificateId}`;
      const subject = { id, spiffePath, lifetimeDays: OWN_LIFETIME_DAYS };
      return { issued: issuedOf(await signFor(reading.request, 'client', 'identity', subject)) };
    },
    async issueRouter({ certCsr, serverCertCsr }, subject) {
      const client = await parseCertificateRequest(certCsr);
      if ('problem' in client) return client;
      const server = await parseCertificateRequest(serverCertCsr);
      if ('problem' in server) return server;
      if (client.request.commonName !== subject.id)
        return { problem: 'the common name is not the router id' };
      const spiffeId = spiffeIdOf('router', subject.id);
      const [clientNames, serverNames] = [client.request, server.request].map(({ requested }) =>
        allowedNames(requested, spiffeId, (text) => isIP(text) !== 0),
      ) as [AllowedNames, AllowedNames];
      const leftOut = [...new Set([...clientNames.refused, ...serverNames.refused])];
      if (leftOut.length > 0 && !subject.isRenewal)
        return { problem: leftOut.slice(0, MAX_REASONS).join('; ') };
      if (leftOut.length > 0) {
        log.warn(
          { router: subject.id, leftOut: leftOut.slice(0, MAX_REASONS) },
          'a router requested names that it cannot have; its certificates are renewed without them',
        );
      }
      return {
        issued: {
          ...issuedOf(await signFor(client.request, 'client', 'router', subject, clientNames)),
          serverChainPem: (await signFor(server.request, 'server', 'router', subject, serverNames)).chainPem,
        },
      };
    },
    frontendServer: async (zone) => {
      const plan: ServerLeafPlan = {
        shelf: leafFile(join(folder, 'frontend.crt')),
        isShared: false,
        commonName: zone.length <= 62 ? `*.${zone}` : 'frontend',
        hosts: [`*.${zone}`, zone],
        uses: ['server'],
        lifetimeDays: CONTROL_DAYS,
        key: await openKey(join(folder, 'frontend.key'), newP256Key, log),
      };
      return (await openServerLeaf(plan, serverAuthority(authorities), clock.nowMs())).credentials;
    },
    proveLeaf: (leaf) => proveLeaf(leaf, authorities, trustDomain, clock.nowMs()),
    mintEnrollmentJwt: (claims) => signEnrollmentJwt(claims, edge.key, fingerprintOf(edge.leaf)),
    mintNetworkJwt: (issuer) => signNetworkJwt(issuer, randomUUID(), edge.key, fingerprintOf(edge.leaf)),
    renewServers,
    close: () => clearInterval(timer),
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

interface Signed {
  /** The name of the intermediate. */
  readonly issuer: string;
  readonly chainPem: string;
}

function issuedOf({ issuer, chainPem }: Signed): IssuedCertificate {
  const leaf = new X509Certificate(chainPem);
  return {
    chainPem,
    issuer,
    fingerprint: fingerprintOf(leaf),
    spkiSha256: spkiSha256Of(leaf),
    notAfterMs: Date.parse(leaf.validTo),
  };
}

function newP256Key(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}
