/**
 * Reads the PROXY protocol header (versions 1 and 2 of haproxy's specification) with which a proxy of connections names
 * its client. It comes before TLS. Which addresses may send one is decided elsewhere.
 */
import { textOf, utf8 } from '#base';
import { addressText } from '#domain';
import { forwardedAddress } from '#domain/proxies';

export type ProxyHeaderOutcome =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'refused'; readonly cause: string }
  | {
      readonly kind: 'header';
      /** Length of the header. */
      readonly bytes: number;
      /** In canonical form; undefined if the connection is the proxy's own, or its client's address is not known. */
      readonly address: string | undefined;
      /** Whether the client uses TLS towards the proxy, if that reports it. */
      readonly isSecure: boolean;
    };

/** The line end counts. */
const MAX_LINE_BYTES = 107;
const SIGNATURE = utf8('\r\n\r\n\0\r\nQUIT\n');
const HEAD_BYTES = 16;
/** The most that a header of version 2 takes with its extensions. Clouds and haproxy send less than 1 KiB. */
export const MAX_PROXY_HEADER_BYTES = 4_096;
const LINE_START = utf8('PROXY ');
const LINE = /^PROXY (?:UNKNOWN(?: [^\r\n]*)?|TCP([46]) (\S+) (\S+) (\d{1,5}) (\d{1,5}))$/;

const CR = 13;
const LF = 10;
const LOCAL = 0x20;
const PROXY = 0x21;
const UNSPECIFIED = 0x00;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;
/** Bytes of an address, by family and transport. The header has two addresses and two ports. */
const ADDRESS_BYTES: Readonly<Record<number, number>> = { [TCP_OVER_IPV4]: 4, [TCP_OVER_IPV6]: 16 };
const TLS_EXTENSION = 0x20;
/** The bit of a TLS extension for a client that uses TLS. */
const CLIENT_USES_TLS = 1;

const INCOMPLETE: ProxyHeaderOutcome = { kind: 'incomplete' };

/** `bytes` is everything that the proxy has sent so far. */
export function decodeProxyHeader(bytes: Uint8Array): ProxyHeaderOutcome {
  if (isBeginning(bytes, SIGNATURE)) return bytes.length < HEAD_BYTES ? INCOMPLETE : decodeBinary(bytes);
  if (isBeginning(bytes, LINE_START)) return decodeLine(bytes);
  return refused('the connection does not begin with a PROXY header');
}

/** Whether one of both begins with the other. */
function isBeginning(bytes: Uint8Array, expected: Uint8Array): boolean {
  return expected.every((byte, at) => at >= bytes.length || bytes[at] === byte);
}

function decodeLine(bytes: Uint8Array): ProxyHeaderOutcome {
  const end = bytes.indexOf(CR);
  if (end === -1 || end + 2 > MAX_LINE_BYTES)
    return end === -1 && bytes.length < MAX_LINE_BYTES ? INCOMPLETE : refused('the PROXY line is too long');
  if (end + 1 === bytes.length) return INCOMPLETE;
  if (bytes[end + 1] !== LF) return refused('the PROXY line is malformed');
  const match = LINE.exec(textOf(bytes.subarray(0, end)));
  if (match === null) return refused('the PROXY line is malformed');
  const [, family, source = '', target = '', sourcePort, targetPort] = match;
  if (family === undefined) return header(end + 2, undefined, false);
  const areValid = [source, target].every((text) => isOf(family, text));
  if (!areValid || Number(sourcePort) > 65_535 || Number(targetPort) > 65_535)
    return refused('the PROXY line is malformed');
  return header(end + 2, forwardedAddress(source), false);
}

function uint16At(bytes: Uint8Array, at: number): number {
  return bytes[at]! * 256 + bytes[at + 1]!;
}

function isOf(family: string, text: string): boolean {
  return (
    forwardedAddress(text) !== undefined &&
    /^[0-9A-Fa-f:.]+$/.test(text) &&
    text.includes(':') === (family === '6')
  );
}

function decodeBinary(bytes: Uint8Array): ProxyHeaderOutcome {
  const command = bytes[12]!;
  const family = bytes[13]!;
  const length = HEAD_BYTES + uint16At(bytes, 14);
  if (command !== LOCAL && command !== PROXY)
    return refused('the PROXY header has an unknown version or command');
  if (length > MAX_PROXY_HEADER_BYTES)
    return refused(`the PROXY header is larger than ${MAX_PROXY_HEADER_BYTES} bytes`);
  if (bytes.length < length) return INCOMPLETE;
  // The receiver ignores the rest of such a header.
  if (command === LOCAL || family === UNSPECIFIED) return header(length, undefined, false);
  const addressBytes = ADDRESS_BYTES[family];
  if (addressBytes === undefined) return refused('the client in the PROXY header does not use TCP over IP');
  const extensions = HEAD_BYTES + 2 * addressBytes + 4;
  if (extensions > length) return refused('the PROXY header is too short for its addresses');
  const source = bytes.subarray(HEAD_BYTES, HEAD_BYTES + addressBytes);
  const isSecure = usesTls(bytes.subarray(extensions, length));
  if (isSecure === undefined) return refused('an extension of the PROXY header is malformed');
  return header(length, canonicalOf(source), isSecure);
}

/** An IPv4 address that is written as IPv6 is the IPv4 address. */
function canonicalOf(bytes: Uint8Array): string {
  return forwardedAddress(addressText(bytes))!;
}

/** Returns undefined if the extensions (type, length, value) do not fill their place. */
function usesTls(extensions: Uint8Array): boolean | undefined {
  let found = false;
  for (let at = 0; at < extensions.length;) {
    if (at + 3 > extensions.length) return undefined;
    const start = at + 3;
    const end = start + uint16At(extensions, at + 1);
    if (end > extensions.length) return undefined;
    if (extensions[at] === TLS_EXTENSION && end > start) found = (extensions[start]! & CLIENT_USES_TLS) !== 0;
    at = end;
  }
  return found;
}

function header(bytes: number, address: string | undefined, isSecure: boolean): ProxyHeaderOutcome {
  return { kind: 'header', bytes, address, isSecure };
}

function refused(cause: string): ProxyHeaderOutcome {
  return { kind: 'refused', cause };
}
