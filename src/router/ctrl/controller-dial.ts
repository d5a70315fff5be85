/**
 * Dials one endpoint of a controller, with retries and back-off, as long as the endpoint is part of the network.
 * `ControllerSet` examines the peer and its hello.
 */
import { BackOff, FrontdoorError, messageOf, type Log, type WorkerPool } from '#base';
import type { Channel } from '#net/channel';

/** `standby`: another endpoint of the same controller is connected, so this one waits. */
export type Reception = 'taken' | 'standby' | 'refused';

export interface ControllerDialOptions {
  /** The endpoint as `tls:host:port`. */
  readonly endpoint: string;
  /** Limits the dials in progress and waiting, over all endpoints. */
  readonly gate: WorkerPool;
  readonly log: Log;
  dial(endpoint: string, signal: AbortSignal): Promise<Channel>;
  /** Takes over the channel, or closes it. */
  onChannel(channel: Channel, dial: ControllerDial): Reception;
  /** Milliseconds of a monotonic clock; by default that of the process. */
  readonly nowMs?: () => number;
}

/** OpenZiti's back-off goes up to 5 min. Ours is shorter, to reconnect soon after a controller's restart. */
const REDIAL = { minMs: 50, maxMs: 5_000, factor: 1.5, jitter: 0.3 };
/** A channel that closes sooner does not reset the back-off. */
const STEADY_MS = 5_000;

export class ControllerDial {
  readonly endpoint: string;
  readonly #options: ControllerDialOptions;
  readonly #backOff = new BackOff(REDIAL);
  readonly #stop = new AbortController();
  #channel: Channel | undefined;
  #openedMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStandby = false;

  constructor(options: ControllerDialOptions) {
    this.endpoint = options.endpoint;
    this.#options = options;
    this.#offer();
  }

  get channel(): Channel | undefined {
    return this.#channel;
  }

  /** Dials again, because the controller's other endpoint has disconnected. */
  wake(): void {
    if (!this.#isStandby || this.#stop.signal.aborted) return;
    this.#isStandby = false;
    this.#redial();
  }

  close(reason: string): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#channel?.close(reason);
  }

  /** Called when the accepted channel has closed. */
  onClosed(reason: string): void {
    this.#channel = undefined;
    if (this.#stop.signal.aborted) return;
    if (this.#nowMs() - this.#openedMs >= STEADY_MS) this.#backOff.reset();
    this.#options.log.warn({ controller: this.endpoint, reason }, 'controller channel closed');
    this.#redial();
  }

  #offer(): void {
    if (this.#options.gate.offer(() => this.#dial())) return;
    this.#options.log.debug({ controller: this.endpoint }, 'too many controllers are being dialed');
    this.#redial();
  }

  async #dial(): Promise<void> {
    const { signal } = this.#stop;
    if (signal.aborted) return;
    const { endpoint, log, onChannel } = this.#options;
    try {
      const channel = await this.#options.dial(endpoint, signal);
      if (signal.aborted) {
        channel.close('the router no longer wants this controller');
        return;
      }
      this.#openedMs = this.#nowMs();
      this.#channel = channel;
      const reception = onChannel(channel, this);
      if (reception === 'taken') return;
      this.#channel = undefined;
      if (reception === 'standby') this.#isStandby = true;
      else this.#redial();
    } catch (error) {
      if (signal.aborted) return;
      const retryInMs = this.#redial();
      const fields = { controller: endpoint, retryInMs };
      const isRefusal = error instanceof FrontdoorError && error.code === 'channel-refused';
      if (isRefusal) log.error({ ...fields, reason: error.message }, 'the controller refuses this router');
      else log.warn({ ...fields, err: messageOf(error) }, 'cannot reach controller');
    }
  }

  #nowMs(): number {
    return this.#options.nowMs?.() ?? performance.now();
  }

  #redial(): number {
    const delayMs = this.#backOff.next();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#offer(), delayMs);
    return delayMs;
  }
}
