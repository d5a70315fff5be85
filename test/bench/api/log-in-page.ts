/**
 * How long the log-in page of the console takes to its first contentful paint, in a browser that was just started: nothing of
 * the page is in its cache, and no connection is open. A page of one word shows what the browser itself takes.
 */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { browserSkip, startBrowser } from '../../support/browser.ts';
import type { BenchRun } from '../bench-run.ts';
import { figureOf } from '../figure.ts';
import { startReady } from '../ready-process.ts';
import { EMBEDDED, POSTGRESQL } from './api-server.ts';
import { openBenchPostgres } from './bench-postgres.ts';

export const LOG_IN_PAGE = 'log-in page in a cold browser';
export const PAINT_COLUMN = 'first contentful paint, ms';

const RESPONSE_COLUMN = 'response, ms';
const BARE_PAGE = 'a page of one word';

/** Runs in the page: resolves with milliseconds since the navigation began, and of the answer to its request. */
const TIMES = `new Promise((resolve) => {
  new PerformanceObserver((list) => {
    const paint = list.getEntriesByName('first-contentful-paint')[0];
    const [{ requestStart, responseEnd }] = performance.getEntriesByType('navigation');
    if (paint !== undefined) resolve({ paintMs: paint.startTime, responseMs: responseEnd - requestStart });
  }).observe({ type: 'paint', buffered: true });
})`;

interface ReadyFile {
  readonly apiUrl: string;
}

interface PageTimes {
  readonly paintMs: number;
  readonly responseMs: number;
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
    await recordTimes(run, name, `${ready.apiUrl}/console/log-in`);
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
    await recordTimes(run, BARE_PAGE, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function recordTimes(run: BenchRun, row: string, url: string): Promise<void> {
  const times: PageTimes[] = [];
  for (let round = 0; round < run.options.singleRounds; round += 1) times.push(await timesOf(url));
  const paints = figureOf(times.map(({ paintMs }) => paintMs));
  run.record(LOG_IN_PAGE, row, {
    [PAINT_COLUMN]: paints.median,
    'the fastest, ms': paints.min,
    'the slowest, ms': Math.max(...times.map(({ paintMs }) => paintMs)),
    [RESPONSE_COLUMN]: figureOf(times.map(({ responseMs }) => responseMs)).median,
  });
}

async function timesOf(url: string): Promise<PageTimes> {
  const browser = await startBrowser([]);
  try {
    const { page } = await browser.person('log-in page');
    await page.goto(url);
    return (await page.evaluate(TIMES)) as PageTimes;
  } finally {
    await browser.close();
  }
}
