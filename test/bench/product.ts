/**
 * The product as a user starts it: `frontdoor up --demo` (control plane, gateway and router in one process, the agent
 * in its own).
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../support/part-process.ts';
import { until } from './bench-process.ts';
import { get, type ClientEntrance } from './check-client.ts';
import { startReady } from './ready-process.ts';

const SERVED_DEADLINE_MS = 60_000;

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

export interface ProductOptions {
  readonly folder: string;
  /** More options of `frontdoor up`, or of `frontdoor gateway` where the parts are separate. */
  readonly args: readonly string[];
  readonly cpuProfileDir: string | undefined;
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

export interface UpProduct extends Product {
  readonly apiUrl: string;
  readonly frontdoorId: string;
  /** The first account's credentials for the Management API. */
  readonly authorization: string;
}

/** Waits until the share answers 200. */
export async function untilServed(
  port: number,
  host: string,
  path: string,
  entrance: ClientEntrance = {},
): Promise<void> {
  await until(`an answer of ${host}`, SERVED_DEADLINE_MS, async () => {
    const { status, body } = await get(port, host, path, entrance);
    if (status !== 200) throw new Error(`${status} ${body.slice(0, 300)}`);
  });
}

/** Starts it, with what an earlier start left in `folder`; resolves when the demo's share was answered. */
export async function startUp({ folder, args, cpuProfileDir }: ProductOptions): Promise<UpProduct> {
  mkdirSync(folder, { recursive: true });
  const startedMs = performance.now();
  const { running, ready } = await startReady<UpReady>({
    args: ['up', '--demo', '--data-dir', join(folder, 'data'), ...args],
    readyFile: join(folder, 'ready.json'),
    cpuProfileDir,
  });
  const { agentSocket, shareHost, apiUrl, frontdoorId, pids } = ready;
  const stop = (): Promise<void> => running.stop('SIGINT', 10_000);
  const port = Number(new URL(ready.gatewayUrl).port);
  try {
    await untilServed(port, shareHost, '/');
  } catch (error) {
    await stop();
    throw new Error(`frontdoor up serves nothing: ${running.tail()}`, { cause: error });
  }
  const authorization = `Basic ${ready.accountId}:${ready.apiToken}`;
  return {
    port,
    zone: shareHost.slice(shareHost.indexOf('.') + 1),
    processes: new Map([
      ['up', pids.up],
      ['agent', pids.agent],
    ]),
    firstAnswerMs: performance.now() - startedMs,
    apiUrl,
    frontdoorId,
    authorization,
    publish: async (name, target) => {
      await runCommand(['agent', 'share', 'public', target, '--name', name, '--socket', agentSocket]);
    },
    call: (method, path, body) =>
      callApi(`${apiUrl}/frontdoor/${frontdoorId}${path}`, authorization, method, body),
    stop,
  };
}

/** A call of the Management API; throws unless it is answered 2xx. */
export async function callApi(
  url: string,
  authorization: string,
  method: string,
  body: object | undefined,
): Promise<Record<string, unknown>> {
  const answer = await fetch(url, {
    method,
    headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${url} was answered ${answer.status}: ${text.slice(0, 300)}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}
