/**
 * Names of services: host names and `*.domain`. A wire name is the lower-case form of a name in a DNS message, without
 * its last byte: each label follows a byte with its length. The bytes are characters of a string (latin1), so that a
 * name of a query is compared without decoding its labels.
 */

const MAX_LABEL_LENGTH = 63;
/** Bytes of a name in a message, with the length of each label and the empty label at the end. */
const MAX_WIRE_NAME_LENGTH = 255;
const LABEL = /^[a-z0-9_-]+$/;
const WILDCARD_PREFIX = '*.';

/** The domain of names with which the name server probes. Forwarders forward it, and it exists nowhere. */
export const PROBE_DOMAIN = 'frontdoor-probe.internal';

export interface NamePattern {
  /** The host name, or the domain below which all names are meant. Lower case, without a dot at the end. */
  readonly name: string;
  readonly isWildcard: boolean;
}

/** Reads a host name or `*.domain` in any case, with or without a dot at the end. Returns undefined for other texts. */
export function parseNamePattern(text: string): NamePattern | undefined {
  const lower = text.toLowerCase();
  const isWildcard = lower.startsWith(WILDCARD_PREFIX);
  const name = lower.slice(isWildcard ? WILDCARD_PREFIX.length : 0).replace(/\.$/, '');
  return encodeName(name) === undefined ? undefined : { name, isWildcard };
}

/** Returns the normal form of a pattern, by which patterns are equal. */
export function formatNamePattern({ name, isWildcard }: NamePattern): string {
  return isWildcard ? `${WILDCARD_PREFIX}${name}` : name;
}

/** Returns the wire name of a host name in lower case, or undefined if it is none. */
export function encodeName(name: string): string | undefined {
  if (name.length + 2 > MAX_WIRE_NAME_LENGTH) return undefined;
  let wire = '';
  for (const label of name.split('.')) {
    if (label.length > MAX_LABEL_LENGTH || !LABEL.test(label)) return undefined;
    wire += String.fromCharCode(label.length) + label;
  }
  return wire;
}

/** Returns the host name of a wire name, or undefined if it has characters that host names do not have. */
export function decodeName(wire: string): string | undefined {
  const labels: string[] = [];
  for (let at = 0; at < wire.length;) {
    const end = at + 1 + wire.charCodeAt(at);
    const label = wire.slice(at + 1, end);
    if (!LABEL.test(label)) return undefined;
    labels.push(label);
    at = end;
  }
  return labels.length === 0 ? undefined : labels.join('.');
}

/** Returns the wire name of the domain that contains a name, '' for one without. */
export function parentOf(wire: string): string {
  return wire.slice(1 + wire.charCodeAt(0));
}
