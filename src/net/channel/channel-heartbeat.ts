/**
 * Sends and answers a channel's heartbeats and measures their latency; `HeartbeatMachine` judges the peer. TCP
 * alone would detect a frozen or disconnected peer only after many minutes.
 */
import { CHANNEL_HEADERS, HeaderWriter } from '#wire';
import { HeartbeatMachine, type HeartbeatOptions } from './heartbeat-machine.ts';

export interface HeartbeatEffects {
  send(headers: HeaderWriter): void;
  close(reason: string): void;
  latency(nanoseconds: number): void;
}

/** The system clock has no nanoseconds. The offset is determined once, so that latencies never jump. */
const UNIX_OFFSET_NS = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint();

const NO_HEARTBEAT: HeartbeatOptions = { sendIntervalMs: 0, closeAfterMs: 0 };

export class ChannelHeartbeat {
  readonly #effects: HeartbeatEffects;
  readonly #machine: HeartbeatMachine;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #startedNs = unixNanoseconds();

  constructor(options: HeartbeatOptions | undefined, effects: HeartbeatEffects) {
    this.#effects = effects;
    this.#machine = new HeartbeatMachine(options ?? NO_HEARTBEAT, performance.now());
    if (this.#machine.isIdle) return;
    this.#timer = setInterval(() => this.#check(), this.#machine.checkIntervalMs);
    this.#timer.unref();
  }

  get isResponsive(): boolean {
    return this.#machine.isResponsive(performance.now());
  }

  /** The channel is in use: the peer learns at once that heartbeats come, and notices from now on when they do not. */
  begin(): void {
    if (this.#timer !== undefined) this.#check();
  }

  /** Any data arrived. */
  onTraffic(): void {
    if (this.#timer !== undefined) this.#machine.onTraffic(performance.now());
  }

  /** The peer's heartbeat arrived, alone or on another frame. Its bytes are echoed unchanged. */
  onBeat(beat: Uint8Array): void {
    if (beat.length !== 8) return;
    this.#machine.onPeerBeat();
    this.#effects.send(new HeaderWriter().bytes(CHANNEL_HEADERS.heartbeatResponse, beat.slice()));
  }

  /** An echo of our heartbeat arrived. An echo with an implausible time is ignored. */
  onResponse(beat: Uint8Array): void {
    if (beat.length !== 8) return;
    const sentNs = Buffer.from(beat.buffer, beat.byteOffset, 8).readBigUInt64LE();
    const nowNs = unixNanoseconds();
    if (sentNs < this.#startedNs || sentNs > nowNs) return;
    const nanoseconds = Number(nowNs - sentNs);
    this.#machine.onAnswer(nanoseconds / 1e6, performance.now());
    this.#effects.latency(nanoseconds);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const nowMs = performance.now();
    const { isBeatDue, silentMs } = this.#machine.check(nowMs);
    if (silentMs !== undefined) {
      this.#effects.close(`the peer was silent for ${Math.round(silentMs / 1000)} s`);
      return;
    }
    if (!isBeatDue) return;
    this.#machine.onSent(nowMs);
    this.#effects.send(new HeaderWriter().u64(CHANNEL_HEADERS.heartbeat, unixNanoseconds()));
  }
}

function unixNanoseconds(): bigint {
  return UNIX_OFFSET_NS + process.hrtime.bigint();
}
