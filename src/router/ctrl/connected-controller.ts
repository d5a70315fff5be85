/** A controller with an open channel: the content of its hello, and its response time. */
import type { Channel } from '#net/channel';
import { makeFrame, RESULT_TYPE } from '#wire';
import { decodeControllerHello } from '#wire/ctrl';
import type { Controller } from './controllers.ts';

const NEW_MS = 5_000;

export class ConnectedController implements Controller {
  readonly id: string;
  readonly version: string;
  readonly channel: Channel;
  /** The dialed endpoint as `tls:host:port`; undefined if the controller dialed this router. */
  readonly endpoint: string | undefined;
  /** Round trip of the last heartbeat; undefined before the first answer. */
  latencyNs: number | undefined;
  lastAnswerMs = performance.now();
  /** True after the controller announced its shutdown. Other connected controllers have precedence. */
  isStopping = false;
  readonly #connectedMs = performance.now();
  /** The channel's reads when it was suspected. */
  #suspectedAtReads: number | undefined;

  private constructor(channel: Channel, version: string, endpoint: string | undefined) {
    this.id = channel.peer.id;
    this.version = version;
    this.channel = channel;
    this.endpoint = endpoint;
  }

  /** Returns the reason as text when the hello is incomplete. */
  static of(channel: Channel, endpoint: string | undefined): ConnectedController | string {
    if (channel.peer.id === '') return 'the controller did not say who it is';
    const hello = decodeControllerHello(makeFrame(RESULT_TYPE, { headers: channel.peer.hello }));
    return hello === undefined
      ? 'the controller did not say its version'
      : new ConnectedController(channel, hello.version, endpoint);
  }

  /**
   * True while the controller is so new that other routers may not have connected to it. It may not know every path.
   */
  get isNew(): boolean {
    return performance.now() - this.#connectedMs < NEW_MS;
  }

  get isResponsive(): boolean {
    const { isResponsive, reads } = this.channel;
    return isResponsive && reads !== this.#suspectedAtReads;
  }

  suspect(): void {
    this.#suspectedAtReads = this.channel.reads;
  }

  onLatency(nanoseconds: number): void {
    this.latencyNs = nanoseconds;
    this.lastAnswerMs = performance.now();
  }

  onFrame(): void {
    this.lastAnswerMs = performance.now();
  }
}
