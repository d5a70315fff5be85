/**
 * A page or dialog of the console, light and wide, dark and narrow: axe finds nothing, and nothing is wider than the screen. With
 * FRONTDOOR_CONSOLE_PICTURES=FOLDER each scheme is looked at on each screen, and kept as a picture.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { checkAxe } from './console-browser.ts';

const PICTURES = process.env['FRONTDOOR_CONSOLE_PICTURES'];
const WIDE = { width: 1_280, height: 900 };
const NARROW = { width: 320, height: 800 };
const LOOKS = [
  { colorScheme: 'light', viewport: WIDE },
  { colorScheme: 'dark', viewport: NARROW },
] as const;
const MORE_LOOKS = [
  { colorScheme: 'dark', viewport: WIDE },
  { colorScheme: 'light', viewport: NARROW },
] as const;

/**
 * Leaves the page light and wide. `name` is that of the picture. Axe takes a third of the CPU of a journey: unless `isThorough`, it
 * examines one look, which the name decides.
 */
export async function checkLooks(page: Page, name: string, isThorough = false): Promise<void> {
  const examined = LOOKS[name.length % LOOKS.length]!;
  for (const look of PICTURES === undefined ? LOOKS : [...LOOKS, ...MORE_LOOKS]) {
    const { colorScheme, viewport } = look;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    const width = Number(await page.evaluate('document.scrollingElement.scrollWidth'));
    assert.ok(width <= viewport.width, `${name} is ${width} pixels wide on a screen of ${viewport.width}`);
    if (isThorough || look === examined || PICTURES !== undefined) await checkAxe(page);
    if (PICTURES === undefined) continue;
    mkdirSync(PICTURES, { recursive: true });
    const path = join(PICTURES, `${name}-${colorScheme}-${viewport.width}.png`);
    await page.screenshot({ path, fullPage: true });
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(WIDE);
}
