/** Writes the PROXY header of haproxy's protocol, versions 1 and 2. The decoder reads what other proxies write. */
import { utf8 } from '#base';
import { addressText, parseAddress } from '#domain';
import type { ProxyProtocolVersion } from '#domain/upstream';

export interface NamedClient {
  readonly address: string;
  readonly isSecure: boolean;
}

const SIGNATURE = utf8('\r\n\r\n\0\r\nQUIT\n');
const LOCAL = 0x20;
const PROXY = 0x21;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;
const IPV4_BYTES = 4;

/**
 * Without a client whose address is known, the header names none, and the service takes the address of the connection. The source
 * port is 0, because a client behind another proxy has none that is known; the destination is the unspecified address with
 * port 443 or 80, as the client connects.
 */
export function encodeProxyHeader(
  version: ProxyProtocolVersion,
  client: NamedClient | undefined,
): Uint8Array {
  const source = client && parseAddress(client.address);
  if (client === undefined || source === undefined)
    return version === 'v1' ? utf8('PROXY UNKNOWN\r\n') : binary(LOCAL, 0, []);
  const target = new Uint8Array(source.length);
  const port = client.isSecure ? 443 : 80;
  const isV4 = source.length === IPV4_BYTES;
  if (version === 'v1')
    return utf8(`PROXY TCP${isV4 ? 4 : 6} ${addressText(source)} ${addressText(target)} 0 ${port}\r\n`);
  const ports = [0, 0, port >> 8, port & 0xff];
  return binary(PROXY, isV4 ? TCP_OVER_IPV4 : TCP_OVER_IPV6, [...source, ...target, ...ports]);
}

function binary(command: number, family: number, body: readonly number[]): Uint8Array {
  return Uint8Array.from([...SIGNATURE, command, family, 0, body.length, ...body]);
}
