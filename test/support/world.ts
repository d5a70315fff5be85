/**
 * The product in one process for tests: control plane, router, gateway and as many agents as wanted, on free ports,
 * with keys and certificates made at run time. The tested parts use sockets nevertheless.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSdkNetwork, startAgent, type Agent } from '#agent';
import { silentLog, type Log } from '#base';
import { callAgent } from '#cli';
import type { AgentShareResult } from '#domain/agent-shapes';
import { JsonClient, type JsonAnswer } from '#net/http';
import { EdgeApiClient, enrollIdentity, enrollRouter, OverlayClient } from '#sdk';
import { afterRunning } from './deadline.ts';
import { recordingLog, withoutDebug, type LogRecord } from './recording-log.ts';
import type { WireCredentials } from './wire-peer.ts';
import type { Up, UpOptions } from '../../bin/up.ts';
import type { FirstStart } from '#control';
import { startLocalUp } from './local-up.ts';

export interface WorldAgent {
  readonly agent: Agent;
  readonly environmentId: string;
  readonly dataDir: string;
  readonly overlay: OverlayClient;
  /** The agent's own client of the edge API. */
  readonly api: EdgeApiClient;
  share(
    target: string,
    options: { name: string; mode?: 'public' | 'private'; grants?: string[] },
  ): Promise<AgentShareResult>;
  close(): Promise<void>;
}

/** An identity that a test uses in ways in which no program of Frontdoor would. */
export interface WorldIdentity {
  readonly id: string;
  readonly credentials: WireCredentials;
  /** Certificate of the authority that signed the edge API's certificate. */
  readonly caPem: string;
  /** Token of its API session at the edge API; empty for a router. */
  readonly sessionToken: string;
  /** Its session at the edge API is the token's. A router has no use for it. */
  readonly api: EdgeApiClient;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface World {
  readonly up: Up;
  readonly dataDir: string;
  readonly credentials: FirstStart;
  /** Everything that the parts logged. */
  readonly records: LogRecord[];
  /** A Management API call with the first account; `path` without `/frontdoor/{id}`. */
  call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<JsonAnswer>;
  /** Grants the hostname of a custom frontend as the operator. */
  grantHostname(customFrontendId: string): Promise<void>;
  enrollmentCode(): Promise<string>;
  /** A JWT for a foreign SDK. */
  enrollmentJwt(): Promise<string>;
  /** `allowTargets`: what the Management API may set as targets; by default nothing. */
  startAgent(name: string, allowTargets?: readonly string[]): Promise<WorldAgent>;
  /** Closes all agents, and removes what they stored. */
  closeAgents(): Promise<void>;
  /** Enrolled and logged in as an environment, attached to nothing. */
  enrollEnvironment(name: string): Promise<WorldIdentity>;
  /** Enrolled as a router, connected to nothing. */
  enrollRouter(name: string): Promise<WorldIdentity>;
  /** Log lines of the parts from now on. */
  recordsFromNow(): () => LogRecord[];
  /** Through the gateway's plain port. */
  get(host: string, path: string): Promise<HttpAnswer>;
  /** A raw connection to the gateway's plain port. */
  connect(): Promise<Socket>;
  close(): Promise<void>;
}

export async function openWorld(options: Partial<UpOptions> = {}): Promise<World> {
  const dataDir = mkdtempSync(join(tmpdir(), 'frontdoor-world-'));
  const records: LogRecord[] = [];
  const log = recordingLog(withoutDebug(records));
  const up = await startLocalUp({ dataDir, interceptDomain: 'ziti', log, ...options });
  const credentials = up.firstStart!;
  const client = new JsonClient({ origin: up.control.apiUrl });
  const authorization = `Basic ${credentials.accountId}:${credentials.apiToken}`;
  const agents = new Set<WorldAgent>();
  const apis = new Set<EdgeApiClient>();

  const call: World['call'] = (method, path, body) =>
    client.request({
      method: method,
      path: `/frontdoor/${credentials.frontdoorId}${path}`,
      headers: { authorization },
      body,
    });
  const enrollmentCode = async (): Promise<string> => {
    const answer = await call('POST', '/agents/enrollments');
    return (answer.json as { enrollmentCode: string }).enrollmentCode;
  };

  const enrollmentJwt = async (): Promise<string> => {
    const path = `/frontdoor/agents/bootstrap-token/${await enrollmentCode()}`;
    return ((await client.request({ method: 'GET', path })).json as { token: string }).token;
  };

  const closeAgents = async (): Promise<void> => {
    await Promise.all([...agents].map((agent) => agent.close()));
    for (const { dataDir: stored } of agents) rmSync(stored, { recursive: true, force: true });
    agents.clear();
  };

  return {
    up,
    dataDir,
    credentials,
    closeAgents,
    records,
    call,
    grantHostname: async (id) => {
      const path = `/hostname-claims/${id}/grant`;
      const { status, text } = await client.request({ method: 'POST', path, headers: { authorization } });
      if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
    },
    enrollmentCode,
    enrollmentJwt,
    enrollEnvironment: async (name) => {
      const { id, identity } = await enrollIdentity({ jwt: await enrollmentJwt(), name });
      const api = new EdgeApiClient({ identity, log: silentLog });
      apis.add(api);
      const { token } = await api.session();
      const credentials = { cert: identity.certPem, key: identity.keyPem };
      return { id, credentials, caPem: identity.caPem, sessionToken: token, api };
    },
    enrollRouter: async (name) => {
      const { token } = await up.control.createFabricNode('router', name);
      const { id, certPem, keyPem, caPem } = await enrollRouter({ jwt: token, hosts: ['localhost'] });
      const identity = { apiUrl: up.control.edgeApiUrl, certPem, keyPem, caPem };
      const api = new EdgeApiClient({ identity, log: silentLog });
      apis.add(api);
      return { id, credentials: { cert: certPem, key: keyPem }, caPem, sessionToken: '', api };
    },
    recordsFromNow: () => {
      const from = records.length;
      return () => records.slice(from);
    },
    startAgent: async (name, allowTargets) => {
      const agent = await startWorldAgent(
        join(dataDir, `agent-${name}`),
        name,
        up,
        await enrollmentCode(),
        log,
        allowTargets,
      );
      agents.add(agent);
      return agent;
    },
    get: (host, path) => httpGet(up.httpPort, host, path),
    connect: () =>
      new Promise((resolve, reject) => {
        const socket = connect(up.httpPort, '127.0.0.1', () => resolve(socket));
        socket.once('error', reject);
      }),
    close: async () => {
      await closeAgents();
      await Promise.all([...apis].map((api) => api.close()));
      await client.close();
      await up.close(0);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export async function startWorldAgent(
  dataDir: string,
  name: string,
  up: Up,
  code: string,
  log: Log,
  allowTargets: readonly string[] = [],
): Promise<WorldAgent> {
  let overlay: OverlayClient | undefined;
  let edgeApi: EdgeApiClient | undefined;
  const agent = await startAgent({
    dataDir,
    allowTargets,
    version: '0.0.0-test',
    log,
    openNetwork: () =>
      openSdkNetwork({
        dataDir,
        apiUrl: up.control.apiUrl,
        enrollmentToken: code,
        name,
        version: '0.0.0-test',
        log,
        openHost: (api) => {
          edgeApi = api;
          return (overlay = new OverlayClient({ api, log, name }));
        },
      }),
  });
  return {
    agent,
    environmentId: agent.environmentId,
    dataDir,
    overlay: overlay!,
    api: edgeApi!,
    share: (target, { name: share, mode = 'public', grants = [] }) =>
      callAgent(agent.socketPath, { op: 'share', mode, target, name: share, grants }),
    close: () => agent.close(),
  };
}

export function httpGet(
  port: number,
  host: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, path, headers: { ...headers, host }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          });
        });
      },
    );
    request.on('error', reject);
    request.end();
  });
}

/** Repeats `ask` until `check` accepts its answer. Fails after `timeoutMs` with the last answer. */
export async function eventually<T>(
  ask: () => Promise<T>,
  check: (value: T) => boolean,
  timeoutMs = 30_000,
): Promise<T> {
  let isLate = false;
  const stop = afterRunning(timeoutMs, () => (isLate = true));
  try {
    for (;;) {
      const value = await ask();
      if (check(value)) return value;
      if (isLate) throw new Error(`still ${JSON.stringify(value)} after ${timeoutMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  } finally {
    stop();
  }
}
