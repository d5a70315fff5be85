/** The circuits of one SDK that runs xgress itself, by their ids. An SDK may be both ends of a circuit. */
import { ShortLivedMap } from '#base';
import type { XgressCircuit } from './edge-circuit.ts';

export interface CircuitEnds {
  initiator?: XgressCircuit;
  terminator?: XgressCircuit;
}

export class XgressCircuits {
  readonly #byId = new ShortLivedMap<string, CircuitEnds>();

  get(circuitId: string): CircuitEnds | undefined {
    return this.#byId.get(circuitId);
  }

  add(circuit: XgressCircuit): void {
    const ends = this.#byId.get(circuit.circuitId) ?? {};
    ends[circuit.isTerminator ? 'terminator' : 'initiator'] = circuit;
    this.#byId.set(circuit.circuitId, ends);
  }

  delete({ circuitId, isTerminator }: Pick<XgressCircuit, 'circuitId' | 'isTerminator'>): void {
    const ends = this.#byId.get(circuitId);
    if (ends === undefined) return;
    delete ends[isTerminator ? 'terminator' : 'initiator'];
    if (ends.initiator === undefined && ends.terminator === undefined) this.#byId.delete(circuitId);
  }
}
