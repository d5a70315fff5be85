// Every page of the console, by its route tree, light and wide, dark and narrow.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browserSkip } from '../support/browser.ts';
import { checkLooks } from '../support/console-look.ts';
import { visitPage } from '../support/console-visits.ts';
import { everyPage, sharedFilledConsole, type FilledConsole } from '../support/filled-console.ts';
import { releaseWorld } from '../support/held-world.ts';

describe('the look of every page', { skip: browserSkip }, () => {
  let consoles: FilledConsole;
  before(async () => {
    consoles = await sharedFilledConsole();
  });
  after(releaseWorld);

  const areas = ['/frontdoors', '/mesh', '/settings'];
  const areaOf = (route: string) => areas.find((area) => route.startsWith(area)) ?? 'the others';
  for (const area of [...areas, 'the others']) {
    it(`can be used by everyone, light and wide, dark and narrow: ${area}`, async (test) => {
      const { page, routes } = await everyPage(consoles, test);
      const wrong: string[] = [];
      const own = routes.filter((route) => areaOf(route) === area);
      for (const route of own) {
        await visitPage(page, consoles.pathOf(route));
        const name = `page${route.replaceAll(/[^a-zA-Z]+/g, '-')}`;
        await checkLooks(page, name, true).catch((error: unknown) =>
          wrong.push(`${route}: ${String(error)}`),
        );
      }
      test.diagnostic(`${own.length} pages, ${wrong.length} with findings`);
      assert.ok(own.length > 0);
      assert.deepEqual(wrong, []);
    });
  }
});
