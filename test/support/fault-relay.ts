/**
 * Faults by a relay of bytes: it stops reading, resets, or holds bytes back. To its neighbours their connection to it
 * still stands while it is cut, so what they send lies in buffers, as it would lie unacknowledged in their own.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { BadNetwork, FaultNetwork, FaultPoint } from './fault-point.ts';

type Mode = 'open' | 'cut' | 'reset';

export const relayNetwork: FaultNetwork = {
  kind: 'relay',
  point: (listenerPort) => FaultRelay.open(listenerPort),
};

export class FaultRelay implements FaultPoint {
  readonly #server: Server;
  readonly listenerPort: number;
  readonly #pairs = new Set<RelayedPair>();
  #mode: Mode = 'open';
  #bad: BadNetwork | undefined;

  private constructor(targetPort: number) {
    this.listenerPort = targetPort;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => this.#onConnection(near));
  }

  static async open(targetPort: number): Promise<FaultRelay> {
    const relay = new FaultRelay(targetPort);
    await new Promise<void>((resolve, reject) => {
      relay.#server.once('error', reject);
      relay.#server.listen(0, '127.0.0.1', resolve);
    });
    return relay;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connectionCount(): number {
    return this.#pairs.size;
  }

  cut(): Promise<void> {
    this.#mode = 'cut';
    for (const pair of this.#pairs) pair.pause();
    return Promise.resolve();
  }

  reset(): Promise<void> {
    this.#mode = 'reset';
    for (const pair of this.#pairs) pair.reset();
    return Promise.resolve();
  }

  heal(): Promise<void> {
    this.#mode = 'open';
    this.#bad = undefined;
    for (const pair of this.#pairs) pair.resume();
    return Promise.resolve();
  }

  worsen(how: BadNetwork): Promise<void> {
    this.#bad = how;
    return Promise.resolve();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const pair of this.#pairs) pair.reset();
    await closed;
  }

  #onConnection(near: Socket): void {
    near.on('error', () => {});
    if (this.#mode === 'reset') {
      near.resetAndDestroy();
      return;
    }
    const pair = new RelayedPair(near, this.listenerPort, () => this.#bad);
    this.#pairs.add(pair);
    pair.onClosed = () => this.#pairs.delete(pair);
    if (this.#mode === 'cut') pair.pause();
    else pair.resume();
  }
}

/** A connection that came and the one that it became: made at the first `resume`. */
class RelayedPair {
  readonly #near: Socket;
  readonly #targetPort: number;
  readonly #bad: () => BadNetwork | undefined;
  #far: Socket | undefined;
  #isPaused = true;
  /** One side has closed; the other side must not notice before the relay is healed. */
  #isBroken = false;
  onClosed: () => void = () => {};

  constructor(near: Socket, targetPort: number, bad: () => BadNetwork | undefined) {
    this.#near = near;
    this.#targetPort = targetPort;
    this.#bad = bad;
    near.pause();
    near.on('close', () => this.#onGone());
  }

  pause(): void {
    this.#isPaused = true;
    this.#near.pause();
    this.#far?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#isBroken) {
      this.reset();
      return;
    }
    if (this.#far === undefined) {
      const far = connect({ port: this.#targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
      this.#far = far;
      far.on('error', () => {});
      far.on('close', () => this.#onGone());
      this.#pump(this.#near, far);
      this.#pump(far, this.#near);
    }
    this.#near.resume();
    this.#far.resume();
  }

  reset(): void {
    for (const socket of [this.#near, this.#far]) if (socket?.destroyed === false) socket.resetAndDestroy();
    this.onClosed();
  }

  #onGone(): void {
    this.#isBroken = true;
    if (!this.#isPaused) this.reset();
  }

  #pump(from: Socket, to: Socket): void {
    const wire = new SlowWire();
    from.on('data', (chunk: Buffer) => {
      const how = this.#bad();
      const waitMs = wire.pass(how, chunk.length, () => {
        if (!to.destroyed && !to.write(chunk)) from.pause();
      });
      // A slow connection buffers little.
      if (waitMs < MAX_WAIT_MS) return;
      from.pause();
      setTimeout(() => this.#isPaused || from.resume(), waitMs);
    });
    to.on('drain', () => this.#isPaused || from.resume());
    from.on('end', () => wire.pass(this.#bad(), 0, () => to.end()));
  }
}

const MAX_WAIT_MS = 200;

/** The most that a packet of TCP holds, by default. */
const PACKET_BYTES = 1_448;

/**
 * One direction, which forwards chunks in order and late. What a client of TCP sees of a lost packet is a stall: it and
 * everything behind it arrive when it was sent again, a round trip later. That the sender then slows down is left out.
 */
class SlowWire {
  readonly #under: { readonly atMs: number; readonly deliver: () => void }[] = [];
  /** When the next byte may go in. */
  #freeAtMs = 0;
  #arrivesAtMs = 0;

  /** Answers how long the wire is busy. */
  pass(how: BadNetwork | undefined, bytes: number, deliver: () => void): number {
    const nowMs = performance.now();
    if (how === undefined && this.#under.length === 0) {
      deliver();
      return 0;
    }
    const { bytesPerSecond, delayMs, jitterMs, loss } = how ?? {
      bytesPerSecond: Infinity,
      delayMs: 0,
      jitterMs: 0,
      loss: 0,
    };
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs) + (bytes * 1_000) / bytesPerSecond;
    const isLost = Math.random() > (1 - loss) ** Math.ceil(bytes / PACKET_BYTES);
    const lateMs = Math.max(0, delayMs + (Math.random() * 2 - 1) * jitterMs) + (isLost ? 2 * delayMs : 0);
    this.#arrivesAtMs = Math.max(this.#arrivesAtMs, this.#freeAtMs + lateMs);
    this.#under.push({ atMs: this.#arrivesAtMs, deliver });
    if (this.#under.length === 1) this.#wait();
    return this.#freeAtMs - nowMs;
  }

  #wait(): void {
    setTimeout(
      () => {
        while (this.#under.length > 0 && this.#under[0]!.atMs <= performance.now())
          this.#under.shift()!.deliver();
        if (this.#under.length > 0) this.#wait();
      },
      Math.max(1, this.#under[0]!.atMs - performance.now()),
    );
  }
}
