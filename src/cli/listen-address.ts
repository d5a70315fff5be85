/** Parses `HOST:PORT`, the value of options for a listen address. */
import { InvalidArgumentError } from 'commander';
import { readHostPort, type HostPort } from '#base';

export function parseListenAddress(text: string): HostPort {
  const address = readHostPort(text);
  if (address === undefined) throw new InvalidArgumentError('must be HOST:PORT, such as 127.0.0.1:9100.');
  return address;
}
