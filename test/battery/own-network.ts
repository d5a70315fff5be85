/**
 * Runs a row once more in a network namespace of its own, whose kernel is set up as docs/guide/gateway-machines.md
 * asks for. This needs root on Linux; elsewhere the row runs without a namespace, and reports that.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import process from 'node:process';

const INSIDE = 'FRONTDOOR_BATTERY_NAMESPACE';
/** By file below `/proc/sys/net/ipv4`. */
export const KERNEL_SETTINGS: Readonly<Record<string, number>> = { tcp_notsent_lowat: 131_072 };

const SCRIPT = [
  'ip link set lo up',
  ...Object.entries(KERNEL_SETTINGS).map(([name, value]) => `echo ${value} > /proc/sys/net/ipv4/${name}`),
].join(' && ');

/** Whether this machine, or the namespace that one is in, is set up. */
export function isSetUp(): boolean {
  try {
    return Object.entries(KERNEL_SETTINGS).every(
      ([name, most]) => Number(readFileSync(`/proc/sys/net/ipv4/${name}`, 'utf8')) <= most,
    );
  } catch {
    return false;
  }
}

/** The reason why no namespace can be made; undefined when one can. */
export function ownNetworkMissing(): string | undefined {
  if (process.env[INSIDE] === '1') return 'this is one';
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux has one';
  const tried = spawnSync('unshare', ['--net', 'sh', '-c', SCRIPT], { encoding: 'utf8' });
  return tried.status === 0 ? undefined : (tried.stderr ?? String(tried.error)).trim().slice(0, 200);
}

/** This program with other arguments; its exit status. */
export async function runInOwnNetwork(
  args: readonly string[],
  onChild: (pid: number) => void,
): Promise<number> {
  const again = [process.execPath, ...process.execArgv, process.argv[1]!, ...args];
  const child = spawn('unshare', ['--net', 'sh', '-c', `${SCRIPT} && exec "$@"`, 'sh', ...again], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, [INSIDE]: '1' },
  });
  if (child.pid !== undefined) onChild(child.pid);
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
