/**
 * The flows of datagrams that one owner has, by a key such as the source address: makes a connection for the first
 * datagram of a key, passes the following ones to it, and ends those that are idle. The number of flows and the bytes
 * that wait in them are bounded; what exceeds a bound is dropped, and counted in one log line for each check.
 */
import type { Clock, Log } from '#base';
import { DatagramBudget } from './datagram-budget.ts';
import { DatagramConnection, type DatagramAddresses } from './datagram-connection.ts';

const MAX_FLOWS = 8_192;
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Flows whose circuits are made at once. Others wait, so that a burst of sources does not occupy the program and its routers. */
const MAX_OPENING = 128;
/** A source that waits longer has given up, or has sent its datagram again. */
const MAX_WAIT_MS = 5_000;
const MAX_HELD_DATAGRAMS = 16;
/** After a refusal, the datagrams of a source are dropped for this time instead of asking again with each. */
const REFUSAL_MS = 1_000;

export interface FlowTableOptions {
  /** Part of log lines, such as `listeners[0]`. */
  readonly name: string;
  /** A flow without a datagram in either direction for this time ends. */
  readonly idleTimeoutMs: number;
  /** Time between two checks for idle flows. */
  readonly checkIntervalMs: number;
  readonly maxFlows?: number | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Called for the first datagram of a key, which is not yet in the connection: `flow.receive(first)` puts it there. The
   * promise settles, and never rejects, when the flow has its circuit or has none; a limited number is made at once.
   */
  onFlow(flow: DatagramConnection, first: Uint8Array, key: string): Promise<void> | void;
}

/** How to reach the source of a flow. Made only for the first datagram of a key. */
export interface FlowSource {
  readonly addresses: DatagramAddresses;
  /** As in `DatagramConnectionOptions`. */
  send(datagram: Uint8Array, sent: (error?: Error | null) => void): void;
  /** Called once, when the flow no longer sends. */
  onClosed?(): void;
}

/** A flow that waits until others have their circuits. */
interface WaitingFlow {
  readonly connection: DatagramConnection;
  readonly datagrams: Uint8Array[];
  readonly sinceMs: number;
}

export class FlowTable {
  readonly #options: FlowTableOptions;
  readonly #budget = new DatagramBudget(MAX_WAITING_BYTES);
  readonly #maxFlows: number;
  /** Flows that accept datagrams. */
  readonly #flows = new Map<string, DatagramConnection>();
  /** Until when a refused source is not asked about again. The oldest are forgotten, so that they take no place of a flow. */
  readonly #refused = new Map<string, number>();
  /** Flows that may still send. */
  readonly #open = new Set<DatagramConnection>();
  /** By key, in the order of their arrival. */
  readonly #waiting = new Map<string, WaitingFlow>();
  #opening = 0;
  readonly #timer: NodeJS.Timeout;
  readonly #empty = Promise.withResolvers<void>();
  #dropped = 0;
  #refusedFlows = 0;
  #isClosed = false;

  constructor(options: FlowTableOptions) {
    this.#options = options;
    this.#maxFlows = options.maxFlows ?? MAX_FLOWS;
    this.#timer = setInterval(() => this.check(), options.checkIntervalMs);
  }

  /** Number of flows that may still send. */
  get count(): number {
    return this.#open.size;
  }

  /** Bytes of datagrams that wait for their circuits. */
  get waitingBytes(): number {
    return this.#budget.heldBytes;
  }

  /** Passes a datagram to the flow of its key, if there is one. */
  pass(key: string, datagram: Uint8Array): void {
    const waiting = this.#waiting.get(key);
    const isTaken =
      waiting === undefined
        ? this.#flows.get(key)?.receive(datagram) === true
        : this.#hold(waiting, datagram);
    if (!isTaken) this.#dropped += 1;
  }

  /** Passes a datagram to the flow of its key, which is made if there is none. */
  receive(key: string, datagram: Uint8Array, source: () => FlowSource): void {
    if (this.#flows.has(key)) {
      this.pass(key, datagram);
      return;
    }
    const refusedUntilMs = this.#refused.get(key) ?? -Infinity;
    if (this.#isClosed || refusedUntilMs > this.#options.clock.monotonicMs()) {
      this.#dropped += 1;
      return;
    }
    if (this.#flows.size >= this.#maxFlows || this.#open.size >= this.#maxFlows) {
      this.#refusedFlows += 1;
      return;
    }
    this.#openFlow(key, datagram, source());
  }

  /** Ends idle flows, and logs how many datagrams were dropped. Called by the timer. */
  check(): void {
    const { name, idleTimeoutMs, clock, log } = this.#options;
    const nowMs = clock.monotonicMs();
    for (const [key, { sinceMs }] of this.#waiting) if (nowMs - sinceMs >= MAX_WAIT_MS) this.#giveUp(key);
    for (const connection of this.#flows.values()) connection.endIfIdle(idleTimeoutMs);
    for (const [key, untilMs] of this.#refused) if (untilMs <= nowMs) this.#refused.delete(key);
    if (this.#dropped > 0 || this.#refusedFlows > 0)
      log.warn(
        { listener: name, dropped: this.#dropped, refusedFlows: this.#refusedFlows, flows: this.#open.size },
        'datagrams were dropped: a queue was full, or there were too many sources',
      );
    this.#dropped = 0;
    this.#refusedFlows = 0;
  }

  /** Closes a flow whose circuit was refused. Its source may try again after a second. */
  refuse(key: string, connection: DatagramConnection): void {
    if (this.#flows.get(key) === connection) {
      this.#flows.delete(key);
      this.#refused.delete(key);
      this.#refused.set(key, this.#options.clock.monotonicMs() + REFUSAL_MS);
      const oldest = this.#refused.keys().next();
      if (this.#refused.size > this.#maxFlows && oldest.done !== true) this.#refused.delete(oldest.value);
    }
    connection.destroy();
  }

  /** Accepts no more sources. Resolves when the last flow has closed. */
  close(): Promise<void> {
    this.#isClosed = true;
    for (const key of [...this.#waiting.keys()]) this.#giveUp(key);
    this.#stopIfEmpty();
    return this.#empty.promise;
  }

  #openFlow(key: string, datagram: Uint8Array, source: FlowSource): void {
    const { clock, log, name } = this.#options;
    const connection = new DatagramConnection({
      addresses: source.addresses,
      budget: this.#budget,
      clock,
      send: (data, sent) => source.send(data, sent),
      onEnded: (it) => {
        if (this.#flows.get(key) === it) this.#flows.delete(key);
        if (this.#waiting.get(key)?.connection === it) this.#giveUp(key);
      },
      onClosed: (it) => {
        this.#open.delete(it);
        source.onClosed?.();
        this.#stopIfEmpty();
      },
    });
    this.#refused.delete(key);
    this.#flows.set(key, connection);
    this.#open.add(connection);
    log.debug({ listener: name, source: key }, 'new source of datagrams');
    if (this.#opening < MAX_OPENING) {
      this.#start(connection, [datagram], key);
      return;
    }
    const waiting: WaitingFlow = { connection, datagrams: [], sinceMs: clock.monotonicMs() };
    this.#waiting.set(key, waiting);
    if (!this.#hold(waiting, datagram)) this.#giveUp(key);
  }

  #start(connection: DatagramConnection, [first, ...others]: readonly Uint8Array[], key: string): void {
    const opened = this.#options.onFlow(connection, first!, key);
    for (const datagram of others) if (!connection.receive(datagram)) this.#dropped += 1;
    if (opened === undefined) return;
    this.#opening += 1;
    void opened.finally(() => {
      this.#opening -= 1;
      this.#startNext();
    });
  }

  #startNext(): void {
    while (this.#opening < MAX_OPENING) {
      const next = this.#waiting.entries().next().value;
      if (next === undefined) return;
      const [key, { connection, datagrams, sinceMs }] = next;
      if (this.#options.clock.monotonicMs() - sinceMs >= MAX_WAIT_MS) {
        this.#giveUp(key);
        continue;
      }
      this.#waiting.delete(key);
      this.#release(datagrams);
      this.#start(connection, datagrams, key);
    }
  }

  #hold({ datagrams }: WaitingFlow, datagram: Uint8Array): boolean {
    if (datagrams.length >= MAX_HELD_DATAGRAMS || !this.#budget.take(datagram.length)) return false;
    datagrams.push(datagram);
    return true;
  }

  /** Ends a flow that waits. Its source may send again at once. */
  #giveUp(key: string): void {
    const { connection, datagrams } = this.#waiting.get(key)!;
    this.#waiting.delete(key);
    this.#release(datagrams);
    this.#dropped += datagrams.length;
    connection.destroy();
  }

  #release(datagrams: readonly Uint8Array[]): void {
    for (const { length } of datagrams) this.#budget.release(length);
  }

  #stopIfEmpty(): void {
    if (!this.#isClosed || this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#empty.resolve();
  }
}
