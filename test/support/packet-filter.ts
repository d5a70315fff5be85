/**
 * Faults by the kernel: rules of `nft` on the loopback of a network namespace that this process alone lives in with
 * its children. It needs root on Linux; `enterNamespace` reports when that is missing.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { findCommand } from './child-process.ts';
import type { BadNetwork, FaultNetwork, FaultPoint } from './fault-point.ts';

const INSIDE = 'FRONTDOOR_FAULT_NAMESPACE';
const TABLE = 'inet faults';

/** Why there is no packet filter here; undefined: there is. */
export function packetFilterMissing(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux has one';
  for (const name of ['unshare', 'ip', 'nft', 'tc'])
    if (findCommand(name) === undefined) return `${name} is not installed`;
  const script = `ip link set lo up && nft add table ${TABLE}`;
  const tried = spawnSync('unshare', ['--net', 'sh', '-c', script], { encoding: 'utf8' });
  return tried.status === 0 ? undefined : `no namespace with a filter: ${tried.stderr.trim().slice(0, 200)}`;
}

export function isInNamespace(): boolean {
  return process.env[INSIDE] === '1';
}

/** Runs this very command again inside a namespace of its own; resolves to its exit status. */
export async function enterNamespace(): Promise<number> {
  const script = `ip link set lo up && exec "$@"`;
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const child = spawn('unshare', ['--net', 'sh', '-c', script, 'sh', ...again], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, [INSIDE]: '1' },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

/** Only inside the namespace. */
export const packetFilterNetwork: FaultNetwork = {
  kind: 'packet filter',
  point: (listenerPort) => {
    nft(`add table ${TABLE}`);
    const chain = `${TABLE} port${listenerPort}`;
    nft(`add chain ${chain} { type filter hook input priority 0; }`);
    return Promise.resolve(new FilteredPort(listenerPort, chain));
  },
};

/** All ports share it. */
let isLoopbackSlow = false;

class FilteredPort implements FaultPoint {
  readonly port: number;
  readonly listenerPort: number;
  readonly #chain: string;

  constructor(port: number, chain: string) {
    this.port = port;
    this.listenerPort = port;
    this.#chain = chain;
  }

  cut(): Promise<void> {
    return this.#rule('drop');
  }

  reset(): Promise<void> {
    return this.#rule('reject with tcp reset', 'tcp flags & rst == rst accept');
  }

  /**
   * Loses packets of this port, and limits the rate of the whole loopback, because not every kernel can delay
   * packets.
   */
  async worsen({ loss, bytesPerSecond }: BadNetwork): Promise<void> {
    await this.#rule(`numgen random mod 1000 < ${Math.round(loss * 1_000)} drop`);
    if (!Number.isFinite(bytesPerSecond)) return;
    const rate = `${Math.round(bytesPerSecond * 8)}bit`;
    run('tc', [
      'qdisc',
      'replace',
      'dev',
      'lo',
      'root',
      'tbf',
      'rate',
      rate,
      'burst',
      '70k',
      'latency',
      '400ms',
    ]);
    isLoopbackSlow = true;
  }

  heal(): Promise<void> {
    nft(`flush chain ${this.#chain}`);
    if (isLoopbackSlow) run('tc', ['qdisc', 'del', 'dev', 'lo', 'root']);
    isLoopbackSlow = false;
    return Promise.resolve();
  }

  async close(): Promise<void> {
    await this.heal();
    nft(`delete chain ${this.#chain}`);
  }

  #rule(verdict: string, exception?: string): Promise<void> {
    nft(`flush chain ${this.#chain}`);
    if (exception !== undefined) nft(`add rule ${this.#chain} ${exception}`);
    for (const way of ['dport', 'sport']) nft(`add rule ${this.#chain} tcp ${way} ${this.port} ${verdict}`);
    return Promise.resolve();
  }
}

function nft(rule: string): void {
  run('nft', [rule]);
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}
