/**
 * Timers of the router's own xgress ends (SDKs that exchange Data frames): acknowledgements leave at the end of the
 * tick that brought the payloads, retransmission is looked at every 100 ms while something is on its way.
 */
import { XGRESS_TICK_MS } from '#wire';
import type { DataCircuit } from './edge-circuit.ts';
import type { EdgePeer } from './edge-peer.ts';

export class AcknowledgementQueue {
  #due: DataCircuit[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(peers: () => Iterable<EdgePeer>) {
    this.#timer = setInterval(() => {
      const nowMs = Date.now();
      for (const peer of peers()) for (const circuit of peer.dataCircuits) circuit.tick(nowMs);
    }, XGRESS_TICK_MS);
  }

  add(circuit: DataCircuit): void {
    if (this.#due.push(circuit) === 1) setImmediate(this.#flush);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  readonly #flush = (): void => {
    const due = this.#due;
    this.#due = [];
    for (const circuit of due) circuit.flushAcknowledgements();
  };
}
