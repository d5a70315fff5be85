import { formatHostPort } from '#base';

/** Overlay addresses of the form `<type>:<host>:<port>`. IPv6 hosts are in brackets, which are removed when parsed. */
export interface OverlayAddress {
  readonly type: string;
  /** Without brackets. May be empty (all interfaces). */
  readonly host: string;
  readonly port: number;
}

const ADDRESS = /^([a-z]+):(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/]*)):(\d{1,5})$/;

/** Returns undefined if the text is not an address. `types` lists the accepted ones. */
export function parseAddress(text: string, types: readonly string[] = ['tls']): OverlayAddress | undefined {
  const match = ADDRESS.exec(text);
  if (match === null || !types.includes(match[1]!)) return undefined;
  const port = Number(match[4]);
  return port > 65_535 ? undefined : { type: match[1]!, host: match[2] ?? match[3] ?? '', port };
}

export function formatAddress({ type, host, port }: OverlayAddress): string {
  return `${type}:${formatHostPort(host, port)}`;
}
