/**
 * Limits that an authority's certificate sets for those below it (RFC 5280, 4.2.1.9 and 4.2.1.10), which Node does not read:
 * walks the DER of a certificate that Node has parsed. Not a decoder of anything else.
 */
import type { X509Certificate } from 'node:crypto';

const BASIC_CONSTRAINTS = Buffer.from([0x55, 0x1d, 0x13]);
const NAME_CONSTRAINTS = Buffer.from([0x55, 0x1d, 0x1e]);
const [INTEGER, OCTETS, EXTENSIONS] = [0x02, 0x04, 0xa3];
/** A length that only BER has. */
const INDEFINITE = 0x80;
const MAX_LENGTH_BYTES = 4;

export interface AuthorityLimits {
  /** Authorities between this one and a leaf; undefined: any number. */
  readonly maxBelow: number | undefined;
  /** Whether the authority may issue only for some names. */
  readonly limitsNames: boolean;
}

interface Element {
  readonly tag: number;
  readonly content: Buffer;
}

/** Never throws: a certificate whose form is not that of DER counts as one that limits names. */
export function authorityLimitsOf({ raw }: X509Certificate): AuthorityLimits {
  const [certificate] = elementsOf(raw);
  const [body] = elementsOf(certificate?.content);
  const fields = elementsOf(body?.content);
  const holder = fields.find(({ tag }) => tag === EXTENSIONS);
  const [list] = elementsOf(holder?.content);
  const extensions = elementsOf(list?.content).map(({ content }) => elementsOf(content));
  const valueOf = (id: Buffer): Buffer | undefined =>
    extensions.find(([type]) => type?.content.equals(id) === true)?.find(({ tag }) => tag === OCTETS)
      ?.content;
  const constraints = valueOf(BASIC_CONSTRAINTS);
  const [limits] = elementsOf(constraints);
  const below = elementsOf(limits?.content).find(({ tag }) => tag === INTEGER);
  return {
    maxBelow: below && Number.parseInt(below.content.toString('hex'), 16),
    // Every authority of version 3 has basic constraints.
    limitsNames: constraints === undefined || valueOf(NAME_CONSTRAINTS) !== undefined,
  };
}

/** Returns the elements that follow each other; those before the first that cannot be read. */
function elementsOf(der: Buffer | undefined): Element[] {
  const found: Element[] = [];
  if (der === undefined) return found;
  for (let at = 0; at + 2 <= der.length;) {
    const tag = der[at]!;
    const first = der[at + 1]!;
    const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
    const start = at + 2 + lengthBytes;
    if (first === INDEFINITE || lengthBytes > MAX_LENGTH_BYTES || start > der.length) return found;
    const length = lengthBytes === 0 ? first : der.readUIntBE(at + 2, lengthBytes);
    if (start + length > der.length) return found;
    found.push({ tag, content: der.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}
