/**
 * How long the log-in page of the console takes to its first contentful paint, in a browser that was just started. A page of
 * one word shows what the browser itself takes.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { browserSkip } from '../../support/browser.ts';
import type { BenchRun } from '../bench-run.ts';
import { recordPaint } from '../browser-paint.ts';
import { onEachDatabase, startBenchControl } from './bench-control.ts';

export const LOG_IN_PAGE = 'log-in page in a cold browser';

const BARE_PAGE = 'a page of one word';

export async function measureLogInPage(run: BenchRun): Promise<void> {
  if (!run.wants(LOG_IN_PAGE)) return;
  if (browserSkip !== false) return run.skip(LOG_IN_PAGE, browserSkip);
  await run.part(() => measureBarePage(run));
  const scenarioOn = (database: string) => `${LOG_IN_PAGE}, ${database}`;
  await onEachDatabase(run, scenarioOn, (name, url) =>
    run.part(async () => {
      run.report(`measuring: ${scenarioOn(name)}`);
      const { apiUrl } = await startBenchControl(run, `log-in-${name}`, url);
      await recordPaint(run, LOG_IN_PAGE, name, `${apiUrl}/console/log-in`);
    }),
  );
}

async function measureBarePage(run: BenchRun): Promise<void> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><title>Bare</title><h1>Bare</h1>');
  }).listen(0, '127.0.0.1');
  run.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await recordPaint(run, LOG_IN_PAGE, BARE_PAGE, `http://127.0.0.1:${port}/`);
}
