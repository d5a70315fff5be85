// The 25 tasks of a user's first day at the console, each from the overview, with at most the clicks and keystroke groups that
// docs/console-tasks.md names.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { goTo } from '../support/console-visits.ts';
import { CountedHands, type HandCounts } from '../support/counted-hands.ts';
import { fillFirstDay, type FirstDay } from '../support/first-day-world.ts';
import { FIRST_DAY_TASKS } from '../support/first-day-tasks.ts';

describe("a user's first day", { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let service: Server;
  let day: Omit<FirstDay, 'reader'>;
  before(async () => {
    service = createServer((_request, response) => response.end('it works')).listen(0, '127.0.0.1');
    await once(service, 'listening');
    consoles = await sharedConsole();
    day = await fillFirstDay(consoles, (service.address() as AddressInfo).port);
  });
  after(async () => {
    service?.closeAllConnections();
    service?.close();
    await releaseWorld();
  });

  it('has 25 tasks that take no more clicks and keys than their table has', async (test) => {
    const bob = await consoles.person(test, 'reader');
    const { page, open, allow } = await consoles.person(test, 'operator');
    // Pages of what was just deleted, and of the session that has ended.
    allow(/status of (401|404)/);
    const base = `/frontdoors/${consoles.world.credentials.frontdoorId}`;
    await open(base);
    const written = countsOf(readFileSync(new URL('../../docs/console-tasks.md', import.meta.url), 'utf8'));
    assert.deepEqual(
      FIRST_DAY_TASKS.map(({ task }) => task),
      written.map(({ task }) => task),
    );
    const tooMany: string[] = [];
    for (const [at, { task, run }] of FIRST_DAY_TASKS.entries()) {
      await goTo(page, base);
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      const hands = new CountedHands(page);
      try {
        await run(hands, { ...day, reader: nameOf(bob.email) });
      } catch (error) {
        throw new Error(`${task}, at ${page.url()}`, { cause: error });
      }
      test.diagnostic(`${task}: ${hands.clicks} + ${hands.keys}`);
      const { clicks, keys } = written[at]!;
      if (hands.clicks > clicks || hands.keys > keys)
        tooMany.push(`${task}: ${hands.clicks} + ${hands.keys} instead of ${clicks} + ${keys}`);
    }
    assert.deepEqual(tooMany, []);
  });
});

function nameOf(email: string): string {
  return email.split('@')[0]!.replace('-', ' ');
}

/** The last column of the table: `| 2 | Publish a service | 7 + 2 | 7 + 2 |`. */
function countsOf(text: string): readonly (HandCounts & { readonly task: string })[] {
  return [...text.matchAll(/^\| \d+ \| ([^|]+) \| [^|]+ \| (\d+) \+ (\d+) \|/gm)].map(
    ([, task, clicks, keys]) => ({ task: task!, clicks: Number(clicks), keys: Number(keys) }),
  );
}
