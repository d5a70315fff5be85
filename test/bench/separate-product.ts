/**
 * All parts as processes of their own: control plane, gateway, router and agent over real TLS. How each is enrolled
 * and started stands in `test/support/separate.ts`.
 */
import { join } from 'node:path';
import { callAgent } from '#cli';
import {
  portOf,
  startSeparate as startAll,
  type Separate,
  type SeparateAgent,
  type SeparateOptions,
} from '../support/separate.ts';
import type { BenchRun } from './bench-run.ts';
import { untilAnswers } from './check-client.ts';
import type { Product } from './product.ts';
import { profileArguments } from '../support/ready-process.ts';

export interface SeparateProduct extends Omit<Product, 'firstAnswerMs' | 'stop'> {
  /** Stops all parts and starts them again, all at once; resolves to the milliseconds until the host answers. */
  restart(host: string): Promise<number>;
}

/** The parts, and a second agent at which clients of private shares arrive. */
export interface TwoAgents {
  readonly separate: Separate;
  readonly visitor: SeparateAgent;
}

type MoreOptions = Pick<SeparateOptions, 'gatewayArgs' | 'advertiseEdge'>;

/** Starts them in the folder `name` of the run, with more options. They end with the run. */
export async function startParts(run: BenchRun, name: string, options?: MoreOptions): Promise<Separate> {
  const nodeArgs = profileArguments(run.options.cpuProfileDir);
  const folder = join(run.folder, name);
  return run.keep(await startAll({ ...options, folder, logLevel: 'warn', nodeArgs }));
}

/** As `startParts`, with a second agent. */
export async function startTwoAgents(run: BenchRun, name: string, options?: MoreOptions): Promise<TwoAgents> {
  run.report(`starting the product: ${name}`);
  const separate = await startParts(run, name, options);
  return { separate, visitor: await separate.addAgent('visitor') };
}

/** Shares the service of an agent privately with another one; resolves to the port there that leads to it. */
export async function openPrivateShare(
  agentSocket: string,
  visitor: SeparateAgent,
  target: string,
  name: string,
): Promise<number> {
  const grants = [visitor.part.ready.environmentId];
  await callAgent(agentSocket, { op: 'share', mode: 'private', target, name, grants });
  const where = { host: '127.0.0.1', port: 0, protocol: 'tcp' } as const;
  const { listen, problem } = await callAgent(visitor.socket, { op: 'access', share: name, ...where });
  if (problem !== null) throw new Error(`${name} cannot be reached: ${problem}`);
  return Number(portOf(listen));
}

/** As `startParts`, with the agent's shares. */
export async function startSeparate(run: BenchRun, moreArgs?: readonly string[]): Promise<SeparateProduct> {
  const separate = await startParts(run, 'separate', { gatewayArgs: moreArgs });
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
