/**
 * What open streams of changes cost the control plane: its resident memory with 200 of them, each with a session of its own
 * and with changes on their way, less the memory before.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FirstStart } from '#control';
import { figureOf } from '../figure.ts';
import { residentBytes } from '../bench-process.ts';
import type { BenchRun } from '../bench-run.ts';
import { startReady } from '../ready-process.ts';
import { EMBEDDED, POSTGRESQL } from './api-server.ts';
import { openBenchPostgres } from './bench-postgres.ts';

const SCENARIO = 'open streams of changes';
const STREAMS = 200;
export const STREAMS_TABLE = `${STREAMS} ${SCENARIO}`;
export const STREAMS_COLUMN = 'memory, MiB';
/** The API bounds the streams of one account. */
const ACCOUNTS = 5;
const CHANGES = 20;
const SETTLE_MS = 3_000;

interface ReadyFile extends FirstStart {
  readonly apiUrl: string;
  readonly pids: { readonly control: number };
}

interface Account {
  readonly id: string;
  readonly token: string;
}

export async function measureConsoleStreams(run: BenchRun): Promise<void> {
  if (!run.wants(SCENARIO)) return;
  await measureAt(run, EMBEDDED);
  const postgres = await openBenchPostgres();
  if (postgres === undefined) return run.skip(`${SCENARIO}, ${POSTGRESQL}`, 'not installed');
  run.defer(() => postgres.close());
  await measureAt(run, POSTGRESQL, postgres.url);
}

async function measureAt(run: BenchRun, name: string, database?: string): Promise<void> {
  run.report(`measuring: ${SCENARIO}, ${name}`);
  const dataDir = join(run.folder, `streams-${name}`);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const { running, ready } = await startReady<ReadyFile>({
    args: [
      'control',
      ...['--data-dir', dataDir, '--api-port', '0', '--edge-api-port', '0', '--ctrl-port', '0'],
      ...['--log-level', 'warn'],
    ],
    readyFile: join(dataDir, 'ready.json'),
    env: database === undefined ? {} : { FRONTDOOR_DATABASE: database },
    cpuProfileDir: run.options.cpuProfileDir,
  });
  try {
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => makeAccount(ready)));
    const rounds: number[] = [];
    // The first round also loads code, and grows the heap to its usual size.
    for (let round = 0; round <= run.options.singleRounds; round += 1) {
      const bytes = await heldBytes(ready, accounts);
      if (round > 0) rounds.push(bytes);
    }
    run.record(STREAMS_TABLE, name, { [STREAMS_COLUMN]: Math.max(0, figureOf(rounds).median) / 1_048_576 });
  } finally {
    await running.stop('SIGTERM');
  }
}

/** Opens the streams, and returns what they add to the process. */
async function heldBytes(ready: ReadyFile, accounts: readonly Account[]): Promise<number> {
  const cookies: string[] = [];
  for (let at = 0; at < STREAMS; at += 1) cookies.push(await logIn(ready, accounts[at % ACCOUNTS]!));
  await change(ready);
  await pause(SETTLE_MS);
  const beforeBytes = residentBytes(ready.pids.control);
  const agent = new Agent({ maxSockets: STREAMS });
  const streams: OpenStream[] = [];
  // Connections without a proven caller are bounded.
  for (const cookie of cookies) streams.push(await openStream(ready, cookie, agent));
  try {
    await change(ready);
    await pause(SETTLE_MS);
    const bytes = residentBytes(ready.pids.control) - beforeBytes;
    const silent = streams.filter(({ events }) => events < CHANGES).length;
    if (silent > 0) throw new Error(`${silent} of ${STREAMS} streams have not all changes`);
    return bytes;
  } finally {
    for (const { response } of streams) response.destroy();
    agent.destroy();
  }
}

interface OpenStream {
  readonly response: IncomingMessage;
  events: number;
}

async function openStream(
  { apiUrl, frontdoorId }: ReadyFile,
  cookie: string,
  agent: Agent,
): Promise<OpenStream> {
  const headers = { cookie, origin: apiUrl, accept: 'text/event-stream' };
  const asked = get(`${apiUrl}/console/api/frontdoor/${frontdoorId}/changes`, { headers, agent });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`a stream was answered ${response.statusCode}`);
  const stream: OpenStream = { response, events: 0 };
  response.setEncoding('utf8').on('error', () => {});
  response.on('data', (text: string) => (stream.events += text.split('event: change').length - 1));
  await once(response, 'data');
  return stream;
}

async function makeAccount(ready: ReadyFile): Promise<Account> {
  const body = { name: 'reader', organizationId: ready.organizationId, scopes: ['frontdoor.read'] };
  return (await call(ready, 'POST', '/api-accounts', body)) as Account;
}

async function logIn({ apiUrl }: ReadyFile, { id: name, token: password }: Account): Promise<string> {
  const answer = await fetch(`${apiUrl}/console/log-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: apiUrl },
    body: new URLSearchParams({ name, password }),
  });
  if (answer.status !== 303) throw new Error(`a log-in was answered ${answer.status}`);
  return answer.headers.get('set-cookie')!.split(';')[0]!;
}

/** Each creates a provider, and so has an event of its own. */
async function change(ready: ReadyFile): Promise<void> {
  const data = { placement: 'header', name: 'X-Key', keys: [{ name: 'a' }] };
  for (let at = 0; at < CHANGES; at += 1)
    await call(ready, 'POST', `/frontdoor/${ready.frontdoorId}/auth-providers`, {
      ...{ name: randomUUID(), type: 'API_KEY', data },
    });
}

async function call(ready: ReadyFile, method: 'POST', path: string, body: object): Promise<unknown> {
  const answer = await fetch(ready.apiUrl + path, {
    method,
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${ready.accountId}:${ready.apiToken}`,
    },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
