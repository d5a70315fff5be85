/** Whether this process may change addresses, routes and rules of the machine. */
import { readFile } from 'node:fs/promises';

/** CAP_NET_ADMIN of capabilities(7). */
const NET_ADMIN_BIT = 12n;

export const NET_ADMIN_REMEDY =
  'run it as root, or with AmbientCapabilities=CAP_NET_ADMIN CAP_NET_BIND_SERVICE in its systemd unit, or with --cap-add NET_ADMIN in a container';

/** On systems other than Linux, nothing has the capability. */
export async function hasNetAdmin(): Promise<boolean> {
  const status = await readFile('/proc/self/status', 'latin1').catch(() => '');
  const effective = /^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> NET_ADMIN_BIT) & 1n) === 1n;
}
