/** Controllers for tests of one part: what it sends to each is kept, what they would send is handed to it. */
import type { Channel } from '#net';
import { FrameHeaders, HeaderWriter, headerId, makeFrame, RESULT_TYPE, type Frame } from '#wire';
import { ControllerList } from '../../testing/controller-list.ts';
import type { Controller, CtrlHandlers } from '../controllers.ts';

interface PendingRequest {
  readonly frame: Frame;
  readonly answer: (frame: Frame) => void;
  readonly fail: (error: Error) => void;
}

export class FakeController implements Controller {
  readonly id: string;
  readonly version = 'v1.7.2';
  readonly channel: Channel;
  isResponsive = true;
  /** Why the part closed the channel. */
  closeReason: string | undefined;
  /** All frames in order, requests and replies among them. */
  readonly sent: Frame[] = [];
  readonly requests: PendingRequest[] = [];

  constructor(id: string) {
    this.id = id;
    const isClosed = (): boolean => this.closeReason !== undefined;
    const take = (frame: Frame): boolean => this.sent.push(frame) > 0;
    this.channel = {
      id: `channel-${id}`,
      peer: { id, hello: FrameHeaders.empty, fingerprint: '', address: 'test' },
      get isClosed() {
        return isClosed();
      },
      send: take,
      reply: (_request: Frame, frame: Frame) => take(frame),
      request: (frame: Frame) => {
        take(frame);
        return new Promise<Frame>((answer, fail) => void this.requests.push({ frame, answer, fail }));
      },
      close: (reason: string) => void (this.closeReason ??= reason),
    } as unknown as Channel;
  }

  sentOf(type: number): Frame[] {
    return this.sent.filter(({ contentType }) => contentType === type);
  }

  /** Answers the oldest request that waits with a Result. */
  answerResult(isSuccess: boolean): void {
    const headers = new HeaderWriter().bool(headerId.channel.resultSuccess, isSuccess);
    this.requests.shift()!.answer(makeFrame(RESULT_TYPE, { headers }));
  }
}

export class FakeControllers extends ControllerList<FakeController> {
  connect(id: string): FakeController {
    const controller = new FakeController(id);
    this.add(controller);
    return controller;
  }

  disconnect(controller: FakeController): void {
    controller.closeReason ??= 'gone';
    this.remove(controller);
  }
}

/** What the part does with a frame that this controller sends. */
export function receive(handlers: CtrlHandlers, frame: Frame, from: Controller): void {
  handlers.get(frame.contentType)!(frame, from);
}
