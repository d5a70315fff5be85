/**
 * What open streams of changes cost the control plane: its resident memory with 200 of them, each with a session of its own
 * and with changes on their way, less the memory before.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
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
const FIRST_STREAMS = 20;
const SETTLE_MS = 3_000;

interface ReadyFile {
  readonly apiUrl: string;
  readonly pids: { readonly control: number };
}

type Installation = FirstStart & Pick<ReadyFile, 'apiUrl'>;

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
  const rounds: number[] = [];
  for (let round = 0; round < run.options.singleRounds; round += 1)
    rounds.push(await heldBytes(run, name, database));
  run.record(STREAMS_TABLE, name, { [STREAMS_COLUMN]: Math.max(0, figureOf(rounds).median) / 1_048_576 });
}

/**
 * Returns what the streams add to a process that was just started: a heap that earlier streams have grown would hide what
 * these take.
 */
async function heldBytes(run: BenchRun, name: string, database: string | undefined): Promise<number> {
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
  const agent = new Agent({ maxSockets: STREAMS });
  try {
    const installation = { ...firstStartOf(dataDir), ...ready };
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => makeAccount(installation)));
    const cookies: string[] = [];
    for (let at = 0; at < STREAMS; at += 1) cookies.push(await logIn(installation, accounts[at % ACCOUNTS]!));
    // What the first streams alone bring with them is not counted.
    const first = await openStreams(installation, cookies.slice(0, FIRST_STREAMS), agent);
    await change(installation);
    for (const { response } of first) response.destroy();
    await pause(SETTLE_MS);
    const beforeBytes = residentBytes(ready.pids.control);
    const streams = await openStreams(installation, cookies, agent);
    await change(installation);
    await pause(SETTLE_MS);
    const bytes = residentBytes(ready.pids.control) - beforeBytes;
    const silent = streams.filter(({ events }) => events < CHANGES).length;
    if (silent > 0) throw new Error(`${silent} of ${STREAMS} streams have not all changes`);
    for (const { response } of streams) response.destroy();
    return bytes;
  } finally {
    agent.destroy();
    await running.stop('SIGTERM');
  }
}

/** The credentials, which only the ready file of the first start has. */
function firstStartOf(dataDir: string): FirstStart {
  return JSON.parse(readFileSync(join(dataDir, 'first-secrets.json'), 'utf8')) as FirstStart;
}

async function openStreams(
  installation: Installation,
  cookies: readonly string[],
  agent: Agent,
): Promise<OpenStream[]> {
  const streams: OpenStream[] = [];
  // Connections without a proven caller are bounded.
  for (const cookie of cookies) streams.push(await openStream(installation, cookie, agent));
  return streams;
}

interface OpenStream {
  readonly response: IncomingMessage;
  events: number;
}

async function openStream(
  { apiUrl, frontdoorId }: Installation,
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

async function makeAccount(installation: Installation): Promise<Account> {
  const body = { name: 'reader', organizationId: installation.organizationId, scopes: ['frontdoor.read'] };
  return (await call(installation, 'POST', '/api-accounts', body)) as Account;
}

async function logIn({ apiUrl }: Installation, { id: name, token: password }: Account): Promise<string> {
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
async function change(installation: Installation): Promise<void> {
  const data = { placement: 'header', name: 'X-Key', keys: [{ name: 'a' }] };
  for (let at = 0; at < CHANGES; at += 1)
    await call(installation, 'POST', `/frontdoor/${installation.frontdoorId}/auth-providers`, {
      ...{ name: randomUUID(), type: 'API_KEY', data },
    });
}

async function call(
  installation: Installation,
  method: 'POST',
  path: string,
  body: object,
): Promise<unknown> {
  const answer = await fetch(installation.apiUrl + path, {
    method,
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${installation.accountId}:${installation.apiToken}`,
    },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
