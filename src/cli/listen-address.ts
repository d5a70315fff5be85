/** Parses `HOST:PORT`, the value of options for a listen address. */
import { InvalidArgumentError } from 'commander';

export interface ListenHostPort {
  /** An IPv6 address has no brackets here. */
  readonly host: string;
  readonly port: number;
}

export function parseListenAddress(text: string): ListenHostPort {
  const [, bracketed, plain, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(digits) > 65_535)
    throw new InvalidArgumentError('must be HOST:PORT, such as 127.0.0.1:9100.');
  return { host, port: Number(digits) };
}
