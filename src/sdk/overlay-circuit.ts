/**
 * A circuit whose xgress end is in this process: it handles window, retransmission and order, and the router only
 * forwards frames. It ends cleanly only after both directions have ended; any other end is reported as a broken
 * circuit.
 */
import { failAlone, memoryShares } from '#net';
import {
  PAYLOAD_FLAGS,
  PAYLOAD_TYPE,
  STREAM_OVERHEAD_BYTES,
  CircuitBudget,
  Xgress,
  XGRESS_DEFAULTS,
  type DataFrame,
  type XgressOptions,
  type XgressPort,
} from '#wire/xgress';
import type { CircuitCarrier } from './circuit-carrier.ts';
import { CircuitError, type Circuit } from './circuit.ts';
import { sealedPieceBytes, type CircuitEncryption } from './circuit-encryption.ts';
import { PayloadMemory } from './payload-memory.ts';
import { LONG_FROM_BYTES, payloadRoomOf, type PayloadRoom } from './payload-size.ts';

/**
 * A quarter of OpenZiti's window, on a path whose round trip is short. Data on the way and unread data of a slow reader fit into
 * the far end's receive buffer together, so that a slow reader causes no retransmission, and a stalled one little memory.
 */
const OPTIONS: XgressOptions = {
  ...XGRESS_DEFAULTS,
  txPortalStartSize: XGRESS_DEFAULTS.rxBufferSize / 4,
  txPortalMaxSize: XGRESS_DEFAULTS.rxBufferSize / 4,
  allowsLateAcknowledgements: true,
};

/** At a router that may drop frames, each end looks for the gaps, and needs acknowledgements at once. */
const LOSSY_OPTIONS: XgressOptions = { ...OPTIONS, isLossy: true, allowsLateAcknowledgements: false };

/** How long the end of a circuit waits for the acknowledgement of its own end, when all data was acknowledged. */
const END_WAIT_MS = 2_000;
/** How long it waits for that of data, which a reader that pauses gives late. */
const DATA_WAIT_MS = 300_000;
/**
 * How long a circuit that ended cleanly acknowledges repetitions when its own acknowledgements may have been dropped. The
 * router ends the other end as soon as this one closes, and without them that end would count as broken.
 */
const LINGER_MS = 2_000;

/** For all circuits in this process together. */
const payloadMemory = new PayloadMemory(memoryShares.unacknowledgedBytes);
const giveBack = (data: Uint8Array): void => payloadMemory.give(data);
const budget = new CircuitBudget(memoryShares.unreadBytes, memoryShares.unacknowledgedBytes);

export class OverlayCircuit implements Circuit {
  readonly id: string;
  readonly connId: number;
  readonly isTerminator: boolean;
  /** The controller that made it; empty where its router does not name it. */
  controllerId = '';
  onData: Circuit['onData'] = () => {};
  onEnd: Circuit['onEnd'] = () => {};
  onDrain: Circuit['onDrain'] = () => {};
  onClose: Circuit['onClose'] = () => {};
  isDelivered: boolean | undefined;
  readonly #carrier: CircuitCarrier<OverlayCircuit>;
  readonly #xgress: Xgress;
  /** Undefined: both directions are in clear. */
  readonly #encryption: CircuitEncryption | undefined;
  readonly #room: PayloadRoom;
  /** Undefined where the memory of acknowledged payloads is not used again. */
  readonly #memory: PayloadMemory | undefined;
  /** The sealed message that was opened last, if its text has memory of its own. */
  #opened: Uint8Array | undefined;
  /** Whether the overlay has removed the circuit while bytes wait here for a paused reader. */
  #isGone = false;
  #isOver = false;
  /** When a circuit that has ended cleanly leaves the channel; 0 unless it lingers. */
  #lingersUntilMs = 0;
  /** Since when no acknowledgement has come after both directions ended; 0 before. */
  #awaitedSinceMs = 0;
  #isLeaving = false;
  #heard = 0;
  /** Whether it was never resumed, so that the owner may not have set its handlers. */
  #isNew = true;
  #closedWhileNew: { readonly error: CircuitError | undefined } | undefined;

  constructor(
    id: string,
    connId: number,
    isTerminator: boolean,
    carrier: CircuitCarrier<OverlayCircuit>,
    encryption?: CircuitEncryption,
  ) {
    this.id = id;
    this.connId = connId;
    this.isTerminator = isTerminator;
    this.#carrier = carrier;
    this.#encryption = encryption;
    this.#room = payloadRoomOf(id);
    const port: XgressPort = {
      canSend: () => carrier.hasRoom(this) || this.#mayPass(),
      sendPayload: (frame) => this.#sendData(frame),
      sendAcknowledgement: (frame) => this.#sendData(frame),
      acknowledgementDue: () => carrier.acknowledgeLater(this, false),
      acknowledgementMayWait: () => carrier.acknowledgeLater(this, true),
      deliver:
        encryption === undefined
          ? (data) => this.onData(data)
          : (message) => this.#deliverSealed(encryption, message),
      deliverEnd: () => {
        this.onEnd();
        this.#finishIfDone();
      },
      broken: (reason) => this.#breakOff(isTerminator ? 'gateway' : 'agent', reason),
      drained: () => {
        if (!this.#isOver) this.onDrain();
      },
    };
    if (carrier.copiesData) {
      this.#memory = payloadMemory;
      port.acknowledged = giveBack;
    }
    const options = carrier.isLossy ? LOSSY_OPTIONS : OPTIONS;
    this.#xgress = new Xgress(id, isTerminator, options, port, undefined, budget);
  }

  get payloadBytes(): number {
    const { usual, long } = this.#room;
    return this.#encryption === undefined ? usual : sealedPieceBytes(Infinity, long);
  }

  get heard(): number | undefined {
    const { latency, isReplaced } = this.#carrier;
    return this.#xgress.isAcknowledged || (latency.isSilent && !isReplaced) ? undefined : this.#heard;
  }

  get isLeaving(): boolean {
    return this.#isLeaving || this.#carrier.isLeaving;
  }

  /** The far end stops. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** Opens the circuit at the initiator, and sends what the far end needs for the first message. */
  start(): void {
    const nowMs = performance.now();
    if (!this.isTerminator) this.#xgress.start(nowMs);
    if (this.#encryption !== undefined) this.#xgress.write(this.#encryption.header, nowMs);
  }

  write(view: Uint8Array): boolean {
    return this.#write(view, false);
  }

  writeLent(view: Uint8Array): boolean {
    return this.#write(view, true);
  }

  writeMessage(message: Uint8Array): boolean {
    if (this.#isOver || this.#isGone || message.length === 0) return true;
    return this.#xgress.write(this.#encryption?.seal(message) ?? message, performance.now());
  }

  end(): void {
    if (this.#isOver || this.#isGone) return;
    this.#xgress.end(performance.now());
    this.#finishIfDone();
  }

  destroy(reason = 'closed here'): void {
    this.#breakOff(this.isTerminator ? 'agent' : 'gateway', reason);
  }

  pause(): void {
    this.#xgress.pause();
  }

  resume(): void {
    this.#isNew = false;
    if (this.#closedWhileNew !== undefined) {
      const { error } = this.#closedWhileNew;
      this.#closedWhileNew = undefined;
      this.onClose(error);
      return;
    }
    this.#xgress.resume();
    if (this.#isGone) this.#finishGone();
  }

  /** Called by the channel, like the next four. They never throw: an exception breaks this circuit alone. */
  receive(frame: DataFrame): void {
    try {
      if (this.#isOver) {
        this.#acknowledgeAgain(frame);
        return;
      }
      this.#heard += 1;
      if (frame.contentType === PAYLOAD_TYPE) {
        // Only the payload that opens the circuit needs the time, and reading the clock costs more than the
        // rest for many others.
        const isOpening = (frame.flags & PAYLOAD_FLAGS.circuitStart) !== 0;
        this.#xgress.onPayload(frame, isOpening ? performance.now() : 0);
        frame.isSpent = this.#opened === frame.data;
        this.#opened = undefined;
      } else {
        this.#xgress.onAcknowledgement(frame, performance.now());
        this.#awaitedSinceMs = 0;
        this.#finishIfDone();
      }
    } catch (error) {
      this.#defect(error);
    }
  }

  flushAcknowledgements(): void {
    try {
      if (!this.#isOver || this.#lingersUntilMs > 0) this.#xgress.flushAcknowledgements();
    } catch (error) {
      this.#defect(error);
    }
  }

  tick(nowMs: number): void {
    try {
      if (this.#lingersUntilMs > 0 && nowMs >= this.#lingersUntilMs) this.#leaveChannel(true);
      if (!this.#xgress.isWaitingForAcks) return;
      this.#xgress.tick(nowMs);
      if (this.#xgress.isEndQueued && this.#xgress.isReceiveDone) this.#awaitLastAcknowledgement(nowMs);
    } catch (error) {
      this.#defect(error);
    }
  }

  #defect(error: unknown): void {
    const fail = (): void => this.#breakOff(this.isTerminator ? 'agent' : 'gateway', 'internal error');
    failAlone({ kind: 'circuit', id: this.id, fail }, error);
  }

  /**
   * Both directions have ended. A far end that has left the circuit before it read this end's end acknowledges nothing, and
   * routers do not notify an SDK in this state, because some would discard what they have not read.
   */
  #awaitLastAcknowledgement(nowMs: number): void {
    if (this.#awaitedSinceMs === 0) this.#awaitedSinceMs = nowMs;
    const waitedMs = nowMs - this.#awaitedSinceMs;
    const isOnlyEnd = this.#xgress.bufferedBytes === 0;
    if (isOnlyEnd && waitedMs >= END_WAIT_MS) this.#close(undefined, true);
    else if (waitedMs >= DATA_WAIT_MS)
      this.#breakOff(
        this.isTerminator ? 'gateway' : 'agent',
        'what was sent last was not acknowledged in time',
      );
  }

  /** Called when it is the circuit's turn after it had to wait for room. */
  onChannelDrain(): void {
    try {
      if (!this.#isOver) this.#xgress.resumeSending(performance.now());
    } catch (error) {
      this.#defect(error);
    }
  }

  /** The overlay removed the circuit, or its channel ended. Data that arrived completely is still delivered. */
  gone(error: CircuitError): void {
    try {
      if (this.#lingersUntilMs > 0) this.#leaveChannel(false);
      if (this.#isOver || this.#isGone) return;
      if (!this.#xgress.isSendDone || !this.#xgress.hasReceivedEnd) {
        this.#close(error, false);
        return;
      }
      this.#isGone = true;
      this.#carrier.closed(this, false);
      this.#finishGone();
    } catch (defect) {
      this.#defect(defect);
    }
  }

  /** On a full channel, a circuit without outstanding data need not wait behind those that fill it. */
  #mayPass(): boolean {
    if (this.#xgress.isAcknowledged) return true;
    this.#carrier.awaitRoom(this);
    return false;
  }

  #write(view: Uint8Array, isLent: boolean): boolean {
    if (this.#isOver || this.#isGone || view.length === 0) return true;
    const nowMs = performance.now();
    const most = this.#room.usual;
    // Sealed bytes have memory of their own.
    if (this.#encryption !== undefined) return this.#writeSealed(this.#encryption, view, nowMs);
    if (view.length <= most) return this.#xgress.write(isLent ? this.#keptCopy(view) : view, nowMs);
    let mayGoOn = true;
    for (let at = 0; at < view.length; at += most) {
      const piece = view.subarray(at, at + most);
      mayGoOn = this.#xgress.write(isLent ? this.#keptCopy(piece) : piece, nowMs);
    }
    return mayGoOn;
  }

  /** Each payload is one sealed message. */
  #writeSealed(encryption: CircuitEncryption, view: Uint8Array, nowMs: number): boolean {
    const { usual, long } = this.#room;
    let mayGoOn = true;
    for (let at = 0; at < view.length;) {
      const left = view.length - at;
      const bytes = sealedPieceBytes(left, left < LONG_FROM_BYTES ? usual : long);
      const into = this.#memory?.take(bytes + STREAM_OVERHEAD_BYTES);
      mayGoOn = this.#xgress.write(encryption.seal(view.subarray(at, at + bytes), into), nowMs);
      at += bytes;
    }
    return mayGoOn;
  }

  #deliverSealed(encryption: CircuitEncryption, message: Uint8Array): void {
    if (this.#isOver) return;
    // Where channels copy, nobody else reads the memory of a received message.
    const text = encryption.open(message);
    if (text === undefined) this.destroy('received a message that was changed on its way, or is out of turn');
    else {
      if (text.buffer !== message.buffer) this.#opened = message;
      if (text.length > 0) this.onData(text);
    }
  }

  #keptCopy(view: Uint8Array): Uint8Array {
    const copy = this.#memory?.take(view.length) ?? Buffer.allocUnsafe(view.length);
    copy.set(view);
    return copy;
  }

  #sendData(frame: DataFrame): void {
    frame.connId = this.connId;
    this.#carrier.sendData(frame);
  }

  #finishIfDone(): void {
    if (this.#isOver || this.#isGone || !this.#xgress.isSendDone || !this.#xgress.isReceiveDone) return;
    this.#close(undefined, true);
  }

  #finishGone(): void {
    if (!this.#isOver && this.#xgress.isReceiveDone) this.#close(undefined, false);
  }

  /** `hop` is the end that broke the circuit. */
  #breakOff(hop: CircuitError['hop'], reason: string): void {
    if (this.#isOver) return;
    const isDone = this.#xgress.isSendDone && this.#xgress.isReceiveDone;
    this.#close(isDone ? undefined : brokenCircuit(hop, reason), !this.#isGone);
  }

  #close(error: CircuitError | undefined, notifyRouter: boolean): void {
    // What the far end sent last may wait for its acknowledgement. Without it, that end would wait, or count as broken.
    if (notifyRouter) this.#xgress.flushAcknowledgements();
    this.isDelivered = this.#xgress.isEverythingSent;
    this.#isOver = true;
    this.#xgress.abandonSending();
    this.#xgress.release();
    if (error === undefined && !this.#isGone && this.#carrier.mayLinger(this))
      this.#lingersUntilMs = performance.now() + LINGER_MS;
    else if (!this.#isGone) this.#carrier.closed(this, notifyRouter);
    if (this.#isNew) this.#closedWhileNew = { error };
    else this.onClose(error);
  }

  /** The far end repeats what it received no acknowledgement for. */
  #acknowledgeAgain(frame: DataFrame): void {
    if (this.#lingersUntilMs === 0 || frame.contentType !== PAYLOAD_TYPE) return;
    this.#lingersUntilMs = performance.now() + LINGER_MS;
    this.#xgress.onPayload(frame, 0);
  }

  #leaveChannel(notifyRouter: boolean): void {
    this.#lingersUntilMs = 0;
    // A far end may have sent payloads beyond its end.
    this.#xgress.release();
    this.#carrier.closed(this, notifyRouter);
  }
}

export function brokenCircuit(hop: CircuitError['hop'], reason: string): CircuitError {
  return new CircuitError('circuit-closed', hop, reason);
}
