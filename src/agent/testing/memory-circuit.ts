/**
 * Two ends of a circuit in memory, for tests: a byte window in each direction, half-close, delivery in later
 * ticks. It behaves as overlay circuits do; not for production.
 */
import { newNumber } from '#base';
import type { Circuit, CircuitError } from '#sdk';

class MemoryEnd implements Circuit {
  readonly id: string;
  onData: (view: Uint8Array) => void = () => {};
  onEnd: () => void = () => {};
  onDrain: () => void = () => {};
  onClose: (error?: CircuitError) => void = () => {};
  peer!: MemoryEnd;
  /** Bytes that were written here and that the far end has not read. */
  inFlight = 0;
  mostInFlight = 0;
  readonly #windowBytes: number;
  readonly #queue: Uint8Array[] = [];
  #paused = true;
  #wantsDrain = false;
  #ended = false;
  #endDelivered = false;
  #closed = false;
  #scheduled = false;

  constructor(id: string, windowBytes: number) {
    this.id = id;
    this.#windowBytes = windowBytes;
  }

  write(view: Uint8Array): boolean {
    if (this.#ended || this.#closed) return true;
    this.inFlight += view.length;
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
    this.peer.#queue.push(view);
    this.peer.#schedule();
    if (this.inFlight < this.#windowBytes) return true;
    this.#wantsDrain = true;
    return false;
  }

  writeLent(view: Uint8Array): boolean {
    return this.write(Uint8Array.from(view));
  }

  writeMessage(message: Uint8Array): boolean {
    return this.write(message);
  }

  end(): void {
    if (this.#ended || this.#closed) return;
    this.#ended = true;
    this.peer.#schedule();
    this.#closeWhenDone();
  }

  destroy(reason?: string): void {
    if (this.#closed) return;
    const error = Object.assign(new Error(reason ?? 'destroyed'), {
      code: 'circuit-closed',
      hop: 'agent',
    }) as CircuitError;
    this.#close(error);
    setImmediate(() => this.peer.#close(error));
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    while (!this.#paused && !this.#closed) {
      const view = this.#queue.shift();
      if (view === undefined) break;
      this.peer.inFlight -= view.length;
      this.onData(view);
      if (this.peer.#wantsDrain && this.peer.inFlight < this.#windowBytes / 2) {
        this.peer.#wantsDrain = false;
        this.peer.onDrain();
      }
    }
    if (this.#paused || this.#closed || this.#queue.length > 0 || !this.peer.#ended || this.#endDelivered)
      return;
    this.#endDelivered = true;
    this.onEnd();
    this.#closeWhenDone();
    this.peer.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (this.#ended && this.#endDelivered && this.peer.#endDelivered) this.#close();
  }

  #close(error?: CircuitError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#queue.length = 0;
    this.onClose(error);
  }
}

export type MemoryCircuit = MemoryEnd;

export function memoryCircuit(windowBytes = 256 * 1024): { caller: MemoryCircuit; host: MemoryCircuit } {
  const id = `circuit-${newNumber()}`;
  const caller = new MemoryEnd(id, windowBytes);
  const host = new MemoryEnd(id, windowBytes);
  caller.peer = host;
  host.peer = caller;
  return { caller, host };
}
