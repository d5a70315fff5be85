/**
 * One administrator at a WebSocket: frames of OpenZiti's channels, one in each message, without a hello. Requests subscribe to
 * events and traces, each of which is a frame of its own, have one answer (`fabric-requests.ts`), or one and results
 * (`fabric-validation.ts`). A reader that falls too far
 * behind, or violates the protocol, is cut.
 */
import { messageOf, textOf, type Clock, type Log } from '#base';
import type { WebSocketMessages } from '#net/http';
import {
  contentType,
  encodeFrame,
  FrameDecoder,
  headerId,
  HeaderWriter,
  makeFrame,
  makeResult,
  messageName,
  type Frame,
} from '#wire';
import type { FabricEvents, FabricEventTable } from '../../overlay/model/mod.ts';
import type { CountSubscription, EventKind, EventOrigin, EventText } from './event-text.ts';
import { subscriptionsOf } from './fabric-event-view.ts';
import { answerOf, type FabricRequestParts } from './fabric-requests.ts';
import type { FabricValidations } from './fabric-validation.ts';
import { tracesOf } from './trace-selection.ts';

/** A request with its headers. */
export const MAX_REQUEST_BYTES = 65_536;
/** Requests of one connection. */
const MAX_REQUESTS = 8;
/** Circuits in the reports, and other events, that wait for the reader. One report alone may have more. */
const MAX_WAITING = 50_000;
/** A trace or a result counts as another event for each of these, so that it is bounded by its bytes, too. */
const BYTES_PER_EVENT = 128;
const MAX_SOCKET_BYTES = 262_144;
const LIMITS = { maxHeadersBytes: 4_096, maxBodyBytes: MAX_REQUEST_BYTES };

export interface FabricEventConnectionOptions extends FabricRequestParts {
  readonly messages: WebSocketMessages;
  readonly events: FabricEvents;
  readonly validations: FabricValidations;
  readonly controllerId: string;
  /** Counts all entities. */
  readonly counts: () => Promise<Readonly<Record<string, number>>>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Waiting {
  readonly count: number;
  readonly frames: Iterator<Frame>;
}

export class FabricEventConnection {
  readonly #options: FabricEventConnectionOptions;
  readonly #decoder = new FrameDecoder(LIMITS);
  /** Frames are made when it is their turn, so that waiting events share their memory with other readers. */
  readonly #waiting: Waiting[] = [];
  #waitingCount = 0;
  readonly #ends: (() => void)[] = [];
  #sequence = 0;
  #requests = 0;
  #isClosed = false;

  constructor(options: FabricEventConnectionOptions) {
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  onMessage(bytes: Uint8Array): void {
    if (this.#isClosed) return;
    const fault = this.#decoder.push(bytes, (frame) => this.#onFrame(frame));
    if (fault !== undefined) this.cut(`malformed frame: ${fault}`);
    else if (this.#decoder.bufferedBytes > 0) this.cut('a message is not one whole frame');
  }

  /** Ends the connection; logs the reason if there is one. */
  cut(reason?: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (reason !== undefined) this.#options.log.warn({ reason }, 'stream of events ended');
    for (const end of this.#ends.splice(0)) end();
    this.#waiting.length = 0;
    this.#options.messages.destroy();
  }

  #onFrame(frame: Frame): void {
    if (this.#isClosed) return;
    // What needs no answer.
    if (frame.contentType === contentType.result || frame.contentType === contentType.heartbeat) return;
    this.#requests += 1;
    if (this.#requests > MAX_REQUESTS) {
      this.cut(`more than ${MAX_REQUESTS} requests`);
      return;
    }
    if (frame.contentType === contentType.streamEventsRequest) this.#subscribe(frame);
    else if (frame.contentType === contentType.streamTracesRequest) this.#trace(frame);
    else void this.#answer(frame);
  }

  async #answer(request: Frame): Promise<void> {
    try {
      if (await this.#options.validations.run(request, this.#take)) return;
      const answer = await answerOf(this.#options, request);
      const refusal = `${messageName(request.contentType)} is not supported by this controller`;
      if (!this.#isClosed) this.#send(answer ?? makeResult(request, false, refusal));
    } catch (error) {
      this.cut(messageOf(error));
    }
  }

  /** Takes a frame of a validation. */
  readonly #take = (frame: Frame): boolean => {
    if (!this.#isClosed) this.#enqueue({ count: eventsOf(frame.body.length), frames: [frame].values() });
    return !this.#isClosed;
  };

  /** As with OpenZiti, a request without a fault has no answer but traces. */
  #trace(request: Frame): void {
    const selects = tracesOf(request.body);
    if (selects === undefined) {
      this.cut('malformed request for traces');
      return;
    }
    const end = this.#options.events.listen('trace', ({ contentType: type, body }) => {
      if (!selects(type)) return;
      this.#enqueue({
        count: eventsOf(body.length),
        frames: [makeFrame(contentType.streamTracesEvent, { body })].values(),
      });
    });
    this.#ends.push(end);
  }

  #subscribe(frame: Frame): void {
    const subscriptions = subscriptionsOf(textOf(frame.body));
    if (typeof subscriptions === 'string') {
      this.#send(makeResult(frame, false, subscriptions));
      return;
    }
    this.#send(makeResult(frame, true, 'success'));
    const { events } = this.#options;
    for (const subscription of subscriptions) {
      if (subscription.kind === 'entityCount') {
        this.#count(subscription);
        continue;
      }
      const view = subscription.view as (event: unknown, source: object) => Iterator<EventText>;
      this.#ends.push(
        events.listen(subscription.kind, (event) => {
          this.#enqueue({ count: countOf(event), frames: framesOf(view(event, this.#origin())) });
        }),
      );
    }
  }

  #origin(): EventOrigin {
    const { controllerId, clock } = this.#options;
    return { controllerId, nowMs: clock.nowMs() };
  }

  /** Sends the counts now and in intervals. One that takes longer than an interval skips the next. */
  #count({ intervalMs, view }: CountSubscription): void {
    const { counts, log } = this.#options;
    let isCounting = false;
    const count = async (): Promise<void> => {
      if (isCounting) return;
      isCounting = true;
      try {
        const found = await counts();
        if (!this.#isClosed)
          this.#enqueue({ count: 1, frames: framesOf([view(found, this.#origin())].values()) });
      } catch (error) {
        log.warn({ err: error }, 'entities cannot be counted');
      } finally {
        isCounting = false;
      }
    };
    const timer = setInterval(() => void count(), intervalMs);
    timer.unref();
    this.#ends.push(() => clearInterval(timer));
    void count();
  }

  #enqueue(waiting: Waiting): void {
    if (this.#waitingCount > 0 && this.#waitingCount + waiting.count > MAX_WAITING) {
      this.cut('the reader is too slow');
      return;
    }
    this.#waiting.push(waiting);
    this.#waitingCount += waiting.count;
    this.#flush();
  }

  readonly #flush = (): void => {
    const { messages } = this.#options;
    let sent = 0;
    while (sent < this.#waiting.length && messages.queuedBytes < MAX_SOCKET_BYTES) {
      const { count, frames } = this.#waiting[sent]!;
      const { done, value } = frames.next();
      if (done === true) {
        this.#waitingCount -= count;
        sent += 1;
        continue;
      }
      this.#send(value);
    }
    this.#waiting.splice(0, sent);
  };

  #send(frame: Frame): void {
    this.#sequence += 1;
    frame.sequence = this.#sequence;
    this.#options.messages.send(encodeFrame(frame), this.#flush);
  }
}

function* framesOf(texts: Iterator<EventText>): Generator<Frame, void> {
  for (let next = texts.next(); next.done !== true; next = texts.next()) {
    const { type, text } = next.value;
    const headers = new HeaderWriter().text(headerId.streamEvents.eventType, type);
    yield makeFrame(contentType.streamEventsEvent, { headers, body: text });
  }
}

function eventsOf(bytes: number): number {
  return 1 + Math.floor(bytes / BYTES_PER_EVENT);
}

function countOf(event: FabricEventTable[EventKind]): number {
  if ('circuits' in event) return event.circuits.length;
  return 'metrics' in event ? event.metrics.length : 1;
}
