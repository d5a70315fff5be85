/** Simulated controllers for a part of a router. Each answers over a memory channel. */
import { silentLog } from '#base';
import { openMemoryChannel, type Channel } from '#net/channel';
import { FrameHeaders, makeResult, type Frame } from '#wire';
import { ctrlMessages, type CtrlBody, type CtrlMessageName } from '#wire/ctrl';
import type { Controller } from '../../ctrl/controllers.ts';
import type { ControllerList } from '../../testing/controller-list.ts';

/** One controller's end of its channels to routers. */
export class LinkController {
  readonly id: string;
  /** All frames from routers except requests to verify a router, oldest first. */
  readonly frames: Frame[] = [];
  /** The requests for verification that it received. */
  readonly verified: CtrlBody<'verifyRouter'>[] = [];
  /** Returns its answer, or undefined for no answer. */
  judge: (request: CtrlBody<'verifyRouter'>) => boolean | undefined = () => true;
  #ends: { readonly near: Channel; readonly far: Channel; readonly controller: Controller }[] = [];

  constructor(id = 'ctrl') {
    this.id = id;
  }

  connect(controllers: ControllerList): Controller {
    const peerOf = (id: string) => ({ id, hello: FrameHeaders.empty, fingerprint: '', address: 'memory' });
    const [near, far] = openMemoryChannel(
      { id: 'near', peer: peerOf(this.id), log: silentLog },
      { id: 'far', peer: peerOf('router'), log: silentLog },
    );
    near.handle({ onFrame: () => {} });
    far.handle({ onFrame: (frame) => this.#onFrame(frame, far) });
    const controller: Controller = {
      id: this.id,
      version: 'v1.7.2',
      channel: near,
      isResponsive: true,
      suspect: () => {},
    };
    this.#ends.push({ near, far, controller });
    controllers.add(controller);
    return controller;
  }

  disconnect(controllers: ControllerList, controller: Controller): void {
    controller.channel.close('the test took it away');
    controllers.remove(controller);
  }

  /** Returns the bodies of all received messages of a type. */
  bodies<Name extends CtrlMessageName>(name: Name): CtrlBody<Name>[] {
    const codec = ctrlMessages[name];
    return this.frames
      .filter(({ contentType }) => contentType === codec.contentType)
      .map(({ body }) => codec.decode(body) as CtrlBody<Name>);
  }

  close(): void {
    for (const { near, far } of this.#ends) {
      near.close('the test ends');
      far.close('the test ends');
    }
    this.#ends = [];
  }

  #onFrame(frame: Frame, channel: Channel): void {
    if (frame.contentType !== ctrlMessages.verifyRouter.contentType) {
      this.frames.push(frame);
      return;
    }
    const request = ctrlMessages.verifyRouter.decode(frame.body);
    this.verified.push(request);
    const isGood = this.judge(request);
    if (isGood !== undefined) channel.send(makeResult(frame, isGood, isGood ? 'router verified' : 'no'));
  }
}
