/**
 * All parts as processes of their own: control plane, gateway, router and agent over real TLS. How each is enrolled
 * and started stands in `test/support/separate.ts`.
 */
import { join } from 'node:path';
import { startSeparate as startAll, type Separate } from '../support/separate.ts';
import type { BenchRun } from './bench-run.ts';
import { untilAnswers } from './check-client.ts';
import type { Product } from './product.ts';
import { profileArguments } from '../support/ready-process.ts';

export interface SeparateProduct extends Omit<Product, 'firstAnswerMs' | 'stop'> {
  /** Stops all parts and starts them again, all at once; resolves to the milliseconds until the host answers. */
  restart(host: string): Promise<number>;
}

/** Starts them in the folder `name` of the run, with more options of `frontdoor gateway`. They end with the run. */
export async function startParts(
  run: BenchRun,
  name: string,
  gatewayArgs?: readonly string[],
): Promise<Separate> {
  const nodeArgs = profileArguments(run.options.cpuProfileDir);
  const folder = join(run.folder, name);
  return run.keep(await startAll({ folder, logLevel: 'warn', nodeArgs, gatewayArgs }));
}

/** As `startParts`, with the agent's shares. */
export async function startSeparate(run: BenchRun, moreArgs?: readonly string[]): Promise<SeparateProduct> {
  const separate = await startParts(run, 'separate', moreArgs);
  const { control, gateway, router, agent, port } = separate;
  const parts = { gateway, router, agent, control };
  return {
    port,
    zone: 'share.localhost',
    get processes() {
      return new Map(Object.entries(parts).map(([name, { pid }]) => [name, pid]));
    },
    publish: async (name, target) => void (await separate.share('public', target, name)),
    call: async (method, path, body) => {
      const { status, json } = await separate.call(method, path, body);
      if (status < 200 || status > 299) throw new Error(`${method} ${path} was answered ${status}`);
      return (json ?? {}) as Record<string, unknown>;
    },
    restart: async (host) => {
      for (const part of [agent, gateway, router, control]) await part.stop();
      const startedMs = performance.now();
      await Promise.all(Object.values(parts).map((part) => part.start()));
      await untilAnswers({ port, host });
      return performance.now() - startedMs;
    },
  };
}
