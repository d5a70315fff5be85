/**
 * The router's connection to one controller: dialed, kept alive, dialed again with back-off for as long as the
 * router runs. What the messages mean is the business of `CtrlHandlers`.
 */
import { BackOff, messageOf, type Log } from '#base';
import { dialChannel, type Channel, type TlsIdentity } from '#net';
import { formatAddress, versionHeader, type Frame, type OverlayAddress } from '#wire';
import { encodeRouterHello } from '#wire/ctrl';

export interface CtrlLinkOptions {
  readonly routerId: string;
  readonly endpoint: OverlayAddress;
  readonly localAddress?: string;
  readonly tls: () => TlsIdentity;
  readonly connectTimeoutMs: number;
  readonly heartbeat: { readonly sendIntervalMs: number; readonly closeAfterMs: number };
  readonly log: Log;
  onConnected(link: CtrlLink): void;
  onFrame(frame: Frame, link: CtrlLink): void;
  onDisconnected(link: CtrlLink): void;
}

/** OpenZiti backs off to 5 min; ours must be back soon after a controller's restart. */
const REDIAL = { minMs: 50, maxMs: 5_000, factor: 1.5, jitter: 0.3 };

export class CtrlLink {
  readonly #options: CtrlLinkOptions;
  readonly #backOff = new BackOff(REDIAL);
  readonly #stop = new AbortController();
  #channel: Channel | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CtrlLinkOptions) {
    this.#options = options;
    void this.#dial();
  }

  get channel(): Channel | undefined {
    return this.#channel;
  }

  /** The controller's id, while connected. */
  get controllerId(): string {
    return this.#channel?.peer.id ?? '';
  }

  close(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#channel?.close('router is stopping');
  }

  async #dial(): Promise<void> {
    const { endpoint, localAddress, log, routerId } = this.#options;
    const controller = formatAddress(endpoint);
    try {
      const channel = await dialChannel({
        host: endpoint.host,
        port: endpoint.port,
        tls: this.#options.tls(),
        alpn: 'ziti-ctrl',
        helloId: routerId,
        helloHeaders: encodeRouterHello(versionHeader(process.platform, process.arch), []),
        timeoutMs: this.#options.connectTimeoutMs,
        heartbeat: this.#options.heartbeat,
        log,
        signal: this.#stop.signal,
        ...(localAddress === undefined ? {} : { localAddress }),
      });
      if (this.#stop.signal.aborted) {
        channel.close('router is stopping');
        return;
      }
      this.#backOff.reset();
      this.#channel = channel;
      log.info({ controller, controllerId: channel.peer.id }, 'connected to controller');
      channel.handle({
        onFrame: (frame) => this.#options.onFrame(frame, this),
        onClose: (reason) => this.#onClose(controller, reason),
      });
      if (!channel.isClosed) this.#options.onConnected(this);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      const delayMs = this.#backOff.next();
      log.warn({ controller, err: messageOf(error), retryInMs: delayMs }, 'cannot reach controller');
      this.#redialIn(delayMs);
    }
  }

  #onClose(controller: string, reason: string): void {
    this.#options.onDisconnected(this);
    this.#channel = undefined;
    if (this.#stop.signal.aborted) return;
    this.#options.log.warn({ controller, reason }, 'controller channel closed');
    this.#redialIn(this.#backOff.next());
  }

  #redialIn(delayMs: number): void {
    this.#timer = setTimeout(() => void this.#dial(), delayMs);
  }
}
