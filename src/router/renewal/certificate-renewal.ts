/**
 * Renews the router's certificates like OpenZiti's routers. After two thirds of their lifetime, or when another authority
 * issues (ADR 0062), it requests new ones
 * from a controller over the control channel (20302, 20301), saves and uses them, and confirms them (20303, 20002). It
 * saves before it confirms: until then the controller accepts both certificates, so that a crash cannot lock the router
 * out.
 */
import { X509Certificate } from 'node:crypto';
import { BackOff, FrontdoorError, messageOf, type Clock, type Log } from '#base';
import { ChannelError, type Channel } from '#net/channel';
import { makeRequestFor, renewalAtMs } from '#sdk';
import { contentType, messageName, type Frame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { RouterConfig } from '../config/router-config.ts';
import type { CtrlHandler, CtrlHandlers } from '../ctrl/controllers.ts';
import type { RouterIdentity } from '../identity/router-identity.ts';
import { TrustedAuthorities } from './trusted-authorities.ts';
import {
  inlineCertificates,
  readCertificates,
  withRenewed,
  writeCertificates,
} from './renewed-certificates.ts';

export interface CertificateRenewalOptions {
  readonly config: RouterConfig;
  readonly identity: () => RouterIdentity;
  /** Returns a connected controller, or undefined. */
  readonly controller: () => Channel | undefined;
  /** New connections use this identity from now on. */
  readonly use: (identity: RouterIdentity) => void;
  readonly clock: Clock;
  readonly log: Log;
  /** Time limit for each answer of the controller; 30 s by default. */
  readonly answerMs?: number;
}

const ANSWER_MS = 30_000;
/** OpenZiti's range for the delay between two attempts. */
const FIRST_RETRY_MS = 35_000;
/** Longer delays are divided, because timers have a limit and clocks are adjusted. */
const LONGEST_WAIT_MS = 3_600_000;
const SHORTEST_WAIT_MS = 1_000;
/** When another authority issues, the routers renew at different moments within this time. */
const SPREAD_MS = 30_000;

export class CertificateRenewal {
  readonly #options: CertificateRenewalOptions;
  readonly #backOff = new BackOff({ minMs: FIRST_RETRY_MS, maxMs: LONGEST_WAIT_MS, factor: 2 });
  readonly #trusted: TrustedAuthorities;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<boolean> | undefined;
  #awaited: { readonly channel: Channel; readonly resolve: (frame: Frame) => void } | undefined;
  #needsController = false;
  #isClosed = false;

  constructor(options: CertificateRenewalOptions) {
    this.#options = options;
    const { config, identity, use, log } = options;
    const onIssuer = (): void => {
      if (this.#trusted.isReplaced && this.#running === undefined) this.#plan(Math.random() * SPREAD_MS);
    };
    this.#trusted = new TrustedAuthorities({ config, identity, use, onIssuer, log });
    this.#plan(this.#nextCheckMs());
  }

  /**
   * Renews now if that is due. Resolves with true if new certificates are in use. Rejects with the reason of a failure.
   */
  check(): Promise<boolean> {
    this.#running ??= this.#renewIfDue().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Performs a renewal that was postponed because no controller was connected. */
  onControllerConnected(): void {
    if (this.#needsController && !this.#isClosed) this.#checkNow();
  }

  /**
   * New certificates arrived (20301). Their headers do not mark them as a reply, so the channel shows the request they
   * answer.
   */
  onCertificates(frame: Frame, channel: Channel): void {
    if (this.#awaited?.channel === channel) this.#awaited.resolve(frame);
    else this.#options.log.debug({}, 'unrequested certificates ignored');
  }

  handlers(): CtrlHandlers {
    const onCertificates: CtrlHandler = (frame, { channel }) => this.onCertificates(frame, channel);
    return new Map([
      [contentType.enrollmentCertsResponse, onCertificates],
      [contentType.trustBundle, this.#trusted.onBundle],
    ]);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #renewIfDue(): Promise<boolean> {
    const { config, clock, log, use } = this.#options;
    this.#needsController = false;
    if (clock.nowMs() < this.#dueMs()) return false;
    if (config.csr === undefined) {
      const message = `${config.file} has no csr section: without one certificates cannot be asked for`;
      throw new FrontdoorError('invalid', 'no-csr', message);
    }
    const inline = inlineCertificates(config);
    if (inline.length > 0) {
      const message = `${inline.join(' and ')} stand as PEM in ${config.file}: renewed certificates need files to go to`;
      throw new FrontdoorError('invalid', 'identity-inline', message);
    }
    const channel = this.#options.controller();
    if (channel === undefined) {
      this.#needsController = true;
      throw new FrontdoorError('unavailable', 'no-controller', 'no controller is connected');
    }
    const old = this.#options.identity();
    const sent = await this.#ask(channel, old);
    const renewed = withRenewed(old, config, sent, clock.nowMs());
    const before = readCertificates(config);
    await writeCertificates(config, sent);
    use(renewed);
    const refusal = await this.#confirm(channel, sent.clientPem);
    if (refusal !== undefined) {
      await writeCertificates(config, before);
      use(old);
      throw new FrontdoorError(
        'badGateway',
        'renewal-refused',
        `the controller refused its own certificates: ${refusal}`,
      );
    }
    log.info({ until: new X509Certificate(renewed.client.cert).validTo }, 'certificates renewed');
    return true;
  }

  async #ask(channel: Channel, identity: RouterIdentity): Promise<{ clientPem: string; serverPem: string }> {
    const csr = this.#options.config.csr!;
    const { id, client, server } = identity;
    const request = ctrlMessages.enrollmentExtendRouter.frame({
      clientCertCsr: await makeRequestFor(client.key, id, csr),
      serverCertCsr: await makeRequestFor(server.default.key, id, csr),
      requireVerification: true,
    });
    const pushed = Promise.withResolvers<Frame>();
    this.#awaited = { channel, resolve: pushed.resolve };
    try {
      // Certificates arrive as a separate message, refusals as a reply.
      const frame = await Promise.race([pushed.promise, channel.request(request, this.#answerMs)]);
      if (frame.contentType !== contentType.enrollmentCertsResponse) {
        throw new FrontdoorError(
          'badGateway',
          'renewal-refused',
          `the controller refused: ${refusalOf(frame) ?? '?'}`,
        );
      }
      const { clientCertPem, serverCertPem } = ctrlMessages.enrollmentCertsResponse.decode(frame.body);
      return { clientPem: clientCertPem, serverPem: serverCertPem };
    } finally {
      this.#awaited = undefined;
    }
  }

  /**
   * A controller that does not answer may have received the confirmation. The new certificates are kept, since they
   * work in both cases.
   */
  async #confirm(channel: Channel, clientCertPem: string): Promise<string | undefined> {
    const request = ctrlMessages.enrollmentExtendRouterVerify.frame({ clientCertPem });
    try {
      return refusalOf(await channel.request(request, this.#answerMs));
    } catch (error) {
      if (!(error instanceof ChannelError)) throw error;
      this.#options.log.warn(
        { err: messageOf(error) },
        'the controller did not confirm the renewed certificates',
      );
      return undefined;
    }
  }

  get #answerMs(): number {
    return this.#options.answerMs ?? ANSWER_MS;
  }

  /** Unix milliseconds at which the first of the certificates should be renewed. */
  #dueMs(): number {
    if (this.#trusted.isReplaced) return 0;
    const { client, server } = this.#options.identity();
    return Math.min(renewalAtMs(client.cert), renewalAtMs(server.default.cert));
  }

  #nextCheckMs(): number {
    return Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, this.#dueMs() - this.#options.clock.nowMs()));
  }

  #plan(waitMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => this.#checkNow(), waitMs);
    this.#timer.unref();
  }

  #checkNow(): void {
    this.check().then(
      () => {
        this.#backOff.reset();
        this.#plan(this.#nextCheckMs());
      },
      (error: unknown) => {
        const retryMs = this.#backOff.next();
        const { client } = this.#options.identity();
        const until = new X509Certificate(client.cert).validTo;
        this.#options.log.warn(
          { err: messageOf(error), until, retryMs },
          'certificates could not be renewed',
        );
        this.#plan(retryMs);
      },
    );
  }
}

/** Returns undefined if the answer is positive. */
function refusalOf(answer: Frame): string | undefined {
  if (answer.contentType !== contentType.error) return `unexpected ${messageName(answer.contentType)}`;
  const { code, message } = ctrlMessages.enrollmentVerified.decode(answer.body);
  return code === '' ? undefined : `${code} ${message}`.trim().slice(0, 300);
}
