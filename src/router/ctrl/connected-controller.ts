/** A controller while its channel is open: the content of its hello, and how fast it answers. */
import type { Channel } from '#net';
import { makeFrame, RESULT_TYPE } from '#wire';
import { decodeControllerHello } from '#wire/ctrl';
import type { Controller } from './controllers.ts';

const NEW_MS = 5_000;

export class ConnectedController implements Controller {
  readonly id: string;
  readonly version: string;
  readonly channel: Channel;
  /** The endpoint that was dialed, `tls:host:port`; undefined: the controller dialed this router. */
  readonly endpoint: string | undefined;
  /** Round trip of the last heartbeat; undefined before the first answer. */
  latencyNs: number | undefined;
  lastAnswerMs = performance.now();
  /** The controller announced that it ends soon: another one is asked, while there is one. */
  isStopping = false;
  readonly #connectedMs = performance.now();

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

  /** Other routers may not have come to it yet: it may not know every way. */
  get isNew(): boolean {
    return performance.now() - this.#connectedMs < NEW_MS;
  }

  get isResponsive(): boolean {
    return this.channel.isResponsive;
  }

  onLatency(nanoseconds: number): void {
    this.latencyNs = nanoseconds;
    this.lastAnswerMs = performance.now();
  }

  onFrame(): void {
    this.lastAnswerMs = performance.now();
  }
}
