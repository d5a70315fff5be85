/**
 * What the API's benchmark measures: the real `frontdoor control` as a process on an embedded or PostgreSQL database
 * that was filled before it was started, and the bare Fastify beside it.
 */
import { join } from 'node:path';
import type { FirstStart } from '#control';
import type { Target } from '../bench-run.ts';
import { startBenchControl, type BenchControl } from './bench-control.ts';
import { fillProviders } from './filled-database.ts';

/** The server that all others are compared with. */
export const HELLO = 'bare Fastify';

/** The product's own limits are not what is measured here. */
const NO_LIMITS = ['--limit-writes', '1000000/1000000', '--limit-credentials', '1000000/1000000'];

export interface ApiServer extends Target {
  readonly url: string;
  readonly port: number;
  readonly credentials: FirstStart;
  /** Authorization of a bearer token with read and write. */
  readonly bearer: string;
  /** A second frontdoor, with the larger number of providers. */
  readonly largeFrontdoorId: string;
  stop(): Promise<void>;
}

export interface ApiServerOptions {
  readonly name: string;
  readonly folder: string;
  /** A PostgreSQL URL; absent: the embedded database. */
  readonly database?: string | undefined;
  /** Providers of the first and of the second frontdoor. */
  readonly providers: readonly [number, number];
  readonly cpuProfileDir: string | undefined;
}

/** Starts it once for its first credentials, fills its database while it is stopped, starts it again. */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const { name, folder, database, providers } = options;
  const dataDir = join(folder, name);
  const first = await startBenchControl({ dataDir, database, limits: NO_LIMITS });
  const credentials = first.ready as BenchControl['ready'] & FirstStart;
  let largeFrontdoorId: string;
  try {
    const answer = await fetch(`${first.ready.apiUrl}/frontdoor`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: basicOf(credentials) },
      body: JSON.stringify({ name: 'large', organizationId: credentials.organizationId }),
    });
    ({ id: largeFrontdoorId } = (await answer.json()) as { id: string });
  } finally {
    await first.running.stop('SIGTERM');
  }
  await fillProviders(dataDir, database, [
    { frontdoorId: credentials.frontdoorId, count: providers[0] },
    { frontdoorId: largeFrontdoorId, count: providers[1] },
  ]);
  const { cpuProfileDir } = options;
  const { running, ready } = await startBenchControl({ dataDir, database, cpuProfileDir, limits: NO_LIMITS });
  try {
    return {
      name,
      url: ready.apiUrl,
      port: Number(new URL(ready.apiUrl).port),
      processes: new Map([['control', ready.pids.control]]),
      credentials,
      bearer: `Bearer ${await issueToken(ready.apiUrl, credentials)}`,
      largeFrontdoorId,
      stop: () => running.stop('SIGTERM'),
    };
  } catch (error) {
    await running.stop('SIGKILL');
    throw error;
  }
}

function basicOf({ accountId, apiToken }: FirstStart): string {
  return `Basic ${accountId}:${apiToken}`;
}

export function tokenBody(apiUrl: string, { clientId, clientSecret }: FirstStart): string {
  return JSON.stringify({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    audience: `${apiUrl}/frontdoor`,
  });
}

async function issueToken(apiUrl: string, credentials: FirstStart): Promise<string> {
  const answer = await fetch(`${apiUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: tokenBody(apiUrl, credentials),
  });
  const { access_token: token } = (await answer.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`no token: ${answer.status}`);
  return token;
}
