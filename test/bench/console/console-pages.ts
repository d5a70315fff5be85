/** The pages of the console in an installation with 10,000 shares: the first paint in a cold browser, and tasks and rows of each. */
import type { BenchRun } from '../bench-run.ts';
import { FILLED_ENVIRONMENT } from '../api/filled-shares.ts';
import { recordPaint } from '../browser-paint.ts';
import { figureOf } from '../figure.ts';
import type { UpProduct } from '../product.ts';
import {
  ALL_PAGES,
  CONSOLE,
  ENTRIES_COLUMN,
  OVERVIEW,
  ROWS_COLUMN,
  SHOWN_ROW,
  TASK_COLUMN,
} from './console-goal-table.ts';
import { openScreen, operatorCookie, type ConsoleScreen, type PageFigures } from './console-screen.ts';

const SHARE = 'hello';

/** By name: the path below the console, and what is done there. */
interface MeasuredPage {
  readonly path: string;
  readonly act?: (screen: ConsoleScreen) => Promise<void>;
}

export async function measureFirstPage(run: BenchRun, product: UpProduct): Promise<void> {
  const url = `${product.apiUrl}/console/frontdoors/${product.frontdoorId}`;
  await recordPaint(run, CONSOLE.paint, OVERVIEW, url, [await operatorCookie(product)]);
  await recordPaint(run, CONSOLE.paint, 'log-in page', `${product.apiUrl}/console/log-in`);
}

export async function measurePages(run: BenchRun, product: UpProduct): Promise<void> {
  const screen = await openScreen(run, product);
  const medianTasksMs: number[] = [];
  const all: PageFigures[] = [];
  for (const [name, { path, act }] of Object.entries(pagesOf(product.frontdoorId))) {
    const rounds = await run.repeat(async () => {
      await screen.open(path);
      await act?.(screen);
      return screen.figures();
    });
    const { median } = figureOf(rounds.map(({ longestTaskMs }) => longestTaskMs));
    medianTasksMs.push(median);
    all.push(...rounds);
    record(run, name, median, rounds);
  }
  record(run, ALL_PAGES, Math.max(...medianTasksMs), all);
}

function record(run: BenchRun, row: string, taskMs: number, pages: readonly PageFigures[]): void {
  run.record(CONSOLE.pages, row, {
    [TASK_COLUMN]: taskMs,
    [ROWS_COLUMN]: Math.max(...pages.map(({ rows }) => rows)),
    [ENTRIES_COLUMN]: Math.max(...pages.map(({ mostEntries }) => mostEntries)),
  });
}

function pagesOf(frontdoorId: string): Readonly<Record<string, MeasuredPage>> {
  const frontdoor = `/frontdoors/${frontdoorId}`;
  const share = `${frontdoor}/shares/${SHARE}`;
  const plain = (paths: readonly string[], top: string): Record<string, MeasuredPage> =>
    Object.fromEntries(paths.map((path) => [path, { path: `${top}/${path}` }]));
  return {
    overview: { path: frontdoor },
    [SHOWN_ROW]: {
      path: `${frontdoor}/shares`,
      act: async ({ page, settle }) => {
        await page.locator('input[type=search]').pressSequentially('filled-99', { delay: 30 });
        await settle();
        await page.locator('select').first().selectOption('DEPLOYED');
        await settle();
      },
    },
    'list of shares, another page': { path: `${frontdoor}/shares?page=200` },
    share: { path: share },
    'share, access': { path: `${share}/access` },
    'share, traffic': { path: `${share}/traffic` },
    'share, settings': { path: `${share}/settings` },
    'agent with all shares': { path: `${frontdoor}/agents/${FILLED_ENVIRONMENT}` },
    ...plain(
      [
        ...['shares/new', 'agents', 'agents/new', 'agents/codes', 'providers', 'providers/new', 'domains'],
        ...['domains/new', 'failures', 'requests', 'access', 'activity'],
      ],
      frontdoor,
    ),
    ...plain(
      [
        ...['mesh', 'mesh/routers', 'mesh/gateways', 'mesh/links', 'mesh/circuits', 'mesh/services'],
        ...[
          'mesh/terminators',
          'mesh/inspect',
          'settings/frontdoors',
          'settings/accounts',
          'settings/clients',
        ],
        ...['settings/people', 'settings/sessions', 'settings/organization', 'settings/log-ins'],
        ...['settings/organizations', 'settings/keys', 'settings/names', 'settings/installation'],
      ],
      '',
    ),
  };
}
