/**
 * Renews routers' certificates over the control channel with OpenZiti's messages: requests (20302), new
 * certificates (20301), and removal of the old certificate once the router has used the new one (20303, or a new
 * channel). Until then both are valid, so that a crash on either side locks nobody out.
 */
import { X509Certificate } from 'node:crypto';
import { messageOf, type Log } from '#base';
import { fingerprintOf } from '#net/channel';
import { contentType, type Frame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import {
  dropReplacedCertificates,
  renewCertificate,
  type CertificateParts,
} from '../clients/certificate-changes.ts';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { Pki } from '../../pki/mod.ts';
import type { ConnectedRouter } from '../mesh/connected-router.ts';

export type CertificateIssuer = Pick<
  Pki,
  'issueRouter' | 'proveLeaf' | 'caBundlePem' | 'authorities' | 'isAuthority' | 'onServerRenewed'
>;

export interface CertificateExtensionOptions extends CertificateParts {
  readonly issuer: CertificateIssuer;
  readonly model: OverlayModel;
  readonly log: Log;
}

const DAY_MS = 86_400_000;
/** OpenZiti's routers repeat requests after 35 s. Signing is expensive, so faster requests are refused. */
const MIN_INTERVAL_MS = 10_000;
const MAX_PEM_CHARS = 65_536;

export class CertificateExtension {
  readonly #options: CertificateExtensionOptions;
  /** Time of each connected router's last request, removed with the channel. */
  readonly #askedAtMs = new WeakMap<ConnectedRouter, number>();
  readonly #running = new Set<Promise<void>>();

  constructor(options: CertificateExtensionOptions) {
    this.#options = options;
  }

  async onRequest(router: ConnectedRouter, frame: Frame): Promise<void> {
    const request = ctrlMessages.enrollmentExtendRouter.decode(frame.body);
    const { issuer, clock, log } = this.#options;
    const nowMs = clock.nowMs();
    if (nowMs - (this.#askedAtMs.get(router) ?? -Infinity) < MIN_INTERVAL_MS) {
      this.#refuse(router, frame, 'TOO_MANY_REQUESTS', 'the last request was just now');
      return;
    }
    this.#askedAtMs.set(router, nowMs);
    const usedFingerprint = router.fingerprint;
    const lifetimeDays = await this.#lifetimeDaysOf(router, usedFingerprint);
    if (lifetimeDays === undefined) {
      this.#refuse(router, frame, 'UNAUTHORIZED', 'the certificate of this channel no longer counts');
      return;
    }
    const { clientCertCsr: certCsr, serverCertCsr } = request;
    const answer = await issuer.issueRouter(
      { certCsr, serverCertCsr },
      { id: router.id, lifetimeDays, isRenewal: true },
    );
    if ('problem' in answer) {
      this.#refuse(router, frame, 'COULD_NOT_PROCESS_CSR', answer.problem);
      return;
    }
    const { issued } = answer;
    const address = router.channel.peer.address.replace(/:\d+$/, '');
    if (!(await renewCertificate(this.#options, machineOf(router), usedFingerprint, issued, address))) {
      this.#refuse(router, frame, 'UNAUTHORIZED', 'the certificate of this channel no longer counts');
      return;
    }
    log.info({ router: router.id, until: new Date(issued.notAfterMs).toISOString() }, 'certificates renewed');
    router.send(
      ctrlMessages.enrollmentCertsResponse.frame({
        clientCertPem: issued.chainPem,
        serverCertPem: issued.serverChainPem,
        caCertsPem: issuer.caBundlePem,
      }),
    );
  }

  /** The router has its new certificate, so the one that it replaced is removed. */
  async onVerify(router: ConnectedRouter, frame: Frame): Promise<void> {
    const { clientCertPem } = ctrlMessages.enrollmentExtendRouterVerify.decode(frame.body);
    const fingerprint = this.#provenFingerprint(router.id, clientCertPem);
    if (fingerprint === undefined) {
      this.#refuse(router, frame, 'INVALID_CERTIFICATE', 'this is no certificate of this router');
      return;
    }
    // The channel outlives the certificate with which it was opened.
    router.fingerprint = fingerprint;
    await this.#dropOlder(router, fingerprint);
    router.channel.reply(frame, ctrlMessages.enrollmentVerified.frame({}));
  }

  /** A channel that was opened with a certificate proves its use. */
  onConnect(router: ConnectedRouter): void {
    if ((this.#options.model.identity(router.id)?.fingerprints.length ?? 0) < 2) return;
    const work = this.#dropOlder(router, router.fingerprint)
      .catch((error: unknown) => {
        this.#options.log.warn(
          { router: router.id, err: messageOf(error) },
          'a replaced certificate could not be removed',
        );
      })
      .finally(() => this.#running.delete(work));
    this.#running.add(work);
  }

  /** Resolves when no write is running. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #dropOlder(router: ConnectedRouter, fingerprint: string): Promise<void> {
    const dropped = await dropReplacedCertificates(this.#options, machineOf(router), fingerprint);
    if (dropped > 0) {
      this.#options.log.info(
        { router: router.id, dropped },
        'the renewed certificate is in use; older ones were removed',
      );
    }
  }

  #provenFingerprint(routerId: string, pem: string): string | undefined {
    const { issuer, model } = this.#options;
    if (pem.length > MAX_PEM_CHARS) return undefined;
    let certificate: X509Certificate;
    try {
      certificate = new X509Certificate(pem);
    } catch {
      return undefined;
    }
    const proof = issuer.proveLeaf(certificate);
    if ('problem' in proof || proof.leaf.role !== 'router' || proof.leaf.id !== routerId) return undefined;
    const fingerprint = fingerprintOf(certificate);
    return model.identity(routerId)?.fingerprints.includes(fingerprint) === true ? fingerprint : undefined;
  }

  /** A renewed certificate has the lifetime of the old one. */
  async #lifetimeDaysOf(router: ConnectedRouter, fingerprint: string): Promise<number | undefined> {
    const row = await this.#options.store.db
      .selectFrom('certificate')
      .select(['created_at', 'not_after'])
      .where('identity_id', '=', router.id)
      .where('fingerprint', '=', fingerprint)
      .executeTakeFirst();
    if (row === undefined || row.not_after <= this.#options.clock.nowMs()) return undefined;
    return Math.max(1, Math.round((row.not_after - row.created_at) / DAY_MS));
  }

  #refuse(router: ConnectedRouter, frame: Frame, code: string, message: string): void {
    const asked = frame.contentType === contentType.enrollmentExtendRouter ? 'renewal' : 'verification';
    this.#options.log.warn(
      { router: router.id, asked, code, reason: message },
      'certificate renewal refused',
    );
    router.channel.reply(frame, ctrlMessages.enrollmentVerified.frame({ code, message }));
  }
}

function machineOf({ id }: ConnectedRouter) {
  return { id, kind: 'router', ownerId: null } as const;
}
