/** The private service of load rows as its tests see it: its process, its port and the counts that it keeps. */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { within } from '../support/deadline.ts';
import { httpGet } from '../support/world.ts';
import type { ServiceCounts } from './load-service.ts';

const PROGRAM = fileURLToPath(new URL('./load-service.ts', import.meta.url));
const BLOCK = Buffer.from(Uint8Array.from({ length: 65_536 }, (_, i) => (i * 31 + (i >> 8)) & 0xff));

export interface LoadOrigin {
  readonly port: number;
  counts(): Promise<ServiceCounts>;
  /** Makes `/sink` read at full speed. */
  hurry(): Promise<void>;
  stop(): Promise<void>;
}

export async function startLoadOrigin(): Promise<LoadOrigin> {
  const child = fork(PROGRAM, {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [port] = (await within('the private service listens', once(child, 'message'))) as [number];
  return {
    port,
    counts: async () =>
      JSON.parse(String((await httpGet(port, 'localhost', '/counts')).body)) as ServiceCounts,
    hurry: async () => void (await httpGet(port, 'localhost', '/hurry')),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** SHA-256 of what `/bytes/count` answers. */
export function digestOfBytes(count: number): string {
  const hash = createHash('sha256');
  for (let at = 0; at < count; at += BLOCK.length) {
    BLOCK.writeUInt32BE(at / BLOCK.length, 0);
    hash.update(BLOCK.subarray(0, Math.min(BLOCK.length, count - at)));
  }
  return hash.digest('hex');
}
