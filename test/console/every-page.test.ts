// Every page of the console, by its route tree, with hostile names and answers around it; and each text comes from the catalogue.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browserSkip } from '../support/browser.ts';
import { plainTexts, visitPage } from '../support/console-visits.ts';
import { everyPage, SCRIPT, sharedFilledConsole, type FilledConsole } from '../support/filled-console.ts';
import { releaseWorld } from '../support/held-world.ts';

describe('every page of the console', { skip: browserSkip }, () => {
  let consoles: FilledConsole;
  before(async () => {
    consoles = await sharedFilledConsole();
  });
  after(releaseWorld);

  it('takes no text for markup', async (test) => {
    const { page, routes } = await everyPage(consoles, test);
    let shown = 0;
    for (const route of routes) {
      await visitPage(page, consoles.pathOf(route));
      const found = await page.evaluate<readonly unknown[]>(
        `[globalThis.xss, ...document.querySelectorAll('img[src="x"], [onload], [onerror]')].filter(Boolean)`,
      );
      assert.deepEqual(found, [], route);
      if ((await page.textContent('body'))!.includes(SCRIPT)) shown += 1;
    }
    test.diagnostic(`${routes.length} of ${routes.length} pages: 0 run; ${shown} show the script as text`);
    assert.ok(shown >= 30, `${shown} pages show the script`);
  });

  it('has each text from the catalogue', async (test) => {
    const { page, routes } = await everyPage(consoles, test);
    const answers: Promise<string>[] = [];
    page.on('response', (response) => {
      if (!response.url().includes('/console/api/') || response.url().includes('/changes')) return;
      answers.push(response.text().catch(() => ''));
    });
    await page.evaluate(`localStorage.setItem('frontdoor-language', 'pseudo')`);
    await page.reload();
    const wrong = new Map<string, string>();
    for (const route of routes) {
      await visitPage(page, consoles.pathOf(route));
      for (const text of await plainTexts(page, () => Promise.all(answers)))
        if (!wrong.has(text)) wrong.set(text, route);
    }
    test.diagnostic(`${routes.length} pages, ${wrong.size} plain texts`);
    assert.equal(wrong.size, 0, [...wrong].map(([text, route]) => `${route}: ${text}`).join('\n'));
  });
});
