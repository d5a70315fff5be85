// The browser program of the console in a real browser: it starts, within the content policy, for each role, in both color
// schemes and on a narrow screen.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browserSkip } from '../support/browser.ts';
import { checkAxe, releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';

describe('the browser program of the console', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;

  before(async () => {
    consoles = await sharedConsole();
  });
  after(releaseWorld);

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`starts within its content policy, and axe finds nothing: ${colorScheme}`, async (test) => {
      const { page, open } = await consoles.person(test, 'operator', { colorScheme });
      await open('');
      await checkAxe(page);
      assert.match(new URL(page.url()).pathname, /^\/console(\/|$)/);
    });
  }

  it('reports what the content policy forbids', async (test) => {
    const { page, open, problems, allow } = await consoles.person(test, 'reader');
    allow(/content policy|Content Security Policy/);
    await open('');
    const reported = page.waitForEvent('console', (message) => message.text().startsWith('content policy: '));
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('img'), { src: 'https://evil.test/' }))`,
    );
    await reported;
    assert.ok(problems.some((problem) => problem.includes('img-src https://evil.test')));
  });

  it('keeps a chosen language for the pages that sign people in, also when someone has signed out', async (test) => {
    const { page, open } = await consoles.person(test, 'reader');
    await open('');
    await page.locator('header button').last().click();
    await page.getByRole('menuitem', { name: 'Deutsch' }).click();
    await page.goto(`${consoles.consoleUrl}/account`);
    await page.getByRole('button', { name: 'Abmelden' }).click();
    await page.getByRole('heading', { level: 1, name: 'Anmelden' }).waitFor();
    assert.equal(await page.getAttribute('html', 'lang'), 'de');
    await checkAxe(page);
  });
});
