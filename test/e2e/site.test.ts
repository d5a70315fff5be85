// The site: complete, closed in itself, the same each time, and usable in a browser that opens it from a folder.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { writeTextFile } from '../../tools/build-programs.ts';
import { siteFiles } from '../../tools/site/build-site.ts';
import { browserSkip, startBrowser, type LocalBrowser, type PersonOptions } from '../support/browser.ts';
import { checkAxe } from '../support/console-browser.ts';

const folder = mkdtempSync(join(tmpdir(), 'site-'));
let files: Map<string, string>;
let browser: LocalBrowser | undefined;

before(async () => {
  files = siteFiles('0.0.0');
  for (const [path, text] of files) writeTextFile(join(folder, path), text);
  if (browserSkip === false) browser = await startBrowser([]);
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('every address in a page leads to a file of the site, and to an element of it', () => {
  const ids = new Map(
    [...files].map(([path, text]) => [
      path,
      new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
    ]),
  );
  const dead: string[] = [];
  for (const [path, text] of files) {
    if (!path.endsWith('.html') || path === '404.html') continue;
    for (const [, address = ''] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      if (/^https?:/.test(address)) continue;
      const [to = '', anchor] = address.split('#');
      const target = to === '' ? path : posix.join(posix.dirname(path), to);
      if (!files.has(target) || (anchor !== undefined && !ids.get(target)!.has(anchor)))
        dead.push(`${path}: ${address}`);
    }
  }
  assert.deepEqual(dead, []);
});

test('no page asks another host for anything', () => {
  for (const [path, text] of files) {
    if (!/\.(?:html|css|svg)$/.test(path)) continue;
    const loaded = [...text.matchAll(/<(?:script|link|img|iframe|source)\b[^>]*|@import[^;]*|url\([^)]*\)/g)];
    const foreign = loaded.filter(([element]) => /https?:|\/\//.test(element));
    assert.deepEqual(foreign, [], path);
  }
});

test('two builds are equal byte for byte', () => {
  assert.deepEqual(siteFiles('0.0.0'), files);
});

/** A page that fails its test by an error on its console, and by a request for anything but files of the site. */
async function opened(
  t: { name: string; after(close: () => Promise<void>): void },
  path: string,
  options?: PersonOptions,
): Promise<Page> {
  const person = await browser!.person(t.name, options);
  const problems: string[] = [];
  const top = pathToFileURL(folder).href;
  person.page.on('console', (message) => {
    // axe would read the styles by a request.
    const isOfAxe = message.text().startsWith('Connecting to') && message.text().includes('site.css');
    if (message.type() === 'error' && !isOfAxe) problems.push(message.text());
  });
  person.page.on('pageerror', ({ message }) => problems.push(message));
  person.page.on('request', (request) => {
    if (!request.url().startsWith(`${top}/`)) problems.push(request.url());
  });
  t.after(async () => {
    await person.close();
    assert.deepEqual(problems, []);
  });
  await person.page.goto(`${top}/${path}`);
  return person.page;
}

test(
  'the search finds a section by the keyboard, from a page in a folder',
  { skip: browserSkip },
  async (t) => {
    const page = await opened(t, 'guide/keys.html');
    await page.keyboard.press('/');
    await page.keyboard.type('slow bodies');
    await page.waitForSelector('.results a');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/gateway-machines\.html#clients-that-send-slowly$/);
  },
);

const LOOKS: Readonly<Record<string, PersonOptions>> = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  narrow: { viewport: { width: 390, height: 844 } },
};
for (const [look, options] of Object.entries(LOOKS))
  test(`everyone can use its pages: ${look}`, { skip: browserSkip }, async (t) => {
    const page = await opened(t, 'index.html', options);
    await checkAxe(page);
    await page.goto(pathToFileURL(join(folder, 'guide/comparison.html')).href);
    await checkAxe(page);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.ok(Number(overflow) <= 0);
  });

test('its pages lead to each other without scripts, too', { skip: browserSkip }, async (t) => {
  const page = await opened(t, 'index.html', { javaScript: false, viewport: { width: 390, height: 844 } });
  await page.click('#pages a[href="guide/keys.html"]');
  assert.equal(await page.textContent('h1'), 'Replacing keys');
});
