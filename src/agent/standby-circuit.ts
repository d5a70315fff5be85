/**
 * A circuit that its caller keeps for later: the private service is connected to when the first bytes come, and not
 * before, since services close connections that say nothing.
 */
import type { Circuit } from '#sdk';

export interface StandbyHandlers {
  /** The first bytes came; the circuit is paused. */
  readonly onWanted: (standby: StandbyCircuit) => void;
  /** The circuit closed before somebody else took its callbacks. */
  readonly onGone: (standby: StandbyCircuit) => void;
}

export class StandbyCircuit {
  readonly circuit: Circuit;
  /** What came before the service was connected. */
  readonly received: Uint8Array[] = [];
  isGone = false;

  constructor(circuit: Circuit, handlers: StandbyHandlers) {
    this.circuit = circuit;
    circuit.onData = (view) => {
      if (this.received.push(view) > 1) return;
      circuit.pause();
      handlers.onWanted(this);
    };
    circuit.onEnd = () => circuit.end();
    circuit.onClose = () => {
      this.isGone = true;
      handlers.onGone(this);
    };
    circuit.resume();
  }
}
