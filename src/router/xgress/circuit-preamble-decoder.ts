/**
 * Decodes the first line from a client of a `transport` listener, or the first datagram from one of `transport_udp`: JSON
 * that names a service. The router answers with one line of JSON. Pure.
 */
import { concatBytes, EMPTY_BYTES, textOf, utf8 } from '#base';

export const MAX_PREAMBLE_BYTES = 4_096;
const NEWLINE = 0x0a;

export interface CircuitPreamble {
  /** A label of the client for the controller; can be empty. */
  readonly id: string;
  readonly serviceId: string;
}

export type PreambleOutcome =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'malformed'; readonly reason: string }
  /** `rest` is data of the client that was received with the line. */
  | { readonly kind: 'complete'; readonly preamble: CircuitPreamble; readonly rest: Uint8Array };

export class PreambleDecoder {
  #bytes: Uint8Array = EMPTY_BYTES;

  push(chunk: Uint8Array): PreambleOutcome {
    const bytes = this.#bytes.length === 0 ? chunk : concatBytes([this.#bytes, chunk]);
    const end = bytes.indexOf(NEWLINE);
    if (end > MAX_PREAMBLE_BYTES || (end < 0 && bytes.length > MAX_PREAMBLE_BYTES)) {
      return { kind: 'malformed', reason: `the request is longer than ${MAX_PREAMBLE_BYTES} bytes` };
    }
    if (end < 0) {
      this.#bytes = bytes;
      return { kind: 'incomplete' };
    }
    const preamble = preambleOf(textOf(bytes.subarray(0, end)));
    if (typeof preamble === 'string') return { kind: 'malformed', reason: preamble };
    return { kind: 'complete', preamble, rest: bytes.subarray(end + 1) };
  }
}

/** Decodes a request that is one datagram, with or without a newline at its end. */
export function decodePreambleDatagram(datagram: Uint8Array): CircuitPreamble | { readonly reason: string } {
  if (datagram.length > MAX_PREAMBLE_BYTES)
    return { reason: `the request is longer than ${MAX_PREAMBLE_BYTES} bytes` };
  const preamble = preambleOf(textOf(datagram));
  return typeof preamble === 'string' ? { reason: preamble } : preamble;
}

export function encodePreambleAnswer(isSuccess: boolean, message: string, circuitId: string): Uint8Array {
  return utf8(`${JSON.stringify({ scc: isSuccess, msg: message, circuitId })}\n`);
}

function preambleOf(text: string): CircuitPreamble | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'the request is no JSON';
  }
  if (typeof value !== 'object' || value === null) return 'the request is no JSON object';
  const { id = '', svcId } = value as { id?: unknown; svcId?: unknown };
  if (typeof id !== 'string') return 'the request’s "id" is no text';
  if (typeof svcId !== 'string' || svcId === '') return 'the request names no service: "svcId" is missing';
  return { id, serviceId: svcId };
}
