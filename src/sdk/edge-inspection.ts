/** The answers of a client to a router that asks about one of its connections, or about its circuits, as those of OpenZiti's SDKs. */
import { EMPTY_BYTES } from '#base';
import { contentType, decodeTextList, HeaderWriter, headerId, makeFrame, type Frame } from '#wire';

const { edge } = headerId;
const CONNECTION_TYPE = { none: 0, circuit: 1, bind: 2 } as const;
/** Keeps the answer of a circuit with long ids below 16 MiB, the limit of our routers. */
const MAX_CIRCUITS = 50_000;

export function connectionAnswer(isBind: boolean, isCircuit: boolean): Frame {
  const kind = isBind ? 'bind' : isCircuit ? 'circuit' : 'none';
  const headers = new HeaderWriter().u32(edge.connId, 0).u8(edge.connType, CONNECTION_TYPE[kind]);
  return makeFrame(contentType.connInspectResponse, { headers, body: '{}' });
}

export interface InspectedCircuit {
  readonly id: string;
  readonly connId: number;
  /** The controller that made it. */
  readonly controllerId: string;
  readonly isTerminator: boolean;
}

/** Names that are not known have no value. */
export function inspectionAnswer(request: Frame, circuits: Iterable<InspectedCircuit>): Frame {
  const names = decodeTextList(request.headers.bytes(edge.inspectRequestedValues) ?? EMPTY_BYTES) ?? [];
  const values = names
    .filter((name) => name.toLowerCase() === 'circuits')
    .map((name) => [name, { circuits: circuitRows(circuits) }]);
  const headers = new HeaderWriter().u32(edge.connId, 0);
  const body = JSON.stringify({ errors: [], success: true, values: Object.fromEntries(values) as object });
  return makeFrame(contentType.edgeInspectResponse, { headers, body });
}

function circuitRows(circuits: Iterable<InspectedCircuit>): object {
  const rows: [string, object][] = [];
  for (const { id, connId, isTerminator, controllerId } of circuits) {
    if (rows.length === MAX_CIRCUITS) break;
    const originator = isTerminator ? 'Terminator' : 'Initiator';
    rows.push([id, { circuitId: id, connId, address: '', originator, isXgress: true, ctrlId: controllerId }]);
  }
  return Object.fromEntries(rows);
}

/** Circuits that have the same text one after the other share its memory. */
export class LatestText {
  #text = '';

  of(text: string): string {
    if (text !== this.#text) this.#text = text;
    return this.#text;
  }
}
