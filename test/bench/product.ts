/**
 * The product as a user starts it: `frontdoor up --demo` (control plane, gateway and router in one process, the agent
 * in its own), and a share of the benchmark's private service published through the agent's control socket.
 */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { startProcess, until, type Running } from './bench-process.ts';
import { get, type ClientEntrance } from './check-client.ts';
import type { ProductShape } from './bench-options.ts';

const START_DEADLINE_MS = 60_000;
const LAUNCHER = join(repositoryRoot, 'bin/frontdoor.js');

export interface Product {
  readonly shape: ProductShape;
  /** The gateway's plain HTTP port. */
  readonly port: number;
  /** The Host of the published private service. */
  readonly host: string;
  /** Process ids by part, for CPU time and memory. */
  readonly processes: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

export interface ProductOptions {
  readonly folder: string;
  /** The private service. */
  readonly servicePort: number;
  readonly cpuProfileDir: string | undefined;
}

export interface Started {
  readonly product: Product;
  /** From the start of the launcher to the first answer of a share. */
  readonly firstRequestMs: number;
}

interface ReadyFile {
  readonly gatewayUrl: string;
  readonly shareHost: string;
  readonly agentSocket: string;
  readonly pids: { readonly up: number; readonly agent: number; readonly sample?: number };
}

/** The environment of a product process: the CPU profile, if one is wanted. */
export function profilingEnvironment(cpuProfileDir: string | undefined): NodeJS.ProcessEnv {
  if (cpuProfileDir === undefined) return {};
  const options = `--cpu-prof --cpu-prof-dir=${cpuProfileDir}`;
  return { FRONTDOOR_NODE_OPTIONS: options, NODE_OPTIONS: options };
}

/** Runs one `frontdoor` command to its end; throws with what it printed when it fails. */
export async function runFrontdoor(...args: string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [LAUNCHER, ...args], { timeout: 30_000 });
    return stdout;
  } catch (error) {
    const { stderr = '', stdout = '' } = error as { stderr?: string; stdout?: string };
    throw new Error(`frontdoor ${args[0]} ${args[1]} failed: ${stderr}${stdout}`, { cause: error });
  }
}

/** Waits until the share answers 200 to a plain request. */
export async function untilServed(
  port: number,
  host: string,
  path: string,
  entrance: ClientEntrance = {},
): Promise<void> {
  await until(`an answer of ${host}`, START_DEADLINE_MS, async () => {
    const { status, body } = await get(port, host, path, entrance);
    if (status !== 200) throw new Error(`${status} ${body.slice(0, 300)}`);
  });
}

async function startDemo(
  options: ProductOptions,
): Promise<{ running: Running; ready: ReadyFile; tookMs: number }> {
  const readyFile = join(options.folder, 'ready.json');
  rmSync(readyFile, { force: true });
  const startedMs = performance.now();
  const args = [
    'up',
    '--demo',
    '--data-dir',
    join(options.folder, 'data'),
    '--any-port',
    '--ready-file',
    readyFile,
  ];
  const running = startProcess(
    process.execPath,
    [LAUNCHER, ...args],
    profilingEnvironment(options.cpuProfileDir),
  );
  try {
    const ready = await until('the ready file of frontdoor up', START_DEADLINE_MS, () => {
      if (running.child.exitCode === null) return JSON.parse(readFileSync(readyFile, 'utf8')) as ReadyFile;
      return undefined;
    });
    if (ready === undefined) throw new Error(`frontdoor up ended: ${running.tail()}`);
    await untilServed(Number(new URL(ready.gatewayUrl).port), ready.shareHost, '/');
    return { running, ready, tookMs: performance.now() - startedMs };
  } catch (error) {
    await running.stop('SIGINT', 8_000);
    throw new Error(`frontdoor up did not get ready: ${running.tail()}`, { cause: error });
  }
}

/** Starts it with an empty data directory, stops it, starts it again: the second start is the one that is timed. */
export async function startUp(options: ProductOptions): Promise<Started> {
  const first = await startDemo(options);
  await first.running.stop('SIGINT', 10_000);
  const { running, ready, tookMs } = await startDemo(options);
  const target = `http://127.0.0.1:${options.servicePort}`;
  const port = Number(new URL(ready.gatewayUrl).port);
  const host = `bench${ready.shareHost.slice(ready.shareHost.indexOf('.'))}`;
  try {
    await runFrontdoor('agent', 'share', 'public', target, '--name', 'bench', '--socket', ready.agentSocket);
    await untilServed(port, host, '/small');
  } catch (error) {
    await running.stop('SIGINT', 10_000);
    throw error;
  }
  return {
    firstRequestMs: tookMs,
    product: {
      shape: 'up',
      port,
      host,
      processes: new Map([
        ['up', ready.pids.up],
        ['agent', ready.pids.agent],
      ]),
      stop: () => running.stop('SIGINT', 10_000),
    },
  };
}
