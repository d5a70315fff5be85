// Every page of the console, by its route tree, whose calls of the API are refused, or answered as a later version would.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browserSkip } from '../support/browser.ts';
import { goTo, loadersOf, madeUnknown, visitPage } from '../support/console-visits.ts';
import { everyPage, sharedFilledConsole, type FilledConsole } from '../support/filled-console.ts';
import { releaseWorld } from '../support/held-world.ts';

/** They call nothing before someone sends a form. */
const ASK_NOTHING: ReadonlySet<string> = new Set([
  '/frontdoors/$frontdoorId/policies/new',
  '/frontdoors/$frontdoorId/agents/new',
  '/mesh/inspect',
]);
const REFUSALS: Readonly<Record<number, readonly [code: string, message: string, shown: string]>> = {
  403: ['forbidden', '', 'Your role does not allow this. Ask an administrator'],
  409: ['conflict', '', 'The request conflicts with the current state.'],
  412: ['precondition_failed', '', 'Someone else has changed this.'],
  429: ['too_many_requests', '', 'Too many requests. Try again in 7 sec.'],
  500: ['internal', 'Internal error 0123456789abcdef', 'An internal error occurred in the control plane.'],
  503: ['unavailable', '', 'The service is temporarily unavailable.'],
};
/** Every page is refused with this one and, by turns, with one of the others: all pages share the code that shows a refusal. */
const EVERYWHERE = '500';
/** While a query is repeated, its problem may be replaced by another with the same text. */
const SHOWN_MS = 10_000;
const ERROR_ID = 'Error ID: 0123456789abcdef';

describe('every page whose calls are refused', { skip: browserSkip }, () => {
  let consoles: FilledConsole;
  before(async () => {
    consoles = await sharedFilledConsole();
  });
  after(releaseWorld);

  it('answers 403, 409, 412, 429, 500 and 503 with a sentence, the error id and a way on', async (test) => {
    const others = Object.keys(REFUSALS).filter((status) => status !== EVERYWHERE);
    const results = await Promise.all(
      Object.entries(REFUSALS).map(async ([status, [error, message, sentence]]) => {
        const { page, routes, allow } = await everyPage(consoles, test, (route) =>
          route.fulfill({
            status: Number(status),
            contentType: 'application/json',
            headers: { 'retry-after': '7' },
            body: JSON.stringify({ error, message }),
          }),
        );
        allow(/status of (403|409|412|429|500|503)/);
        if (status === '503') await page.clock.install();
        const wrong: string[] = [];
        const own = routes
          .filter((route) => !ASK_NOTHING.has(route))
          .filter((_, at) => status === EVERYWHERE || others[at % others.length] === status);
        for (const route of own) {
          await goTo(page, consoles.pathOf(route));
          // A query that was answered 503 is repeated twice, a second and two seconds later.
          const loaders = loadersOf(page);
          while (status === '503' && (await loaders.count()) > 0) await page.clock.fastForward(1_000);
          await visitPage(page, consoles.pathOf(route));
          const problem = page.locator('main [role=alert]').filter({ has: page.getByRole('button') });
          const shown = problem
            .filter({ hasText: sentence })
            .filter({ hasText: status === '500' ? ERROR_ID : '' });
          const isShown = await shown
            .first()
            .waitFor({ timeout: SHOWN_MS })
            .then(
              () => true,
              () => false,
            );
          if (!isShown) wrong.push(`${status} ${route}: ${await page.locator('main').innerText()}`);
        }
        return { count: own.length, wrong };
      }),
    );
    const count = results.reduce((sum, result) => sum + result.count, 0);
    const wrong = results.flatMap((result) => result.wrong);
    test.diagnostic(`${count - wrong.length} of ${count} refusals`);
    assert.deepEqual(wrong, []);
  });

  it('asks for another log-in when a session has ended', async (test) => {
    const { page, routes, allow } = await everyPage(consoles, test, (route) =>
      route.fulfill({ status: 401, contentType: 'application/json', body: '{"error":"unauthorized"}' }),
    );
    allow(/status of 401/);
    let asked = 0;
    for (const route of routes) {
      if (ASK_NOTHING.has(route)) continue;
      await goTo(page, consoles.pathOf(route));
      const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
      const problem = page.locator('main [role=alert]').filter({ hasText: 'Your session has ended' }).first();
      // Calls that are refused after the dialog was closed open it again.
      for (;;) {
        await dialog.or(problem).first().waitFor();
        if ((await problem.count()) > 0) break;
        await dialog.getByText('Your input on this page is kept.').waitFor();
        assert.equal(await dialog.getByRole('button', { name: 'Sign in' }).isEnabled(), true);
        await dialog.getByRole('button', { name: 'Cancel' }).click();
        asked += 1;
      }
      await problem.getByRole('button', { name: 'Try again' }).waitFor();
    }
    const count = routes.length - ASK_NOTHING.size;
    test.diagnostic(`${count} of ${count} pages, asked ${asked} times`);
    assert.ok(asked > 30, `asked ${asked} times`);
  });

  it('shows states and fields of a later version', async (test) => {
    const { page, routes } = await everyPage(consoles, test, async (route) => {
      const headers = { ...route.request().headers(), 'sec-fetch-site': 'same-origin' };
      const response = await route.fetch({ headers });
      const isJson = String(response.headers()['content-type']).includes('json');
      if (!response.ok() || !isJson) return route.fulfill({ response });
      const body = JSON.stringify(madeUnknown(await response.json()));
      const length = String(Buffer.byteLength(body));
      return route.fulfill({ response, body, headers: { ...response.headers(), 'content-length': length } });
    });
    const wrong: string[] = [];
    for (const route of routes) {
      await visitPage(page, consoles.pathOf(route));
      if ((await page.locator('main h1').count()) === 0)
        wrong.push(`${route}: ${(await page.textContent('main'))!}`);
      if ((await page.getByText('Something went wrong on this page').count()) > 0)
        wrong.push(`${route}: ${(await page.textContent('main'))!}`);
    }
    test.diagnostic(`${routes.length - wrong.length} of ${routes.length} pages`);
    assert.equal(wrong.length, 0, wrong.join('\n'));
  });
});
