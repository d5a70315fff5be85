/**
 * The control plane's certificates: root and intermediate authority, the two server leaves (edge API and control
 * channel), and those of identities and routers. Roles are in a SPIFFE URI that only this file writes. Lifetimes:
 * 30 days for our own agents, gateways and routers, one year for foreign clients; the caller selects.
 */
import { createHash, generateKeyPairSync, randomUUID, X509Certificate, type KeyObject } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { messageOf, validityProblem, type Clock, type Log } from '#base';
import { fingerprintOf } from '#net';
import type { Secrets } from '../secrets/mod.ts';
import type { Queries } from '../store/mod.ts';
import type { AuthorityShelf } from './authority-store.ts';
import { openKey, type CertificateAuthority, type RenewalSeed } from './certificate-authority.ts';
import { currentAuthority } from './current-authority.ts';
import { certificateBundleBase64 } from './certificate-bundle.ts';
import { parseCertificateRequest, type ProvenRequest } from './certificate-request.ts';
import { signEnrollmentJwt, signNetworkJwt, type EnrollmentClaims } from './enrollment-jwt.ts';
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
const ROOT_DAYS = 7_300;
const INTERMEDIATE_DAYS = 3_650;
const SERVER_DAYS = 365;
const CONTROL_DAYS = 90;
/** Refused names that one answer or log message contains. */
const MAX_REASONS = 5;
export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

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
   * At enrollment, a name that is not allowed refuses the request, because somebody is there to correct it. A renewal
   * leaves such names out with a warning in the log, so that no router loses its certificate over one.
   */
  readonly isRenewal: boolean;
}

/** `problem` may be shown to the sender of the request. */
export type Issued<T> = { readonly issued: T } | { readonly problem: string };

/**
 * A leaf that our authority issued and that is valid now, or one of another party that an identity enrolled with. The model
 * knows whether it still belongs to an identity.
 */
export interface ProvenLeaf {
  readonly fingerprint: string;
  readonly spkiSha256: string;
  readonly role: 'identity' | 'router';
  readonly id: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** Set if another party issued it, so that it is not renewed here. */
  readonly isThirdParty?: true;
  /** The authority of another party that names the identity in the certificate, which is not stored then. */
  readonly authorityId?: string | undefined;
}

export type LeafProof =
  | { readonly leaf: ProvenLeaf }
  | {
      readonly problem: string;
      /**
       * Set for a leaf of our authority for that identity that is expired or not valid yet, so that its holder is
       * still known.
       */
      readonly outOfDate?: ProvenLeaf;
    };

export interface Pki {
  /** Intermediate, then root. */
  readonly caBundlePem: string;
  /** The same as PKCS#7, base64 in lines. */
  readonly cacertsPkcs7Base64: string;
  /**
   * RSA-2048, because OpenZiti's clients verify enrollment tokens with this key. All control planes over the database have
   * it, so that a token of one is valid where a load balancer leads to another.
   */
  readonly edgeServer: ServerCredentials;
  /** P-256, for server and client use. */
  readonly controlServer: ServerCredentials;
  /** For a gateway without certificates of its own: `*.zone` and `zone`. */
  frontendServer(zone: string): Promise<ServerCredentials>;
  /** Called after a server certificate was renewed, so that listeners reload the credentials. */
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
  const current = (
    name: string,
    parent: CertificateAuthority | undefined,
    seed: RenewalSeed,
  ): Promise<CertificateAuthority> => currentAuthority(shelf, name, parent, seed, log);
  const authorities = async (at: number) => {
    const root = await current('root-ca', undefined, {
      ...{ commonName: `${trustDomain} root`, lifetimeDays: ROOT_DAYS, nowMs: at },
    });
    const intermediate = await current('intermediate-ca', root, {
      ...{ commonName: `${trustDomain} intermediate`, lifetimeDays: INTERMEDIATE_DAYS, nowMs: at },
    });
    return { root, intermediate };
  };
  let { root, intermediate } = await authorities(nowMs);
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
  let edge = await openServerLeaf(edgePlan, intermediate, nowMs);
  let control = await openServerLeaf(controlPlan, intermediate, nowMs);
  const listeners: (() => void)[] = [];

  async function renewServers(): Promise<void> {
    const before = [edge.credentials.certPem, control.credentials.certPem];
    ({ root, intermediate } = await authorities(clock.nowMs()));
    edge = await openServerLeaf(edgePlan, intermediate, clock.nowMs());
    control = await openServerLeaf(controlPlan, intermediate, clock.nowMs());
    if (before[0] === edge.credentials.certPem && before[1] === control.credentials.certPem) return;
    log.info(
      { edgeUntil: edge.leaf.validTo, controlUntil: control.leaf.validTo },
      'server certificates renewed',
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
  ): Promise<string> {
    const at = clock.nowMs();
    const leafPem = await intermediate.signLeaf({
      commonName: id,
      spki,
      uses: [use],
      subject: names?.subject ?? [],
      names: [{ type: 'url', value: spiffeIdOf(role, spiffePath) }, ...(names?.alternatives ?? [])],
      notBeforeMs: at - BACKDATE_MS,
      notAfterMs: at + lifetimeDays * DAY_MS,
    });
    return leafPem + intermediate.certificatePem;
  }

  return {
    get caBundlePem() {
      return intermediate.certificatePem + root.certificatePem;
    },
    get cacertsPkcs7Base64() {
      return certificateBundleBase64([intermediate.certificate.raw, root.certificate.raw]);
    },
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
          serverChainPem: await signFor(server.request, 'server', 'router', subject, serverNames),
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
      return (await openServerLeaf(plan, intermediate, clock.nowMs())).credentials;
    },
    proveLeaf: (leaf) => proveLeaf(leaf, intermediate.certificate, trustDomain, clock.nowMs()),
    mintEnrollmentJwt: (claims) => signEnrollmentJwt(claims, edge.key, fingerprintOf(edge.leaf)),
    mintNetworkJwt: (issuer) => signNetworkJwt(issuer, randomUUID(), edge.key, fingerprintOf(edge.leaf)),
    renewServers,
    close: () => clearInterval(timer),
  };
}

export function spkiSha256Of(certificate: X509Certificate): string {
  return createHash('sha256')
    .update(certificate.publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}

function issuedOf(chainPem: string): IssuedCertificate {
  const leaf = new X509Certificate(chainPem);
  return {
    chainPem,
    fingerprint: fingerprintOf(leaf),
    spkiSha256: spkiSha256Of(leaf),
    notAfterMs: Date.parse(leaf.validTo),
  };
}

/** Only the leaf counts; other certificates of the peer's chain are ignored. */
function proveLeaf(
  leaf: X509Certificate,
  issuer: X509Certificate,
  trustDomain: string,
  nowMs: number,
): LeafProof {
  if (leaf.ca || !leaf.checkIssued(issuer) || !leaf.verify(issuer.publicKey)) {
    return { problem: 'certificate is not of this control plane' };
  }
  const notBeforeMs = Date.parse(leaf.validFrom);
  const notAfterMs = Date.parse(leaf.validTo);
  if (!(leaf.keyUsage ?? []).includes(CLIENT_AUTH)) return { problem: 'certificate is not for clients' };
  const roles = (leaf.subjectAltName ?? '').split(', ').filter((name) => name.startsWith('URI:spiffe:'));
  const prefix = `URI:spiffe://${trustDomain}/`;
  const [role, id, more] =
    roles[0]?.startsWith(prefix) === true ? roles[0].slice(prefix.length).split('/') : [];
  if (roles.length !== 1 || (role !== 'identity' && role !== 'router') || !id || more !== undefined) {
    return { problem: 'certificate names no role' };
  }
  const fingerprint = fingerprintOf(leaf);
  const proven = { fingerprint, spkiSha256: spkiSha256Of(leaf), role, id, notBeforeMs, notAfterMs } as const;
  const problem = validityProblem({ fromMs: notBeforeMs, untilMs: notAfterMs }, nowMs);
  if (problem !== undefined) return { problem: `certificate ${problem}`, outOfDate: proven };
  return { leaf: proven };
}

function newP256Key(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}
