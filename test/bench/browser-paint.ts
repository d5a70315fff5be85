/**
 * The first contentful paint of a page in a browser that was just started: nothing of the page is in its cache, and no
 * connection is open.
 */
import { startBrowser } from '../support/browser.ts';
import type { BenchRun } from './bench-run.ts';
import { figureOf } from './figure.ts';

export const PAINT_COLUMN = 'first contentful paint, ms';

const RESPONSE_COLUMN = 'response, ms';

/** Runs in the page: resolves with milliseconds since the navigation began, and of the answer to its request. */
const TIMES = `new Promise((resolve) => {
  new PerformanceObserver((list) => {
    const paint = list.getEntriesByName('first-contentful-paint')[0];
    const [{ requestStart, responseEnd }] = performance.getEntriesByType('navigation');
    if (paint !== undefined) resolve({ paintMs: paint.startTime, responseMs: responseEnd - requestStart });
  }).observe({ type: 'paint', buffered: true });
})`;

export interface BrowserCookie {
  readonly name: string;
  readonly value: string;
  readonly url: string;
  readonly secure: boolean;
  readonly httpOnly: boolean;
}

interface PageTimes {
  readonly paintMs: number;
  readonly responseMs: number;
}

/** Adds a row to a table of the run: a browser of its own for each round. */
export async function recordPaint(
  run: BenchRun,
  table: string,
  row: string,
  url: string,
  cookies: readonly BrowserCookie[] = [],
): Promise<void> {
  const times = await run.repeat(() => timesOf(url, cookies));
  const paints = figureOf(times.map(({ paintMs }) => paintMs));
  run.record(table, row, {
    [PAINT_COLUMN]: paints.median,
    'the fastest, ms': paints.min,
    'the slowest, ms': paints.max,
    [RESPONSE_COLUMN]: figureOf(times.map(({ responseMs }) => responseMs)).median,
  });
}

async function timesOf(url: string, cookies: readonly BrowserCookie[]): Promise<PageTimes> {
  const browser = await startBrowser([]);
  try {
    const { context, page } = await browser.person('a cold browser');
    await context.addCookies([...cookies]);
    await page.goto(url);
    return (await page.evaluate(TIMES)) as PageTimes;
  } finally {
    await browser.close();
  }
}
