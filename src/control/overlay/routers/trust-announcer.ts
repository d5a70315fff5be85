/**
 * Sends our routers the trusted authorities, when they connect and whenever they change (ADR 0062). A router that saved a
 * new root has a receipt. OpenZiti's routers know no such message: their `ca` file is changed by hand.
 */
import { messageOf, type Clock, type Log } from '#base';
import { contentType, encodeTrustBundle, headerId, makeFrame } from '#wire';
import { noteRootReceipt } from '../records/root-receipt-store.ts';
import type { Store } from '../../store/mod.ts';
import type { CertificateIssuer } from './certificate-extension.ts';
import type { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';

export interface TrustAnnouncerOptions {
  readonly issuer: CertificateIssuer;
  readonly routers: RouterRegistry;
  readonly store: Pick<Store, 'db'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The router writes a file before it answers. */
const ANSWER_MS = 30_000;

export class TrustAnnouncer {
  readonly #options: TrustAnnouncerOptions;

  constructor(options: TrustAnnouncerOptions) {
    this.#options = options;
    options.issuer.onServerRenewed(() => {
      for (const router of options.routers.all()) this.onConnect(router);
    });
  }

  onConnect(router: ConnectedRouter): void {
    if (router.release === undefined) return;
    this.#send(router).catch((error: unknown) =>
      this.#options.log.debug(
        { router: router.id, err: messageOf(error) },
        'the router did not confirm the trusted authorities',
      ),
    );
  }

  async #send({ id, channel }: ConnectedRouter): Promise<void> {
    const { issuer, store, clock, log } = this.#options;
    const { authorities, caBundlePem: trustedPem } = issuer;
    const endedPem = authorities.ended.map(({ certificatePem }) => certificatePem).join('');
    const body = encodeTrustBundle({ trustedPem, endedPem });
    const answer = await channel.request(makeFrame(contentType.trustBundle, { body }), ANSWER_MS);
    if (answer.headers.bool(headerId.channel.resultSuccess) !== true) {
      log.warn(
        { router: id, reason: new TextDecoder().decode(answer.body).slice(0, 300) },
        'the router could not save the trusted authorities',
      );
      return;
    }
    await noteRootReceipt(store.db, authorities, id, clock.nowMs());
  }
}
