/**
 * A circuit that its caller keeps for later. The agent connects to the private service only when the first bytes
 * arrive, because services close idle connections.
 */
import { newNumber, setHandlers, type Numbered } from '#base';
import type { Circuit } from '#sdk';

export interface StandbyHandlers {
  /** The first bytes arrived. The circuit is paused. */
  readonly onWanted: (standby: StandbyCircuit) => void;
  /** The circuit closed before its callbacks were replaced. */
  readonly onGone: (standby: StandbyCircuit) => void;
}

export class StandbyCircuit implements Numbered {
  readonly number = newNumber();
  readonly circuit: Circuit;
  /** Bytes that arrived before the service was connected. */
  readonly received: Uint8Array[] = [];
  isGone = false;

  constructor(circuit: Circuit, handlers: StandbyHandlers) {
    this.circuit = circuit;
    setHandlers(circuit, {
      onData: (view) => {
        if (this.received.push(view) > 1) return;
        circuit.pause();
        handlers.onWanted(this);
      },
      onEnd: () => circuit.end(),
      onClose: () => {
        this.isGone = true;
        handlers.onGone(this);
      },
    });
    circuit.resume();
  }
}
