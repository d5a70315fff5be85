/** The menu of a row of a list. */
import type { Locator, Page } from 'playwright-core';

/** The button of the row of this name, of the first row that has one by default. */
export function rowMenu(page: Page, name?: string): Locator {
  const label = name === undefined ? /^Actions: / : `Actions: ${name}`;
  return page.getByRole('button', { name: label, exact: true }).first();
}

/** Opens the menu of a row, and returns an entry of it. */
export async function entryOf(page: Page, entry: string | RegExp, name?: string): Promise<Locator> {
  const menu = rowMenu(page, name);
  // A click closes a menu that is open.
  if ((await menu.getAttribute('aria-expanded')) !== 'true') await menu.click();
  return page.getByRole('menuitem', { name: entry, exact: true });
}
