/**
 * The product as a user starts it: `frontdoor up --demo` (control plane, gateway and router in one process, the agent
 * in its own).
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { definedFields } from '#base';
import { runCommand } from '../support/part-process.ts';
import type { BenchRun } from './bench-run.ts';
import { untilAnswers } from './check-client.ts';
import { startReady } from '../support/ready-process.ts';

export interface Product {
  /** The gateway's plain HTTP port. */
  readonly port: number;
  /** What follows the name of a share in its host name. */
  readonly zone: string;
  /** Process ids by part; the one that clients are connected to comes first. */
  readonly processes: ReadonlyMap<string, number>;
  /** From its start to the first answer of a share. */
  readonly firstAnswerMs: number;
  /** Makes `target` reachable as a share of that name. */
  publish(name: string, target: string): Promise<void>;
  /** A call of the Management API below `/frontdoor/{id}`; throws unless it is answered 2xx. */
  call(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

interface UpReady {
  readonly gatewayUrl: string;
  readonly shareHost: string;
  readonly apiUrl: string;
  readonly agentSocket: string;
  readonly frontdoorId: string;
  readonly accountId: string;
  readonly apiToken: string;
  readonly pids: { readonly up: number; readonly agent: number };
}

/** Where the Management API is, and the first account's credentials for it. */
export interface ApiAccess {
  readonly apiUrl: string;
  readonly frontdoorId: string;
  readonly authorization: string;
}

export interface UpProduct extends Product, ApiAccess {
  readonly dataDir: string;
  /** From its start to its ready file. */
  readonly readyMs: number;
}

/**
 * Starts it, with what an earlier start left in the folder `name` of the run, and with these options; resolves when the
 * demo's share was answered.
 */
export async function startUp(
  run: BenchRun,
  name: string,
  args: readonly string[] = ['--any-port'],
): Promise<UpProduct> {
  const folder = join(run.folder, name);
  const dataDir = join(folder, 'data');
  mkdirSync(folder, { recursive: true });
  const startedMs = performance.now();
  const { running, ready } = await startReady<UpReady>({
    args: ['up', '--demo', '--data-dir', dataDir, ...args],
    readyFile: join(folder, 'ready.json'),
    cpuProfileDir: run.options.cpuProfileDir,
  });
  const readyMs = performance.now() - startedMs;
  const { agentSocket, shareHost, apiUrl, frontdoorId, pids } = ready;
  const stop = (): Promise<void> => running.stop('SIGINT', 10_000);
  const port = Number(new URL(ready.gatewayUrl).port);
  try {
    await untilAnswers({ port, host: shareHost }, { path: '/' });
  } catch (error) {
    await stop();
    throw new Error(`frontdoor up serves nothing: ${running.tail()}`, { cause: error });
  }
  const access = { apiUrl, frontdoorId, authorization: authorizationOf(ready) };
  return {
    port,
    zone: shareHost.slice(shareHost.indexOf('.') + 1),
    processes: new Map([
      ['up', pids.up],
      ['agent', pids.agent],
    ]),
    dataDir,
    readyMs,
    firstAnswerMs: performance.now() - startedMs,
    ...access,
    publish: async (name, target) => {
      await runCommand(['agent', 'share', 'public', target, '--name', name, '--socket', agentSocket]);
    },
    call: (method, path, body) => callApi(access, method, `/frontdoor/${frontdoorId}${path}`, body),
    stop,
  };
}

export function authorizationOf(account: { readonly accountId: string; readonly apiToken: string }): string {
  return `Basic ${account.accountId}:${account.apiToken}`;
}

/** A call of the Management API, without credentials when they are absent; throws unless it is answered 2xx. */
export async function callApi(
  { apiUrl, authorization }: Pick<ApiAccess, 'apiUrl'> & Partial<ApiAccess>,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const answer = await fetch(apiUrl + path, {
    method,
    headers: {
      ...definedFields({ authorization }),
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text.slice(0, 300)}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}
