/**
 * Presses controls of the console, and reads what each does: another page, a dialog, a request of the API, a copy, a file, or a
 * change of the page itself. Changes are not carried out: the page gets a refusal, and the name of the operation is the effect.
 */
import type { Locator, Page } from 'playwright-core';
import { operations, type OperationId } from '#contract';
import { until } from './deadline.ts';

/** A control as tables name it: without the names of resources and numbers, so that each row of a table has the same. */
export interface FoundControl {
  readonly label: string;
  readonly locator: Locator;
  readonly isEnabled: boolean;
}

const SELECTOR = 'button, a[href], summary, [role=search] select';
const OPERATION_PATTERNS = operations.map(
  ({ id, method, path }) =>
    [id, method, new RegExp(`/console/api${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)] as const,
);

/** Everything that a page, a dialog or a menu offers to press, each label once. `outside` leaves out a part of the place. */
export async function controlsIn(place: Locator, outside = 'none'): Promise<readonly FoundControl[]> {
  const all = place.locator(SELECTOR);
  const facts = await all.evaluateAll(
    (elements, left) =>
      (elements as unknown as readonly ElementFacts[]).map((element) => ({
        text: (
          element.getAttribute('aria-label') ??
          element.getAttribute('title') ??
          element.innerText
        ).trim(),
        isShown: element.checkVisibility() && element.closest(left) === null,
        isEnabled: !element.matches(':disabled, [data-disabled]'),
        isCurrent: element.getAttribute('aria-current') === 'page',
        isEvent: /\/activity\?targetId=/.test(element.getAttribute('href') ?? ''),
      })),
    outside,
  );
  const found = new Map<string, FoundControl>();
  for (const [at, { text, isShown, isEnabled, isCurrent, isEvent }] of facts.entries()) {
    const label = isEvent || text.endsWith(': Show details') ? 'an event' : labelOf(text);
    // The number of pages grows while someone looks; `Next` is always there.
    if (label === 'Page N') continue;
    if (!isShown || isCurrent || found.get(label)?.isEnabled === true) continue;
    if (found.has(label) && !isEnabled) continue;
    found.set(label, { label, isEnabled, locator: all.nth(at) });
  }
  return [...found.values()];
}

/** A label without the name of a resource, which follows a colon or ends with quotes, and without numbers. */
function labelOf(text: string): string {
  const [line = ''] = text.split('\n');
  if (/^(now|\d+ \w+ ago)$/.test(line)) return 'a time ago';
  if (/^[\w-]{18,}$/.test(line) && /\d/.test(line)) return 'an id';
  const [words = ''] = line.split(/: |'"|\d+ whose name/);
  return words
    .trim()
    .replace(/^(Open [A-Z]+) .*/, '$1')
    .replace(/^(?:service|the service|no circuit to|the gateway) .*$/, 'a failure')
    .replaceAll(/[0-9a-f]{8,}/g, '…')
    .replaceAll(/\d+/g, 'N')
    .trim();
}

/** Makes a control usable that waits for input: chooses where nothing is chosen, and types or chooses something else once. */
export async function fillFor(place: Locator, control: Locator): Promise<void> {
  const form = control.locator('xpath=ancestor::form');
  const around = (await form.count()) > 0 ? form : place;
  const label = (await around.locator('label').allTextContents()).join('\n');
  for (const list of await around.locator('select').all())
    if ((await list.isVisible()) && (await list.inputValue()) === '') await list.selectOption({ index: 1 });
  const [, confirmed] = /^Type (.*) to confirm/m.exec(label) ?? [];
  for (const box of await around.locator('input:is([type=text], :not([type])), textarea').all()) {
    if (!(await box.isVisible()) || !(await box.isEditable())) continue;
    const value = await box.inputValue();
    if (confirmed !== undefined) await box.fill(confirmed);
    else if ((await box.getAttribute('inputmode')) === 'numeric') await box.fill('7');
    else await box.fill(`${value}x`);
    return;
  }
  const choice = around
    .locator('input[type=checkbox]:not(:disabled), input[type=radio]:not(:checked)')
    .first();
  if ((await choice.count()) > 0) await choice.click({ force: true });
}

interface ElementFacts {
  readonly innerText: string;
  getAttribute(name: string): string | null;
  checkVisibility(): boolean;
  closest(selector: string): unknown;
  matches(selector: string): boolean;
}

export interface EffectWatch {
  /** Presses the control, and resolves to its effect: `expected` as soon as that is there, else what was there in the end. */
  effectOf(control: Locator, expected: string | undefined): Promise<string>;
}

/** Without an expected effect, the first one within this time counts. */
const UNKNOWN_MS = 1_500;
const EXPECTED_MS = 6_000;
const NOTHING = 'nothing';

const WATCH = `(() => {
  globalThis.effects = [];
  navigator.clipboard.writeText = async () => void globalThis.effects.push('copied');
  globalThis.open = (address) => void globalThis.effects.push('window ' + new URL(address, location.href).pathname);
  globalThis.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href]');
    if (link === null || link === undefined) return;
    const isOther = link.target === '_blank' || link.hasAttribute('download');
    if (!isOther) return;
    event.preventDefault();
    globalThis.effects.push(link.hasAttribute('download') ? 'file' : 'tab ' + new URL(link.href).pathname);
  }, { capture: true });
})()`;

/** Call it when the program runs in the page. */
export async function watchEffects(page: Page): Promise<EffectWatch> {
  await page.evaluate(WATCH);
  let asked: OperationId[] = [];
  let readings: OperationId[] = [];
  let left: string[] = [];
  await page.route('**/console/api/**', async (route) => {
    const request = route.request();
    const { pathname } = new URL(request.url());
    const row = OPERATION_PATTERNS.find(
      ([, method, pattern]) => method === request.method() && pattern.test(pathname),
    );
    if (row !== undefined && request.method() !== 'GET') asked.push(row[0]);
    if (request.method() === 'GET') {
      if (row !== undefined) readings.push(row[0]);
      return route.fallback();
    }
    return route.fulfill({
      status: 409,
      contentType: 'application/json',
      body: '{"error":"conflict","message":"refused"}',
    });
  });
  page.on('download', () => left.push('file'));
  page.on('filechooser', () => left.push('chooses a file'));
  await page.route('**/console/**', async (route) => {
    const request = route.request();
    if (!request.isNavigationRequest()) return route.fallback();
    left.push(`leaves ${new URL(request.url()).pathname}`);
    return route.fulfill({ status: 204 });
  });
  const read = (): Promise<PageState> => page.evaluate<PageState>(STATE);
  return {
    effectOf: async (control, expected) => {
      [asked, readings, left] = [[], [], []];
      const before = await page.evaluate<PageState>(`(globalThis.effects.length = 0, ${STATE})`);
      const isList = await control.and(page.locator('select')).count();
      if (isList > 0) await control.selectOption({ index: 1 }, { timeout: EXPECTED_MS });
      else await control.click({ timeout: EXPECTED_MS });
      const now = async (): Promise<string> => {
        const [operation] = asked;
        if (operation !== undefined) return `asks ${operation}`;
        const reading = readings.find((each) => expected === `reads ${each}`);
        if (reading !== undefined) return `reads ${reading}`;
        return left[0] ?? differenceOf(before, await read(), expected);
      };
      const isThere = (effect: string): boolean =>
        expected === undefined ? effect !== NOTHING : effect === expected;
      const deadlineMs = expected === undefined ? UNKNOWN_MS : EXPECTED_MS;
      return until('the effect', now, isThere, deadlineMs).then(({ value }) => value, now);
    },
  };
}

interface PageState {
  readonly route: string;
  readonly search: string;
  readonly dialog: string;
  readonly effects: readonly string[];
  readonly content: string;
}

const STATE = `(() => {
  const { state } = globalThis.__TSR_ROUTER__;
  const dialogs = [...document.querySelectorAll('[role=dialog]')];
  return {
    route: state.matches.at(-1).fullPath,
    search: state.location.searchStr,
    dialog: dialogs.map((it) => document.getElementById(it.getAttribute('aria-labelledby'))?.innerText).join(' and '),
    effects: globalThis.effects,
    content: 'language ' + document.documentElement.lang + ', colors ' + document.documentElement.dataset.mantineColorScheme +
      '\\n' + document.body.innerText,
  };
})()`;

const SHOWS = 'shows ';

function differenceOf(before: PageState, after: PageState, expected: string | undefined): string {
  if (after.route !== before.route) return `page ${after.route}`;
  if (after.dialog !== before.dialog)
    return after.dialog === '' ? 'closes' : `dialog ${labelOf(after.dialog)}`;
  if (after.effects.length > 0) return after.effects[0]!;
  if (after.search !== before.search) return `address ${after.search.replace(/=.*/s, '')}`;
  if (after.content === before.content) return NOTHING;
  const old = new Set(before.content.split('\n'));
  const fresh = after.content.split('\n').filter((line) => line.trim() !== '' && !old.has(line));
  // Times that pass are new lines, too.
  const isExpected = fresh.some((line) => SHOWS + labelOf(line) === expected);
  return isExpected ? expected! : fresh.length === 0 ? NOTHING : SHOWS + labelOf(fresh[0]!);
}
