/** A controller for tests, connected to a router's parts over a memory channel. */
import { silentLog } from '#base';
import { openMemoryChannel, type Channel, type ChannelPeer } from '#net/channel';
import { contentType, FrameHeaders, messageName, type Frame } from '#wire';
import { decodeRouteResult, type RouteResult } from '#wire/circuits';
import { ctrlMessages, type CtrlBody, type CtrlInit, type CtrlMessageName } from '#wire/ctrl';
import type { Controller, CtrlHandlers } from '../ctrl/controllers.ts';
import { ControllerList } from './controller-list.ts';
import { until } from '../../../test/support/deadline.ts';

/** Controllers that a test connects and disconnects. */
export class MemoryControllers extends ControllerList {
  connect(id: string): MemoryController {
    const peer = (of: string): ChannelPeer => ({
      id: of,
      hello: FrameHeaders.empty,
      fingerprint: '',
      address: 'memory',
    });
    const [own, far] = openMemoryChannel(
      { id, log: silentLog, peer: peer(id) },
      { id, log: silentLog, peer: peer('router') },
    );
    const controller: Controller = {
      id,
      version: 'v1.7.2',
      channel: own,
      isResponsive: true,
      suspect: () => {},
    };
    own.handle({ onFrame: () => {} });
    this.add(controller);
    return new MemoryController(controller, far);
  }

  disconnect({ controller }: MemoryController): void {
    this.remove(controller);
  }

  /** Closes the channels. This ends requests that a test leaves without an answer, which wait for half a minute. */
  close(): void {
    for (const { channel } of this.all()) channel.close('the test is over');
  }
}

/** The test's side of one controller. */
export class MemoryController {
  readonly controller: Controller;
  /** Received frames that no request was waiting for. */
  readonly frames: Frame[] = [];
  /** Answers to requests, by their type. */
  readonly answers = new Map<number, (request: Frame, channel: Channel) => void>();
  #sequence = 1_000;

  constructor(controller: Controller, far: Channel) {
    this.controller = controller;
    far.handle({
      onFrame: (frame) => {
        const answer = this.answers.get(frame.contentType);
        if (answer === undefined) this.frames.push(frame);
        else answer(frame, far);
      },
    });
  }

  /** Delivers a frame to the part that handles its type. */
  say(handlers: CtrlHandlers, frame: Frame): Frame {
    frame.sequence = this.#sequence;
    this.#sequence += 1;
    handlers.get(frame.contentType)!(frame, this.controller);
    return frame;
  }

  async next<Name extends CtrlMessageName>(name: Name): Promise<CtrlBody<Name>> {
    const codec = ctrlMessages[name];
    const frame = await this.#take(
      (it) => it.contentType === codec.contentType,
      messageName(codec.contentType),
    );
    return codec.decode(frame.body) as CtrlBody<Name>;
  }

  /** Sends a Route and resolves with the answer. */
  async route(handlers: CtrlHandlers, route: CtrlInit<'route'>): Promise<RouteResult> {
    const { sequence } = this.say(handlers, ctrlMessages.route.frame(route));
    const isAnswer = (it: Frame): boolean =>
      it.contentType === contentType.routeResult && it.headers.u32(1) === sequence;
    return decodeRouteResult(await this.#take(isAnswer, `RouteResult of ${String(route.circuitId)}`));
  }

  unroute(handlers: CtrlHandlers, circuitId: string, now: boolean): void {
    this.say(handlers, ctrlMessages.unroute.frame({ circuitId, now }));
  }

  async #take(isIt: (frame: Frame) => boolean, what: string): Promise<Frame> {
    await until(
      what,
      () => this.frames.findIndex(isIt),
      (at) => at >= 0,
    );
    return this.frames.splice(this.frames.findIndex(isIt), 1)[0]!;
  }
}
