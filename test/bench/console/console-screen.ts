/** A browser in which somebody is logged in at the console of a product, and what its pages take. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { startBrowser } from '../../support/browser.ts';
import { accountOf, logIn } from '../api/console-readers.ts';
import type { BenchRun } from '../bench-run.ts';
import type { BrowserCookie } from '../browser-paint.ts';
import type { UpProduct } from '../product.ts';

/** A page that asks for nothing for so long has drawn what it has. */
const QUIET_MS = 700;
const LOOK_MS = 50;
const DRAWN_DEADLINE_MS = 60_000;

const WATCH_TASKS = `
globalThis.longTasks = [];
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) globalThis.longTasks.push(duration);
}).observe({ type: 'longtask', buffered: true });
`;

/** The session of the first account, which may do everything. */
export async function operatorCookie(product: UpProduct): Promise<BrowserCookie> {
  const [name = '', value = ''] = (await logIn(product, accountOf(product))).split(/=(.*)/s);
  return { name, value, url: product.apiUrl.replace(/^http:/, 'https:'), secure: true, httpOnly: true };
}

export interface PageFigures {
  /** 0 without a task of 50 ms or more. */
  readonly longestTaskMs: number;
  readonly rows: number;
  /** The length of the longest list in an answer. */
  readonly mostEntries: number;
}

export interface ConsoleScreen {
  readonly page: Page;
  /** Opens a page by its path below the console, and resolves when it is drawn and asks for nothing more. */
  open(path: string): Promise<void>;
  /** Resolves when the page asks for nothing more. */
  settle(): Promise<void>;
  /** Resolves to the figures of the page since it was opened. */
  figures(): Promise<PageFigures>;
}

/** It is closed when the run ends, or the part of it. */
export async function openScreen(run: BenchRun, product: UpProduct): Promise<ConsoleScreen> {
  const browser = await startBrowser([]);
  run.defer(() => browser.close());
  const { context, page } = await browser.person('console');
  await context.addCookies([await operatorCookie(product)]);
  await page.addInitScript(WATCH_TASKS);
  let asking = 0;
  let quietSinceMs = performance.now();
  let mostEntries = 0;
  // A stream of changes never ends.
  const counts = (url: string): boolean => url.startsWith(product.apiUrl) && !url.includes('/changes');
  page.on('request', (request) => {
    if (counts(request.url())) asking += 1;
  });
  const ended = (url: string): void => {
    if (!counts(url)) return;
    asking -= 1;
    quietSinceMs = performance.now();
  };
  page.on('requestfailed', (request) => ended(request.url()));
  page.on('requestfinished', (request) => {
    ended(request.url());
    if (!request.url().includes('/console/api/')) return;
    void request
      .response()
      .then((response) => response!.json() as Promise<Readonly<Record<string, unknown>>>)
      .then((body) => {
        const lists = Object.values(body).filter((value) => Array.isArray(value));
        mostEntries = Math.max(mostEntries, ...lists.map(({ length }) => length));
      })
      .catch(() => {});
  });
  const settle = async (): Promise<void> => {
    const endMs = performance.now() + DRAWN_DEADLINE_MS;
    while (asking > 0 || performance.now() < quietSinceMs + QUIET_MS) {
      if (performance.now() > endMs) throw new Error(`${page.url()} asks again and again`);
      await pause(LOOK_MS);
    }
  };
  return {
    page,
    settle,
    open: async (path) => {
      [asking, mostEntries, quietSinceMs] = [0, 0, performance.now()];
      await page.goto(`${product.apiUrl}/console${path}`);
      await page.waitForSelector('#root > :not(style, #coming)');
      await settle();
    },
    figures: async () => ({
      longestTaskMs: Number(await page.evaluate('Math.max(0, ...globalThis.longTasks)')),
      rows: Number(await page.evaluate(`document.querySelectorAll('tbody tr').length`)),
      mostEntries,
    }),
  };
}
