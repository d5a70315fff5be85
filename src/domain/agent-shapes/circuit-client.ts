/**
 * The client for which a gateway dials a circuit, as application data of the dial. It travels beside the bytes of the circuit, so
 * that nothing that a client sends can take its place. ADR 0093.
 */
import { textOf, utf8 } from '#base';
import { Part, Shape, Type, type ShapeOf } from '#base/shapes';

export const circuitClientShape = new Shape(
  Type.Object({
    frontdoor: Part.oneOf('client'),
    /** In canonical form. */
    address: Part.someText(),
    isSecure: Part.flag(),
  }),
  { name: 'client of a circuit', format: 1, remedy: 'upgrade this agent' },
);
export type CircuitClient = Omit<ShapeOf<typeof circuitClientShape.schema>, 'frontdoor'>;

export function encodeCircuitClient({ address, isSecure }: CircuitClient): Uint8Array {
  return utf8(JSON.stringify({ frontdoor: 'client', address, isSecure }));
}

/** Returns undefined for other data, and without any. */
export function decodeCircuitClient(appData: Uint8Array | undefined): CircuitClient | undefined {
  if (appData === undefined) return undefined;
  const read = circuitClientShape.readText(textOf(appData));
  return 'value' in read ? read.value : undefined;
}
