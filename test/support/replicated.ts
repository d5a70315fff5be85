/**
 * Two control planes as processes of their own over one PostgreSQL, started at once on an empty database with
 * copies of one key file; a router, a gateway and an agent whose configuration names only the second one.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callAgent } from '#cli';
import type { FirstStart } from '#control';
import { AGENT_SOCKET_FILE, type AgentStatusResult } from '#domain/agent-shapes';
import { loadIdentityFile } from '#net/files';
import { JsonClient, type JsonAnswer } from '#net/http';
import { callCommand } from './command-line.ts';
import { PartProcess } from './part-process.ts';
import { sharedPostgres } from './postgres.ts';
import {
  portFor,
  portOf,
  routerFile,
  type ControlReady,
  type GatewayReady,
  type RouterReady,
} from './separate.ts';

export type ReplicaReady = ControlReady & Partial<FirstStart>;

export interface Replicated {
  readonly folder: string;
  readonly a: PartProcess<ReplicaReady>;
  readonly b: PartProcess<ReplicaReady>;
  readonly router: PartProcess<RouterReady>;
  readonly agent: PartProcess<AgentStatusResult>;
  /** Authority of the overlay's certificates, as the gateway was given it. */
  readonly authorityPem: string;
  /** Port of the gateway's plain listener. */
  readonly port: number;
  readonly credentials: FirstStart;
  /** A call of the Management API of one of them, with the first account's credentials unless others, or none, are given. */
  call(
    at: PartProcess<ReplicaReady>,
    method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    more?: { readonly body?: unknown; readonly authorization?: string | null },
  ): Promise<JsonAnswer>;
  stop(): Promise<void>;
}

type Killable = Pick<PartProcess, 'kill'>;

export async function startReplicated(): Promise<Replicated> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-replicated-'));
  const started: Killable[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((part) => part.kill()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    return await startAll(folder, started, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startAll(folder: string, started: Killable[], stop: () => Promise<void>): Promise<Replicated> {
  const file = (name: string): string => join(folder, name);
  const database = await (await sharedPostgres()).createDatabase();
  const key = `k1 ${randomBytes(32).toString('base64')}\n`;
  const replica = (name: string): PartProcess<ReplicaReady> => {
    mkdirSync(file(name), { mode: 0o700 });
    writeFileSync(join(file(name), 'secrets.key'), key, { mode: 0o600 });
    const part = new PartProcess<ReplicaReady>({
      name,
      env: { FRONTDOOR_DATABASE: database },
      readyFile: file(`${name}.json`),
      args: async (last) => [
        'control',
        '--data-dir',
        file(name),
        '--zone',
        'share.localhost',
        '--ready-file',
        file(`${name}.json`),
        '--api-port',
        await portFor(last?.apiUrl),
        '--edge-api-port',
        await portFor(last?.edgeApiUrl),
        '--ctrl-port',
        await portFor(last?.ctrlAddress),
      ],
    });
    started.push(part);
    return part;
  };
  const [a, b] = [replica('a'), replica('b')];
  const ready = await Promise.all([a.start(), b.start()]);
  const shown = ready.filter(({ apiToken }) => apiToken !== undefined);
  if (shown.length !== 1) throw new Error(`${shown.length} of two showed the first secrets`);
  const credentials = shown[0] as FirstStart;
  const client = (url: string): JsonClient => new JsonClient({ origin: url, timeoutMs: 20_000 });
  const call: Replicated['call'] = async (at, method, path, { body, authorization } = {}) => {
    const own = `Basic ${credentials.accountId}:${credentials.apiToken}`;
    const api = client(at.ready.apiUrl);
    try {
      const headers = authorization === null ? {} : { authorization: authorization ?? own };
      return await api.request({ method, path, headers, body });
    } finally {
      await api.close();
    }
  };

  const env = {
    FRONTDOOR_API_URL: b.ready.apiUrl,
    FRONTDOOR_ACCOUNT_ID: credentials.accountId,
    FRONTDOOR_API_TOKEN: credentials.apiToken,
  };
  const enroll = async (kind: 'router' | 'gateway'): Promise<string> => {
    await callCommand(['fabric', kind, 'create', kind, '--out', file(`${kind}.jwt`)], env);
    return file(`${kind}.jwt`);
  };
  writeFileSync(file('router.yml'), routerFile(folder, b.ready.ctrlAddress, 0));
  await callCommand(['router', 'enroll', file('router.yml'), '--jwt', await enroll('router')]);
  const router = new PartProcess<RouterReady>({
    name: 'router',
    readyFile: file('router.json'),
    args: () => ['router', 'run', file('router.yml'), '--ready-file', file('router.json')],
  });
  started.push(router);
  await router.start();
  const gatewayJwt = await enroll('gateway');
  const gateway = new PartProcess<GatewayReady>({
    name: 'gateway',
    readyFile: file('gateway.json'),
    args: () => [
      'gateway',
      '--data-dir',
      file('gateway'),
      '--enrollment-jwt',
      gatewayJwt,
      '--http-port',
      '0',
      '--ready-file',
      file('gateway.json'),
    ],
  });
  started.push(gateway);
  await gateway.start();
  const { json } = await call(b, 'POST', `/frontdoor/${credentials.frontdoorId}/agents/enrollments`);
  const agent = new PartProcess<AgentStatusResult>({
    name: 'agent',
    probe: () => callAgent(join(file('agent'), AGENT_SOCKET_FILE), { op: 'status' }, 1_000),
    args: () => [
      'agent',
      'start',
      '--data-dir',
      file('agent'),
      '--api',
      b.ready.apiUrl,
      '--name',
      'replicated',
      '--allow-target',
      '127.0.0.0/8:*',
      '--enrollment-token',
      (json as { enrollmentCode: string }).enrollmentCode,
    ],
  });
  started.push(agent);
  await agent.start();
  const { caPem } = await loadIdentityFile(join(file('gateway'), 'identity.json'));
  const port = Number(portOf(gateway.ready.gatewayUrl));
  return { folder, a, b, router, agent, authorityPem: caPem, port, credentials, call, stop };
}
