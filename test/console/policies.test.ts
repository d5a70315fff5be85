// Shared policies in a real browser: created with a rule, assigned to shares, changed with a look at its effects, deleted when unused.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { checkLooks } from '../support/console-look.ts';

/** It is text wherever it appears. */
const HOSTILE = `<img src=x onerror=alert(1)>`;
const REFUSED = 'http://127.0.0.1:9';

describe('shared policies', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let base: string;
  before(async () => {
    consoles = await sharedConsole();
    const { world } = consoles;
    base = `/frontdoors/${world.credentials.frontdoorId}`;
    const agent = await world.startAgent('laptop');
    for (const name of ['one', 'two']) await agent.share(REFUSED, { name });
  });
  after(releaseWorld);

  const call = async (...given: Parameters<ConsoleBrowser['world']['call']>) => {
    const answer = await consoles.world.call(...given);
    assert.ok(answer.status < 300, answer.text);
    return answer.json as Readonly<Record<string, unknown>>;
  };
  const rulesOf = async (token: string) => (await call('GET', `/shares/${token}/policy`))['ipAllow'];

  it('are made, assigned to many shares, compared, changed for all of them, and kept while they are used', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'editor');
    allow(/status of 404/);
    const main = page.locator('main');
    const dialog = page.getByRole('dialog');
    await open(`${base}/policies`);
    await main.getByText('No policies yet.').waitFor();
    await checkLooks(page, 'policies-none');
    await main.getByRole('link', { name: 'New policy' }).first().click();
    await main.getByRole('textbox', { name: 'Name' }).fill(HOSTILE);
    await main.getByLabel('Add rule').selectOption('Allowed networks');
    await main.getByRole('textbox', { name: 'Allowed networks' }).fill('127.0.0.0/8');
    await checkLooks(page, 'policies-new');
    await main.getByRole('button', { name: 'Create policy' }).click();
    await main.getByRole('heading', { level: 1, name: HOSTILE }).waitFor();
    await main.getByText('No share uses this policy yet.').waitFor();
    await main.getByRole('button', { name: 'Assign to shares' }).click();
    for (const name of ['one', 'two']) await dialog.getByRole('checkbox', { name }).check();
    await dialog.getByRole('button', { name: 'Next' }).click();
    await dialog.getByRole('button', { name: 'Assign policy' }).click();
    await dialog.getByText('Done').nth(1).waitFor();
    await checkLooks(page, 'policies-assigned');
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await main.getByRole('heading', { name: 'Used by 2 shares' }).waitFor();
    assert.deepEqual([await rulesOf('one'), await rulesOf('two')], [['127.0.0.0/8'], ['127.0.0.0/8']]);
    assert.equal(await main.getByRole('button', { name: 'Delete this policy' }).isDisabled(), true);
    await main.getByText('Used by one, two.').waitFor();
    // A failure of the service is a request that the comparison knows.
    assert.equal((await consoles.world.get('one.share.localhost', '/')).status, 502);
    await main.getByRole('button', { name: 'Edit: Allowed networks' }).click();
    await main.getByRole('textbox', { name: 'Allowed networks' }).fill('192.0.2.0/24');
    const review = main.getByRole('button', { name: 'Review and save' });
    // Until its record has arrived.
    for (;;) {
      await review.click();
      await dialog.getByText(/^(Compared with|There are no)/).waitFor();
      if ((await dialog.getByText('a different decision').count()) > 0) break;
      await dialog.getByRole('button', { name: 'Go back' }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    await dialog.getByRole('cell', { name: 'one', exact: true }).waitFor();
    await checkLooks(page, 'policies-review');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await main.getByText('Changes take effect at all shares').waitFor();
    assert.deepEqual([await rulesOf('one'), await rulesOf('two')], [['192.0.2.0/24'], ['192.0.2.0/24']]);
    await checkLooks(page, 'policies-one');
    await main.getByRole('link', { name: 'one', exact: true }).click();
    await main.getByRole('link', { name: HOSTILE }).waitFor();
    await main.getByLabel('Rules', { exact: true }).selectOption('Rules of this share');
    await main.getByText('Only from 192.0.2.0/24.').first().waitFor();
    await main.getByRole('button', { name: 'Review and save' }).click();
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await main.getByText('Saved. Changes take effect within seconds.').waitFor();
    assert.deepEqual(
      await rulesOf('one'),
      ['192.0.2.0/24'],
      'a share that leaves its policy keeps the rules',
    );
    await open(`${base}/shares`);
    await main.getByLabel('Policy').selectOption(HOSTILE);
    await main.getByText('1 entry').waitFor();
    await main.getByRole('checkbox').last().check();
    await main.getByRole('button', { name: 'Assign policy' }).click();
    await dialog.getByLabel('Policy').selectOption('Rules of their own');
    await dialog.getByRole('button', { name: 'Assign policy' }).click();
    await dialog.getByText('Done').first().waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('onerror');
    await dialog
      .getByRole('option', { name: /onerror/ })
      .first()
      .click();
    await main.getByRole('button', { name: 'Delete this policy' }).click();
    await dialog.getByRole('textbox').fill(HOSTILE);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await main.getByText('No policies yet.').waitFor();
  });
});
