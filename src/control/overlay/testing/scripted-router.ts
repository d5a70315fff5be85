/** A router that a test plays over a real control channel. */
import type { Channel } from '#net/channel';
import { contentType, makeFrame, messageName, type Frame } from '#wire';
import { encodeRouteResult, type RouteResult } from '#wire/circuits';
import { ctrlMessages, type CtrlBody, type CtrlMessageName } from '#wire/ctrl';

const WAIT_MS = 30_000;

/** A control channel on which the test acts as a router. Frames are taken in their order, by type. */
export class ScriptedRouter {
  readonly id: string;
  readonly channel: Channel;
  readonly #frames: Frame[] = [];
  #wake: () => void = () => {};
  closeReason: string | undefined;

  constructor(id: string, channel: Channel) {
    this.id = id;
    this.channel = channel;
    channel.handle({
      onFrame: (frame) => {
        this.#frames.push(frame);
        this.#wake();
      },
      onClose: (reason) => {
        this.closeReason = reason;
        this.#wake();
      },
    });
  }

  /** Returns the next frame of a type; earlier frames of other types are kept. */
  async frame(type: number): Promise<Frame> {
    return this.#until(() => {
      const index = this.#frames.findIndex((frame) => frame.contentType === type);
      return index < 0 ? undefined : this.#frames.splice(index, 1)[0];
    }, messageName(type));
  }

  async next<Name extends CtrlMessageName>(name: Name): Promise<CtrlBody<Name>> {
    const codec = ctrlMessages[name];
    const frame = await this.frame(codec.contentType);
    return codec.decode(frame.body) as CtrlBody<Name>;
  }

  async closed(): Promise<string> {
    return this.#until(() => this.closeReason, 'close');
  }

  /** Returns the number of frames of a type that were not taken. */
  waiting(type: number): number {
    return this.#frames.filter((frame) => frame.contentType === type).length;
  }

  send(frame: Frame): void {
    this.channel.send(frame);
  }

  /** Resolves when the controller has handled everything that was sent before. */
  async settle(): Promise<void> {
    await this.channel.request(makeFrame(contentType.ping), WAIT_MS);
  }

  /** Answers the next Route and returns it. */
  async route(result: Partial<RouteResult> = {}): Promise<CtrlBody<'route'>> {
    const frame = await this.frame(contentType.route);
    const route = ctrlMessages.route.decode(frame.body);
    const { circuitId, attempt } = route;
    const answer = {
      circuitId,
      attempt,
      isSuccess: true,
      error: '',
      errorCode: 0,
      peerData: new Map(),
      ...result,
    };
    this.send(encodeRouteResult(frame, answer));
    return route;
  }

  /** Answers the next request to validate terminators, and returns it. */
  async validate(valid: Readonly<Record<string, boolean>>): Promise<CtrlBody<'validateTerminatorsV2'>> {
    const frame = await this.frame(contentType.validateTerminatorsV2);
    this.answerValidation(frame, valid);
    return ctrlMessages.validateTerminatorsV2.decode(frame.body);
  }

  /** `valid`: by the ids of terminators. */
  answerValidation(request: Frame, valid: Readonly<Record<string, boolean>>): void {
    const { terminators } = ctrlMessages.validateTerminatorsV2.decode(request.body);
    const states = Object.fromEntries(
      terminators.map(({ id, marker }) => [id, { valid: valid[id] === true, marker }]),
    );
    this.channel.reply(request, ctrlMessages.validateTerminatorsV2Response.frame({ states }));
  }

  async #until<T>(take: () => T | undefined, what: string): Promise<T> {
    const deadline = AbortSignal.timeout(WAIT_MS);
    for (;;) {
      const found = take();
      if (found !== undefined) return found;
      if (deadline.aborted) throw new Error(`router ${this.id}: no ${what} within ${String(WAIT_MS)} ms`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      deadline.addEventListener('abort', () => resolve(), { once: true });
      await promise;
    }
  }
}
