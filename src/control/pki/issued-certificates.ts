/** Issues the certificates of identities, sessions and routers. Their roles are in a SPIFFE URI that only this file writes. */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { Clock, Log } from '#base';
import { fingerprintOf } from '#net/channel';
import type { LoadedAuthorities } from './authority-generations.ts';
import { parseCertificateRequest, type ProvenRequest } from './certificate-request.ts';
import { spkiSha256Of, type ProvenLeaf } from './leaf-proof.ts';
import { allowedNames, type AllowedNames } from './requested-names-policy.ts';
import { BACKDATE_MS } from './server-leaf.ts';

const DAY_MS = 86_400_000;
/** Refused names that one answer or log message contains. */
const MAX_REASONS = 5;

/** Lifetimes for our own agents, gateways and routers, and for foreign clients. */
export const OWN_LIFETIME_DAYS = 30;
export const FOREIGN_LIFETIME_DAYS = 365;

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

interface IssuedRouter extends IssuedCertificate {
  readonly serverChainPem: string;
}

interface SessionSubject {
  readonly identityId: string;
  readonly sessionId: string;
  readonly certificateId: string;
}

interface RouterSubject {
  readonly id: string;
  readonly lifetimeDays: number;
  /**
   * At enrollment, a name that is not allowed refuses the request, because someone is there to correct it. A renewal
   * leaves such names out with a warning in the log, so that no router loses its certificate over one.
   */
  readonly isRenewal: boolean;
}

/** `problem` may be shown to the sender of the request. */
type Issued<T> = { readonly issued: T } | { readonly problem: string };

interface IssuedCertificatesOptions {
  /** Those of now: they are replaced while the process runs. */
  readonly authorities: () => LoadedAuthorities;
  /** Host part of the SPIFFE URIs, in lower case. */
  readonly trustDomain: string;
  readonly clock: Clock;
  readonly log: Log;
}

interface LeafSubject {
  readonly role: ProvenLeaf['role'];
  readonly id: string;
  readonly lifetimeDays: number;
  /** What follows the role in the SPIFFE URI. */
  readonly spiffePath: string;
}

export class IssuedCertificates {
  readonly #options: IssuedCertificatesOptions;

  constructor(options: IssuedCertificatesOptions) {
    this.#options = options;
  }

  async issueClient(
    csrPem: string,
    { id, lifetimeDays }: { readonly id: string; readonly lifetimeDays: number },
  ): Promise<Issued<IssuedCertificate>> {
    return this.#issueIdentity(csrPem, { role: 'identity', id, lifetimeDays, spiffePath: id });
  }

  /** For the channels of one session to routers, which know it by the SPIFFE URI. It proves no identity here. */
  async issueSession(
    csrPem: string,
    { identityId: id, sessionId, certificateId }: SessionSubject,
  ): Promise<Issued<IssuedCertificate>> {
    const spiffePath = `${id}/apiSession/${sessionId}/apiSessionCertificate/${certificateId}`;
    return this.#issueIdentity(csrPem, {
      role: 'identity',
      id,
      lifetimeDays: OWN_LIFETIME_DAYS,
      spiffePath,
    });
  }

  async issueRouter(
    { certCsr, serverCertCsr }: { readonly certCsr: string; readonly serverCertCsr: string },
    { id, lifetimeDays, isRenewal }: RouterSubject,
  ): Promise<Issued<IssuedRouter>> {
    const client = await parseCertificateRequest(certCsr);
    if ('problem' in client) return client;
    const server = await parseCertificateRequest(serverCertCsr);
    if ('problem' in server) return server;
    if (client.request.commonName !== id) return { problem: 'the common name is not the router id' };
    const subject: LeafSubject = { role: 'router', id, lifetimeDays, spiffePath: id };
    const [clientNames, serverNames] = [client.request, server.request].map(({ requested }) =>
      allowedNames(requested, this.#spiffeIdOf(subject), (text) => isIP(text) !== 0),
    ) as [AllowedNames, AllowedNames];
    const leftOut = [...new Set([...clientNames.refused, ...serverNames.refused])];
    if (leftOut.length > 0 && !isRenewal) return { problem: leftOut.slice(0, MAX_REASONS).join('; ') };
    if (leftOut.length > 0) {
      this.#options.log.warn(
        { router: id, leftOut: leftOut.slice(0, MAX_REASONS) },
        'a router requested names that it cannot have; its certificates are renewed without them',
      );
    }
    return {
      issued: {
        ...issuedOf(await this.#sign(client.request, 'client', subject, clientNames)),
        serverChainPem: (await this.#sign(server.request, 'server', subject, serverNames)).chainPem,
      },
    };
  }

  async #issueIdentity(csrPem: string, subject: LeafSubject): Promise<Issued<IssuedCertificate>> {
    const reading = await parseCertificateRequest(csrPem);
    if ('problem' in reading) return reading;
    return { issued: issuedOf(await this.#sign(reading.request, 'client', subject)) };
  }

  /** `names` are those of a router. Names of other clients have no meaning, and are left out. */
  async #sign(
    { spki }: ProvenRequest,
    use: 'client' | 'server',
    subject: LeafSubject,
    names?: AllowedNames,
  ): Promise<Signed> {
    const at = this.#options.clock.nowMs();
    const { name: issuer, certificatePem, authority } = this.#options.authorities().issuer;
    const leafPem = await authority!.signLeaf({
      commonName: subject.id,
      spki,
      uses: [use],
      subject: names?.subject ?? [],
      names: [{ type: 'url', value: this.#spiffeIdOf(subject) }, ...(names?.alternatives ?? [])],
      notBeforeMs: at - BACKDATE_MS,
      notAfterMs: at + subject.lifetimeDays * DAY_MS,
    });
    return { issuer, chainPem: leafPem + certificatePem };
  }

  #spiffeIdOf({ role, spiffePath }: LeafSubject): string {
    return `spiffe://${this.#options.trustDomain}/${role}/${spiffePath}`;
  }
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
