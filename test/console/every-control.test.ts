// Every control of every page, dialog, menu and table of the console is pressed, and does what the table says. A control without a
// row fails the test, and so does one without an effect. What requests do in the product is in the tests of roles and forms.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { browserSkip } from '../support/browser.ts';
import { effectOf, EFFECTS, SOMETIMES } from '../support/console-effect-table.ts';
import { FRAME_EFFECTS, MENU_EFFECTS } from '../support/frame-effect-table.ts';
import {
  controlsIn,
  fillFor,
  watchEffects,
  type EffectWatch,
  type FoundControl,
} from '../support/console-effects.ts';
import { visitPage } from '../support/console-visits.ts';
import { until } from '../support/deadline.ts';
import { releaseWorld } from '../support/held-world.ts';
import { routesOf, sharedFilledConsole, type FilledConsole } from '../support/filled-console.ts';

const FOUND_MS = 3_000;
const GONE = 'is gone';
const TABS = '.fd-tabs, .fd-side';
/** `/` and `/settings` lead to other pages, and the window of another log-in closes itself. */
const NO_PAGES: ReadonlySet<string> = new Set(['/', '/settings', '/logged-in-again']);
const REST = '/settings/keys';
/** They leave the page as it was. */
const HARMLESS = /^(copied|file|chooses|tab|window|leaves|disabled)/;

const isOfShares = (route: string): boolean => route.startsWith('/frontdoors/$frontdoorId/shares');
const AREAS: readonly (readonly [name: string, isOwn: (route: string) => boolean])[] = [
  ['pages of shares', isOfShares],
  ['other pages of a frontdoor', (route) => route.startsWith('/frontdoors') && !isOfShares(route)],
  ['pages of the mesh', (route) => route.startsWith('/mesh')],
  ['settings', (route) => !/^.(?:frontdoors|mesh)/.test(route)],
];

type Effects = Readonly<Record<string, string>>;

interface Pressing {
  readonly page: Page;
  readonly watch: EffectWatch;
  readonly expected: Effects;
  /** Whether the entries of menus are pressed, too. */
  readonly hasMenus: boolean;
  /** Shows the place again as it was before. */
  readonly reset: () => Promise<void>;
}

describe('every control of the console', { skip: browserSkip }, () => {
  let consoles: FilledConsole;
  before(async () => {
    consoles = await sharedFilledConsole();
  });
  after(releaseWorld);

  const opened = async (test: Parameters<FilledConsole['person']>[0]) => {
    const person = await consoles.person(test, 'operator');
    person.allow(/status of (409|404)/);
    await person.open(REST);
    return { ...person, watch: await watchEffects(person.page) };
  };

  for (const [area, isOwn] of AREAS) {
    it(`of ${area}, of its tables and dialogs does what its row says`, async (test) => {
      const { page, watch } = await opened(test);
      const main = page.locator('main');
      const routes = (await routesOf(page)).filter((route) => !NO_PAGES.has(route) && isOwn(route));
      const seen: Record<string, Effects> = {};
      for (const route of routes) {
        const reset = async () => {
          await visitPage(page, REST);
          await visitPage(page, consoles.pathOf(route));
        };
        await reset();
        const expected = EFFECTS[route] ?? {};
        seen[route] = await pressAll(main, { page, watch, expected, hasMenus: true, reset }, TABS);
      }
      const count = Object.values(seen).flatMap(Object.keys).length;
      test.diagnostic(`${count} controls of ${routes.length} pages`);
      compare(seen, Object.fromEntries(Object.entries(EFFECTS).filter(([route]) => isOwn(route))));
    });
  }

  it('of the frame, with its navigation and the menu of the account, does what its row says', async (test) => {
    const { page, watch } = await opened(test);
    const reset = () => visitPage(page, '/nowhere');
    await reset();
    const frame = page.locator('.fd-frame');
    const seen = await pressAll(
      frame,
      { page, watch, expected: FRAME_EFFECTS, hasMenus: false, reset },
      'main, .fd-skip',
    );
    compare({ frame: seen }, { frame: FRAME_EFFECTS });
  });

  it('of the menu of the account does what its row says, and the last one ends the session', async (test) => {
    const { page, watch, allow } = await opened(test);
    allow(/status of 401/);
    const menu = page.getByRole('menu');
    const openMenu = async () => {
      if ((await menu.count()) === 0) await page.locator('header button').last().click();
      await menu.waitFor();
    };
    await openMenu();
    const labels = (await controlsIn(menu)).map(({ label }) => label);
    assert.deepEqual(labels.toSorted(), Object.keys(MENU_EFFECTS).toSorted());
    for (const [label, [effect, colorScheme]] of Object.entries(MENU_EFFECTS)) {
      await page.emulateMedia({ colorScheme });
      await openMenu();
      assert.equal(await press(menu, label, effect, watch), effect, label);
      await closeDialogs(page);
    }
    const status = `fetch('/console/api/caller').then(({ status }) => status)`;
    assert.equal(await page.evaluate(status), 401);
  });
});

async function press(
  place: Locator,
  label: string,
  expected: string | undefined,
  watch: EffectWatch,
  outside?: string,
): Promise<string> {
  const find = async () => (await controlsIn(place, outside)).find((each) => each.label === label);
  // Its row of a table may be on its way.
  const first = await until('the control', find, (control) => control !== undefined, FOUND_MS).then(
    ({ value }) => value,
    () => undefined,
  );
  if (first === undefined) return GONE;
  const control = first.isEnabled ? first : await enabled(place, first, find, expected);
  if (control?.isEnabled !== true) return 'disabled';
  return watch.effectOf(control.locator, expected).catch(async (error: unknown) => {
    // The rows of the list may have moved under the pointer.
    const moved = await find();
    if (moved === undefined) return `cannot be pressed: ${String(error)}`;
    return watch.effectOf(moved.locator, expected).catch(String);
  });
}

/** Fills in what the control waits for. While a dialog reads what it is about, its button turns, and its fields are not there. */
async function enabled(
  place: Locator,
  { locator }: FoundControl,
  find: () => Promise<FoundControl | undefined>,
  expected: string | undefined,
): Promise<FoundControl | undefined> {
  const isTurning = () => locator.getAttribute('data-loading');
  await until('the answer', isTurning, (turning) => turning === null, FOUND_MS);
  await fillFor(place, locator);
  if (expected === 'disabled') return find();
  const isOver = (control: FoundControl | undefined) => control?.isEnabled !== false;
  return until('the enabled control', find, isOver, FOUND_MS).then(({ value }) => value, find);
}

/** The effects of the controls of a place, and of those of the dialogs that they open: `Delete › Cancel`. */
async function pressAll(
  place: Locator,
  { page, watch, expected, hasMenus, reset }: Pressing,
  outside?: string,
): Promise<Effects> {
  const seen: Record<string, string> = {};
  const dialog = page.getByRole('dialog');
  const menu = page.getByRole('menu');
  // A row has the id of a resource whose name is on its way.
  const { value: controls } = await until(
    'the names',
    () => controlsIn(place, outside),
    (found) => found.every(({ label }) => label !== '…'),
  );
  for (const { label } of controls) {
    const row = effectOf(label, expected);
    const address = page.url();
    const effect = await press(place, label, row, watch, outside);
    seen[label] = effect;
    const open = async () => {
      if ((await menu.count()) + (await dialog.count()) === 0) await press(place, label, row, watch, outside);
    };
    if (effect.startsWith('dialog ')) {
      await pressInDialog(dialog, label, { expected, watch, seen, reset, open });
      await closeDialogs(page);
      if (page.url() !== address) await reset();
    } else if (hasMenus && (await menu.count()) > 0) {
      for (const inner of await controlsIn(menu)) {
        await open();
        const name = `${label} › ${inner.label}`;
        const pressInner = () => press(menu, inner.label, effectOf(name, expected), watch);
        seen[name] = await pressInner();
        const openInner = async () => {
          if ((await dialog.count()) > 0) return;
          await open();
          await pressInner();
        };
        if (seen[name].startsWith('dialog '))
          await pressInDialog(dialog, name, { expected, watch, seen, reset, open: openInner });
        await closeDialogs(page);
        if (!HARMLESS.test(seen[name])) await reset();
      }
    } else if (!HARMLESS.test(effect)) await reset();
    await closeDialogs(page);
  }
  return seen;
}

interface PressingInside {
  readonly expected: Effects;
  readonly watch: EffectWatch;
  readonly seen: Record<string, string>;
  readonly reset: () => Promise<void>;
  /** Opens the dialog again if it is closed. */
  readonly open: () => Promise<void>;
}

async function pressInDialog(
  dialog: Locator,
  label: string,
  { expected, watch, seen, reset, open }: PressingInside,
): Promise<void> {
  for (const inner of await controlsIn(dialog)) {
    await open();
    const name = `${label} › ${inner.label}`;
    seen[name] = await press(dialog, inner.label, effectOf(name, expected), watch);
    if (seen[name].startsWith('page ')) await reset();
  }
}

async function closeDialogs(page: Page): Promise<void> {
  const dialog = page.locator('[role=dialog], [role=menu]');
  // A dialog that has just been drawn does not listen to keys yet.
  const close = async (): Promise<number> => {
    if ((await dialog.count()) > 0) await page.keyboard.press('Escape');
    return dialog.count();
  };
  await until('no dialog', close, (count) => count === 0);
}

/** Fails with what is missing or other than in the table. */
function compare(seen: Readonly<Record<string, Effects>>, table: Readonly<Record<string, Effects>>): void {
  const wrong: string[] = [];
  for (const place of new Set([...Object.keys(seen), ...Object.keys(table)])) {
    const [found = {}, rows = {}] = [seen[place], table[place]];
    for (const label of new Set([...Object.keys(found), ...Object.keys(rows)])) {
      const expected = effectOf(label, rows);
      const isThere = found[label] !== undefined && found[label] !== GONE;
      if (!isThere && SOMETIMES.some((each) => each.test(`${place} ${label}`))) continue;
      if (found[label] !== expected) wrong.push(`${place} | ${label} | ${found[label]} | not ${expected}`);
    }
  }
  assert.equal(wrong.length, 0, wrong.join('\n'));
}
