/**
 * Unfinished frames in all channels of a process: a memory budget for all of them, a limit per owner, and for
 * each frame a deadline that grows with its received bytes. One coarse timer enforces the deadlines. Memory is
 * counted with each read, which costs a subtraction; the hot path starts no timer and allocates nothing.
 */
import { RunningClock } from '#base';
import { memoryShares } from '../memory-shares.ts';

/** The part of a decoder that is needed here. */
export interface UnfinishedFrame {
  /** Memory of the unfinished frame. */
  readonly heldBytes: number;
  /** Its received bytes. */
  readonly bufferedBytes: number;
  /** Number of whole frames before it. */
  readonly frames: number;
  /** Frees its memory. */
  discard(): void;
}

export interface FrameLimitsOfProcess {
  /** Memory of all unfinished frames together, in bytes. */
  readonly budgetBytes: number;
  /** Base deadline for a frame of any length, in ms. */
  readonly graceMs: number;
  /** Extends the deadline by the time that the received bytes take at this rate. A slower peer loses its channel. */
  readonly leastBytesPerS: number;
  readonly checkIntervalMs: number;
}

/**
 * A link of 64 kbit/s with eight channels is still fast enough, and a peer that stalls is closed within two
 * minutes for any frame below 80 KiB.
 */
const LIMITS: FrameLimitsOfProcess = {
  budgetBytes: memoryShares.unfinishedFramesBytes,
  graceMs: 30_000,
  leastBytesPerS: 1_024,
  checkIntervalMs: 1_000,
};

interface Owner {
  readonly name: string;
  bytes: number;
  readonly frames: Set<CountedFrame>;
}

/** The unfinished frame of one connection. */
export class CountedFrame {
  readonly owner: Owner;
  readonly decoder: UnfinishedFrame;
  readonly maxOwnerBytes: number;
  readonly giveUp: (reason: string) => void;
  heldBytes = 0;
  isOver = false;
  /** Whether this side has paused reading, so that the peer cannot continue. */
  isPaused = false;
  /** Whether it was paused since the last check. */
  wasPaused = false;
  /** When this frame was first seen, by the clock of the checks; 0: there is none. */
  sinceMs = 0;
  framesBefore = 0;
  readonly #all: UnfinishedFrames;

  constructor(
    all: UnfinishedFrames,
    owner: Owner,
    { decoder, maxOwnerBytes, giveUp }: Omit<CountedOptions, 'owner'>,
  ) {
    this.#all = all;
    this.owner = owner;
    this.decoder = decoder;
    this.maxOwnerBytes = maxOwnerBytes;
    this.giveUp = giveUp;
  }

  /** Called after each read. */
  count(): void {
    const { heldBytes } = this.decoder;
    if (heldBytes !== this.heldBytes) this.#all.change(this, heldBytes);
  }

  setPaused(isPaused: boolean): void {
    this.isPaused = isPaused;
    this.wasPaused ||= isPaused;
  }

  /** The connection has closed. */
  end(): void {
    this.#all.remove(this);
  }
}

export interface CountedOptions {
  /** Owner of the memory: an identity, or its certificate. */
  readonly owner: string;
  readonly decoder: UnfinishedFrame;
  /** Memory of all unfinished frames of the owner together, in bytes. */
  readonly maxOwnerBytes: number;
  /** Ends the channel. */
  giveUp(reason: string): void;
}

export class UnfinishedFrames {
  readonly #limits: FrameLimitsOfProcess;
  readonly #clock: { nowMs(): number };
  readonly #owners = new Map<string, Owner>();
  readonly #frames = new Set<CountedFrame>();
  #timer: NodeJS.Timeout | undefined;
  #checkedMs = 0;
  #heldBytes = 0;

  constructor(
    limits: Partial<FrameLimitsOfProcess> = {},
    monotonicMs: () => number = () => performance.now(),
  ) {
    this.#limits = { ...LIMITS, ...limits };
    // A pause of this process does not count against peers.
    this.#clock = new RunningClock(2 * this.#limits.checkIntervalMs, monotonicMs);
  }

  /** Memory of all unfinished frames in bytes. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  add({ owner: name, ...options }: CountedOptions): CountedFrame {
    let owner = this.#owners.get(name);
    if (owner === undefined) {
      owner = { name, bytes: 0, frames: new Set() };
      this.#owners.set(name, owner);
    }
    const frame = new CountedFrame(this, owner, options);
    owner.frames.add(frame);
    this.#frames.add(frame);
    if (this.#timer === undefined) {
      this.#checkedMs = this.#clock.nowMs();
      this.#timer = setInterval(() => this.check(), this.#limits.checkIntervalMs);
      this.#timer.unref();
    }
    return frame;
  }

  change(frame: CountedFrame, heldBytes: number): void {
    if (frame.isOver) return;
    const moreBytes = heldBytes - frame.heldBytes;
    frame.heldBytes = heldBytes;
    this.#heldBytes += moreBytes;
    const { owner } = frame;
    owner.bytes += moreBytes;
    if (moreBytes <= 0) return;
    while (owner.bytes > frame.maxOwnerBytes) {
      this.#giveUpWorst(owner.frames, 'the peer has too many bytes in unfinished frames');
    }
    while (this.#heldBytes > this.#limits.budgetBytes) {
      this.#giveUpWorst(
        this.#frames,
        'too many bytes in unfinished frames of all peers: the largest and oldest',
      );
    }
  }

  remove(frame: CountedFrame): void {
    if (frame.isOver) return;
    frame.isOver = true;
    frame.decoder.discard();
    this.#frames.delete(frame);
    const { owner } = frame;
    this.#heldBytes -= frame.heldBytes;
    owner.bytes -= frame.heldBytes;
    owner.frames.delete(frame);
    if (owner.frames.size === 0) this.#owners.delete(owner.name);
    if (this.#frames.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Must be called once per check interval. */
  check(): void {
    const nowMs = this.#clock.nowMs();
    const sinceCheckMs = nowMs - this.#checkedMs;
    this.#checkedMs = nowMs;
    const { graceMs, leastBytesPerS } = this.#limits;
    for (const frame of this.#frames) {
      const { bufferedBytes, frames } = frame.decoder;
      if (bufferedBytes === 0) {
        frame.sinceMs = 0;
      } else if (frame.sinceMs === 0 || frame.framesBefore !== frames) {
        frame.sinceMs = nowMs;
        frame.framesBefore = frames;
      } else if (frame.isPaused || frame.wasPaused) {
        frame.sinceMs += sinceCheckMs;
      } else if (nowMs - frame.sinceMs > graceMs + (1_000 * bufferedBytes) / leastBytesPerS) {
        this.remove(frame);
        frame.giveUp('a frame was not complete in time');
      }
      frame.wasPaused = frame.isPaused;
    }
  }

  #giveUpWorst(frames: ReadonlySet<CountedFrame>, reason: string): void {
    let worst: CountedFrame | undefined;
    let worstScore = -1;
    for (const frame of frames) {
      // Frames that began since the last check count as just begun.
      const isKnown = frame.sinceMs > 0 && frame.framesBefore === frame.decoder.frames;
      const ageMs = isKnown ? this.#checkedMs - frame.sinceMs : 0;
      const score = frame.heldBytes * (ageMs + this.#limits.checkIntervalMs);
      if (score <= worstScore) continue;
      worst = frame;
      worstScore = score;
    }
    if (worst === undefined) return;
    this.remove(worst);
    worst.giveUp(reason);
  }
}

/** The unfinished frames of this process. */
export const unfinishedFrames = new UnfinishedFrames();
