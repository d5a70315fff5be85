/** Addresses of name servers on the command line. */
import { FrontdoorError } from '#base';
import { areDnsServers } from '#net/names';

/** Throws `invalid` unless each is an address, with or without a port. */
export function checkedDnsServers(option: string, servers: readonly string[]): readonly string[] {
  if (areDnsServers(servers)) return servers;
  const message = `${option} takes addresses, such as 192.0.2.53 or [2001:db8::53]:53`;
  throw new FrontdoorError('invalid', 'dns-server-option', message);
}
