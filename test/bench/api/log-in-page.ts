/**
 * How long the log-in page of the console takes to its first contentful paint, in a browser that was just started. A page of
 * one word shows what the browser itself takes.
 */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { browserSkip } from '../../support/browser.ts';
import type { BenchRun } from '../bench-run.ts';
import { recordPaint } from '../browser-paint.ts';
import { startReady } from '../ready-process.ts';
import { EMBEDDED, POSTGRESQL } from './api-server.ts';
import { openBenchPostgres } from './bench-postgres.ts';

export const LOG_IN_PAGE = 'log-in page in a cold browser';

const BARE_PAGE = 'a page of one word';

interface ReadyFile {
  readonly apiUrl: string;
}

export async function measureLogInPage(run: BenchRun): Promise<void> {
  if (!run.wants(LOG_IN_PAGE)) return;
  if (browserSkip !== false) return run.skip(LOG_IN_PAGE, browserSkip);
  await measureBarePage(run);
  await measureAt(run, EMBEDDED);
  const postgres = await openBenchPostgres();
  if (postgres === undefined) return run.skip(`${LOG_IN_PAGE}, ${POSTGRESQL}`, 'not installed');
  run.defer(() => postgres.close());
  await measureAt(run, POSTGRESQL, postgres.url);
}

async function measureAt(run: BenchRun, name: string, database?: string): Promise<void> {
  run.report(`measuring: ${LOG_IN_PAGE}, ${name}`);
  const dataDir = join(run.folder, `log-in-${name}`);
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
    await recordPaint(run, LOG_IN_PAGE, name, `${ready.apiUrl}/console/log-in`);
  } finally {
    await running.stop('SIGTERM');
  }
}

async function measureBarePage(run: BenchRun): Promise<void> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>Bare</title><h1>Bare</h1>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await recordPaint(
      run,
      LOG_IN_PAGE,
      BARE_PAGE,
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
