/** Control planes in this process, and streams of changes that browsers read at their consoles. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '#base';
import { startControlPlane, type ControlPlane, type FirstStart } from '#control';
import { within } from './deadline.ts';
import { sharedPostgres } from './postgres.ts';
import '../../src/control/pki/edge-api-key-fixture.ts';

export type Closers = (() => Promise<unknown> | void)[];

/** What several control planes have in common. */
export interface SharedDatabase {
  readonly key: string;
  readonly database: string;
}

export async function newSharedDatabase(): Promise<SharedDatabase> {
  const database = await (await sharedPostgres()).createDatabase();
  return { database, key: `k1 ${randomBytes(32).toString('base64')}\n` };
}

/** Without a database, an embedded one. */
export async function startConsolePlane(closers: Closers, shared?: SharedDatabase): Promise<ControlPlane> {
  const dataDir = mkdtempSync(join(tmpdir(), 'frontdoor-console-'));
  closers.push(() => rmSync(dataDir, { recursive: true }));
  if (shared !== undefined) writeFileSync(join(dataDir, 'secrets.key'), shared.key, { mode: 0o600 });
  const control = await startControlPlane({
    dataDir,
    database: shared?.database,
    listenHost: '127.0.0.1',
    advertiseHost: 'localhost',
    apiPort: 0,
    edgeApiPort: 0,
    ctrlPort: 0,
    zone: 'share.localhost',
    frontendUrls: () => [],
    log: silentLog,
  });
  closers.push(() => control.close());
  return control;
}

interface StreamedEvent {
  readonly event: string;
  readonly kind: string;
  readonly id: string;
  readonly atMs: number;
}

export interface ConsoleStream {
  /** In the order of their arrival. */
  readonly events: readonly StreamedEvent[];
  /** The position after the last event. */
  readonly lastId: string;
  close(): void;
}

/** Logs in at the console with an API account, and returns the session's cookie. */
export async function logInAtConsole(
  control: Pick<ControlPlane, 'apiUrl' | 'consoleUrl'>,
  { accountId: name, apiToken: password }: Pick<FirstStart, 'accountId' | 'apiToken'>,
): Promise<string> {
  const answer = await fetch(`${control.consoleUrl}/log-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: control.apiUrl },
    body: new URLSearchParams({ name, password }),
  });
  if (answer.status !== 303) throw new Error(`the log-in was answered ${answer.status}`);
  return answer.headers.get('set-cookie')!.split(';')[0]!;
}

/** Reads the changes of a frontdoor at the console, from now on or after the event with the id `after`. */
export async function followConsole(
  closers: Closers,
  control: ControlPlane,
  {
    cookie,
    frontdoorId,
    after,
  }: { readonly cookie: string; readonly frontdoorId: string; readonly after?: string },
): Promise<ConsoleStream> {
  const asked = get(`${control.consoleUrl}/api/frontdoor/${frontdoorId}/changes`, {
    headers: {
      cookie,
      origin: control.apiUrl,
      accept: 'text/event-stream',
      ...(after === undefined ? {} : { 'last-event-id': after }),
    },
  });
  const [response] = (await within('the stream', once(asked, 'response'))) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`the stream was answered ${response.statusCode}`);
  closers.push(() => void response.destroy());
  const events: StreamedEvent[] = [];
  let lastId = after ?? '';
  const isOpen = once(response, 'data');
  let rest = '';
  response.setEncoding('utf8').on('error', () => {});
  response.on('data', (chunk: string) => {
    const texts = (rest + chunk).split('\n\n');
    rest = texts.pop()!;
    for (const text of texts) {
      lastId = /^id: (.*)$/m.exec(text)?.[1] ?? lastId;
      const [, event, data] = /^event: (.*)\ndata: (.*)$/m.exec(text) ?? [];
      if (event === undefined) continue;
      const { kind = '', id = '' } = JSON.parse(data!) as { readonly kind?: string; readonly id?: string };
      events.push({ event, kind, id, atMs: performance.now() });
    }
  });
  await within('the beginning of the stream', isOpen);
  return {
    events,
    get lastId() {
      return lastId;
    },
    close: () => void response.destroy(),
  };
}
