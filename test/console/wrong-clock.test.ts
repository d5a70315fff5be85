// A browser whose clock is an hour off: the console goes by that of the control plane.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

describe('a browser whose clock is an hour off', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let base: string;
  before(async () => {
    consoles = await sharedConsole();
    base = `/frontdoors/${consoles.world.credentials.frontdoorId}`;
    await (await consoles.world.startAgent('clock')).share('http://127.0.0.1:9', { name: 'timed' });
  });
  after(releaseWorld);

  for (const [name, offMs] of [
    ['behind', -HOUR_MS],
    ['ahead', HOUR_MS],
  ] as const) {
    it(`${name}: codes wait, recordings last as long as was chosen, and what was just done was done now`, async (test) => {
      const { page, open } = await consoles.person(test, 'editor');
      await page.addInitScript(`const now = Date.now.bind(Date); Date.now = () => now() + ${offMs};`);
      await open(`${base}/agents/new`);
      await page.getByLabel('Code is valid for').selectOption('900');
      await page.getByRole('button', { name: 'Create code' }).click();
      await page.getByText('Waiting for the agent…').waitFor();
      assert.equal(await page.getByText('The code has expired').count(), 0);

      await open(`${base}/shares/timed/requests`);
      await page.getByRole('button', { name: 'Record requests' }).click();
      await page.getByText('Requests are being recorded until').waitFor();
      const path = '/shares/timed/inspector';
      const { json } = await consoles.world.call('GET', path);
      const leftMs = Date.parse((json as { readonly until: string }).until) - Date.now();
      assert.ok(leftMs > HOUR_MS - 10 * MINUTE_MS && leftMs <= HOUR_MS, `${leftMs} ms are left`);
      await page.getByRole('button', { name: 'Stop recording' }).click();
      await page.getByText('Requests to this share are not being recorded.').waitFor();

      await open('/activity');
      await page
        .locator('time', { hasText: /^(now|\d+ (second|minute)s? ago)$/ })
        .first()
        .waitFor();
    });
  }
});
