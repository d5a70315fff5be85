/** Controllers for tests of one part: they record frames from the part, and deliver frames from the test to it. */
import type { Channel } from '#net/channel';
import {
  FrameHeaders,
  HeaderWriter,
  HEARTBEAT_TYPE,
  headerId,
  makeFrame,
  RESULT_TYPE,
  type Frame,
} from '#wire';
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
  /** Reads of its channel. A test increases it for a controller that responds. */
  reads = 0;
  /** Called for each heartbeat from the part. */
  onHeartbeat: (() => void) | undefined;
  /** The reason with which the part closed the channel. */
  closeReason: string | undefined;
  /** All frames in order, including requests and replies. */
  readonly sent: Frame[] = [];
  readonly requests: PendingRequest[] = [];

  constructor(id: string) {
    this.id = id;
    const isClosed = (): boolean => this.closeReason !== undefined;
    const readCount = (): number => this.reads;
    const take = (frame: Frame): boolean => {
      this.sent.push(frame);
      if (frame.contentType === HEARTBEAT_TYPE) this.onHeartbeat?.();
      return true;
    };
    this.channel = {
      id: `channel-${id}`,
      peer: { id, hello: FrameHeaders.empty, fingerprint: '', address: 'test' },
      get isClosed() {
        return isClosed();
      },
      get reads() {
        return readCount();
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

  suspect(): void {
    this.isResponsive = false;
  }

  sentOf(type: number): Frame[] {
    return this.sent.filter(({ contentType }) => contentType === type);
  }

  /** Answers the oldest pending request with a Result. */
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

/** Passes a frame from this controller to the part's handler. */
export function receive(handlers: CtrlHandlers, frame: Frame, from: Controller): void {
  handlers.get(frame.contentType)!(frame, from);
}
