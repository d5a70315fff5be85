/** The goals of the console, and the names of its figures. */
import { PAINT_COLUMN } from '../browser-paint.ts';
import { fact, most, least, quotient, type Goal, type Value } from '../goal.ts';

/** Its scenarios: `--scenario console` measures all of them, and nothing else. */
export const CONSOLE = {
  paint: 'console: first page in a cold browser',
  pages: 'console: pages with 10,000 shares',
  changes: 'console: changes by the command line, on the screen',
  mesh: 'console: a mesh of 300 routers and 1,000 links',
  build: 'console: its build',
  start: 'console: start with and without it',
} as const;

export const OVERVIEW = 'overview, with 10,000 shares';
export const ALL_PAGES = 'all';
export const TASK_COLUMN = 'longest task, ms';
export const ROWS_COLUMN = 'rows in the page';
export const ENTRIES_COLUMN = 'entries of the longest answer';
export const SHOWN_ROW = 'list of shares';
export const IN_TIME_COLUMN = 'within 2 s, of 100';
export const DRAWN_COLUMN = 'drawn after, ms';
export const MOVED_COLUMN = 'routers in another place';
export const CPU_COLUMN = 'CPU, s';
export const MEMORY_COLUMN = 'memory, MiB';
export const READY_COLUMN = 'ready after, s';
export const WITH_CONSOLE = 'with the console';
export const WITHOUT_CONSOLE = 'with --console off';

const onAllPages = (column: string): Value => fact(CONSOLE.pages, ALL_PAGES, column);
const readyAfter = (start: string): Value => fact(CONSOLE.start, start, READY_COLUMN);
const shown = fact(CONSOLE.changes, SHOWN_ROW, IN_TIME_COLUMN);

export const CONSOLE_GOALS: readonly Goal[] = [
  most('first contentful paint of the overview', 'ms', 1_000, fact(CONSOLE.paint, OVERVIEW, PAINT_COLUMN)),
  most('longest task of a page, 10,000 shares', 'ms', 200, onAllPages(TASK_COLUMN)),
  most('rows in a page, 10,000 shares', '', 100, onAllPages(ROWS_COLUMN)),
  // Lines of traffic are those of a thousand shares at most, which the API bounds.
  most('entries of an answer, 10,000 shares', '', 1_000, onAllPages(ENTRIES_COLUMN)),
  least('changes on the screen within 2 s, of 100', '', 100, shown),
  most('a mesh of 300 routers is drawn', 'ms', 2_000, fact(CONSOLE.mesh, 'map', DRAWN_COLUMN)),
  most('routers in another place when it is drawn again', '', 0, fact(CONSOLE.mesh, 'map', MOVED_COLUMN)),
  most('CPU of the build', 's', 3, fact(CONSOLE.build, 'build', CPU_COLUMN)),
  most('memory of the build', 'MiB', 400, fact(CONSOLE.build, 'build', MEMORY_COLUMN)),
  most(
    'ready, to a start without the console',
    '×',
    1.05,
    quotient(readyAfter(WITH_CONSOLE), readyAfter(WITHOUT_CONSOLE)),
  ),
];
