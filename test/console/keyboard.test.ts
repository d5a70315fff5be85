// The console by keyboard alone: the skip link, visible focus, dialogs that return the focus, the search with its commands, and keys.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { checkLooks } from '../support/console-look.ts';
import { loadersOf } from '../support/console-visits.ts';
import { until } from '../support/deadline.ts';
import { rowMenu } from '../support/row-menu.ts';

/** More than any of the visited pages has. */
const MOST_STOPS = 300;

describe('the console by keyboard', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let base: string;
  before(async () => {
    consoles = await sharedConsole();
    base = `/frontdoors/${consoles.world.credentials.frontdoorId}`;
    await (await consoles.world.startAgent('keys')).share('http://127.0.0.1:9', { name: 'by-keys' });
  });
  after(releaseWorld);

  it('begins with a link that skips the navigation', async (test) => {
    const { page, open } = await consoles.person(test, 'editor');
    await open(`${base}/shares`);
    await page.getByRole('heading', { level: 1, name: 'Shares' }).waitFor();
    await page.keyboard.press('Tab');
    const skip = page.getByRole('link', { name: 'Skip to content' });
    await hasFocus(skip);
    const box = (await skip.boundingBox())!;
    assert.ok(box.x >= 0 && box.y >= 0, 'it can be seen while it has the focus');
    await checkLooks(page, 'skip-link');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(`document.activeElement.closest('main') !== null`), true);
  });

  it('shows where the focus is, at each stop of a page, and traps it nowhere', async (test) => {
    const { page, open } = await consoles.person(test, 'operator');
    for (const path of [
      `${base}/shares`,
      `${base}/shares/by-keys/access`,
      '/settings/organization',
      '/mesh',
    ]) {
      await open(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await loadersOf(page).first().waitFor({ state: 'detached' });
      const stops = await tabThrough(page);
      test.diagnostic(`${path}: ${stops.length} stops`);
      assert.ok(stops.length > 15 && stops.length < MOST_STOPS, `${path}: ${stops.length} stops`);
      assert.deepEqual(
        stops.filter(({ isMarked }) => !isMarked).map(({ name }) => name),
        [],
        path,
      );
    }
  });

  it('returns the focus from dialogs to where it was', async (test) => {
    const { page, open } = await consoles.person(test, 'administrator');
    const dialog = page.getByRole('dialog');
    const openAndClose = async (opener: Locator, key: string): Promise<void> => {
      await opener.focus();
      await page.keyboard.press(key);
      await dialog.waitFor();
      await until(
        'the focus in the dialog',
        () => page.evaluate(`document.activeElement.closest('[role=dialog]') !== null`),
        (isInside) => isInside === true,
      );
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await hasFocus(opener);
    };
    await open('/settings/frontdoors');
    const create = page.getByRole('button', { name: 'New frontdoor' });
    await create.waitFor();
    // Dialogs of a page, and those that the frame loads.
    for (const key of ['Enter', 'Control+k', '?']) await openAndClose(create, key);
    const menu = rowMenu(page);
    await menu.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Rename' }).focus();
    await page.keyboard.press('Enter');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await hasFocus(menu);
    await open(`${base}/shares/by-keys/settings`);
    const remove = page.getByRole('button', { name: 'Delete this share' });
    await remove.waitFor();
    await openAndClose(remove, 'Enter');
    // The dialog is loaded then, and drawn at once with the end of the menu.
    await openAndClose(remove, '?');
    // An entry of a menu is gone by then.
    const account = page.locator('header button').last();
    await account.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await hasFocus(account);
  });

  it('makes something without a mouse', async (test) => {
    const { page, open } = await consoles.person(test, 'administrator');
    await open('/settings/accounts');
    const create = page.getByRole('button', { name: 'New API account' });
    await create.focus();
    await page.keyboard.press('Enter');
    await hasFocus(page.getByRole('dialog').getByRole('textbox', { name: 'Name' }));
    await page.keyboard.type('made by keys');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('API account created').waitFor();
    // Nobody loses by Escape what is shown once.
    await page.keyboard.press('Escape');
    await dialog.getByLabel('I have stored it').focus();
    await page.keyboard.press('Space');
    await dialog.getByRole('button', { name: 'Close' }).last().focus();
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await hasFocus(create);
    await page.getByRole('link', { name: 'made by keys' }).waitFor();
  });

  it('closes the topmost dialog alone with Escape, so that nothing typed below it is lost', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'administrator');
    allow(/status of 401/);
    await open('/settings/frontdoors');
    await page.getByRole('button', { name: 'New frontdoor' }).click();
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('typed below');
    // Nothing opens over a form by a key.
    await page.keyboard.press('Control+k');
    assert.equal(await page.getByRole('dialog').count(), 1);
    await page.context().clearCookies();
    await page.keyboard.press('Enter');
    const ended = page.getByRole('dialog', { name: 'Your session has ended' });
    await ended.waitFor();
    await page.keyboard.press('Escape');
    await ended.waitFor({ state: 'detached' });
    assert.equal(await name.inputValue(), 'typed below');
    await page.keyboard.press('Escape');
    await name.waitFor({ state: 'detached' });
  });

  it('finds commands with Ctrl-K, as far as the role permits them', async (test) => {
    const { page, open } = await consoles.person(test, 'editor');
    await open(base);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const command = async (typed: string, name: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: /page or command/ }).fill(typed);
      await page.getByRole('option', { name }).waitFor();
      await page.keyboard.press('Enter');
    };
    await command('publish', 'Publish a service Commands');
    await page.getByRole('heading', { level: 1, name: 'Publish a service' }).waitFor();
    await command('add an agent', 'Add an agent Commands');
    await page.getByRole('heading', { level: 1, name: 'Add an agent' }).waitFor();
    await command('dark', 'Use dark colors Commands');
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
    await command('show keyboard', 'Show keyboard shortcuts Commands');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');

    const reader = await consoles.person(test, 'reader');
    await reader.open(base);
    await reader.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await reader.page.keyboard.press('Control+k');
    await reader.page.getByRole('option', { name: 'Show keyboard shortcuts Commands' }).waitFor();
    assert.equal(await reader.page.getByRole('option', { name: /^(Publish|Add)/ }).count(), 0);
  });

  it('keeps the chosen result of the search in sight', async (test) => {
    const { page, open } = await consoles.person(test, 'operator', { viewport: { width: 320, height: 400 } });
    await open(base);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    const options = page.getByRole('option');
    await options.first().waitFor();
    const count = await options.count();
    for (let at = 0; at < count; at += 1) await page.keyboard.press('ArrowDown');
    const last = options.last();
    assert.equal(await last.getAttribute('aria-selected'), 'true');
    const list = (await page.getByRole('listbox').boundingBox())!;
    const box = (await last.boundingBox())!;
    assert.ok(box.y >= list.y - 1 && box.y + box.height <= list.y + list.height + 1, 'the last one is shown');
  });

  it('has keys without Ctrl that can be switched off', async (test) => {
    const { page, open } = await consoles.person(test, 'editor');
    await open(base);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await dialog.getByText('Go to Overview').waitFor();
    await dialog.getByRole('switch', { name: 'Single-key shortcuts' }).click();
    await checkLooks(page, 'keys-off');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    for (const key of ['?', 'g', 'a']) await page.keyboard.press(key);
    // Ctrl-K comes after them, and works.
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').waitFor();
    assert.equal(await page.getByRole('dialog').count(), 1);
    assert.match(await page.title(), /^Overview/);
  });
});

interface Shown {
  readonly document: { readonly activeElement: unknown };
}

async function hasFocus(element: Locator): Promise<void> {
  await until(
    'the focus',
    () => element.evaluate((it: unknown) => it === (globalThis as unknown as Shown).document.activeElement),
    (isFocused) => isFocused === true,
  );
}

interface Stop {
  readonly name: string;
  /** Whether it looks other than without the focus. */
  readonly isMarked: boolean;
}

/** A transition of a color is at its end. */
const STYLES = `(element) => {
  getComputedStyle(element).borderColor;
  for (const transition of element.getAnimations()) transition.finish();
  const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor } = getComputedStyle(element);
  const outline = outlineStyle === 'none' || outlineWidth === '0px' ? 'none' : outlineColor;
  return [outline, boxShadow, borderColor].join(' ');
}`;

/** Presses Tab until the focus has gone once around the page. */
async function tabThrough(page: Page): Promise<readonly Stop[]> {
  await page.evaluate(`document.activeElement.blur()`);
  const stops: Stop[] = [];
  for (let count = 0; count < MOST_STOPS; count += 1) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate<
      (Stop & { readonly isOver: boolean; readonly isSame: boolean }) | null
    >(`(() => {
      const stylesOf = ${STYLES};
      const element = document.activeElement;
      if (element === document.body || element === null) return null;
      const isOver = globalThis.firstStop === element;
      globalThis.firstStop ??= element;
      // A field of a date has stops inside, and begins with the first of them when it gets the focus again.
      const isSame = globalThis.lastStop === element;
      globalThis.lastStop = element;
      if (isSame) return { name: '', isMarked: true, isOver, isSame };
      // Inputs are marked by their frames, switches and boxes by what is drawn in their place.
      const marked = [element, element.parentElement, element.nextElementSibling].filter(Boolean);
      const withFocus = marked.map(stylesOf);
      element.blur();
      const without = marked.map(stylesOf);
      element.focus();
      const name = (element.getAttribute('aria-label') ?? element.textContent.slice(0, 60)) || element.id;
      return { name: element.tagName + ' ' + name, isMarked: withFocus.join() !== without.join(), isOver, isSame };
    })()`);
    if (stop === null || (stop.isOver && !stop.isSame)) return stops;
    if (!stop.isSame) stops.push(stop);
  }
  return stops;
}
