// Pages of agents in a real browser: a code, the command that it shows, and the agent that comes of it.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { checkLooks } from '../support/console-look.ts';
import { eventually } from '../support/world.ts';

/** It is text wherever it appears, and one word of the command. */
const HOSTILE = `it's <img src=x onerror=alert(1)> $(exit 1)`;

describe('the pages of agents', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let base: string;
  let program: ChildProcess | undefined;

  before(async () => {
    consoles = await sharedConsole();
    base = `/frontdoors/${consoles.world.credentials.frontdoorId}/agents`;
  });
  after(async () => {
    if (program !== undefined && program.exitCode === null) {
      program.kill();
      await once(program, 'exit');
    }
    await releaseWorld();
  });

  /** Runs the command as a person pastes it, with another folder for its data. */
  function runInShell(command: string): ChildProcess {
    const launcher = `"${process.execPath}" "${join(repositoryRoot, 'bin/frontdoor.ts')}"`;
    const data = join(consoles.world.dataDir, 'pasted-agent');
    const text = `exec env ${command.replace(/^ *frontdoor/m, launcher)} --data-dir "${data}" --log-level error`;
    return spawn('/bin/sh', ['-c', text], { stdio: 'inherit' });
  }

  it('begin with the next step, its command, and a tour that ends once it was taken', async (test) => {
    const { page, open } = await consoles.person(test, 'administrator');
    await open(base.replace(/\/agents$/, ''));
    const begin = page.getByRole('region', { name: 'Get started' });
    const command = await begin.getByRole('region', { name: 'Command' }).textContent();
    assert.ok(command?.includes(`--api ${consoles.consoleUrl.replace(/\/console$/, '')} `), command ?? '');
    await begin.getByRole('button', { name: 'Start the tour' }).click();
    const tour = page.getByRole('region', { name: 'Tour' });
    for (const step of [1, 2, 3, 4, 5]) {
      await tour.getByText(`Step ${step} of 5`).waitFor();
      if (step === 2) {
        await tour.getByRole('link', { name: 'Open Shares' }).click();
        await page.getByRole('heading', { level: 1, name: 'Shares' }).waitFor();
        await checkLooks(page, 'tour');
      }
      await tour.getByRole('button', { name: step === 5 ? 'Done' : 'Next' }).click();
    }
    await tour.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await begin.getByRole('link', { name: 'Add an agent' }).waitFor();
    await checkLooks(page, 'overview-empty');
    assert.equal(await begin.getByRole('button', { name: 'Start the tour' }).count(), 0);
  });

  it('add one: the shown command connects it, and the page shows that by itself', async (test) => {
    const { page, open } = await consoles.person(test, 'editor');
    await open(base);
    await page.getByText('No agents yet.').waitFor();
    await checkLooks(page, 'agents-empty');
    await page.getByRole('link', { name: 'Add an agent' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).fill(HOSTILE);
    await page.getByLabel('Services that can be published').selectOption('other');
    await page.getByRole('button', { name: 'Create code' }).click();
    await page.getByText('is not a network with ports').waitFor();
    await page
      .getByRole('textbox', { name: 'Networks, ports and folders' })
      .fill('127.0.0.1:* 10.0.0.0/8:80,8080');
    await checkLooks(page, 'agents-new');
    await page.getByRole('button', { name: 'Create code' }).click();
    await page.getByText('Waiting for the agent…').waitFor();
    await checkLooks(page, 'agents-code');
    const command = (await page.getByRole('region', { name: 'Command' }).textContent())!;
    for (const machine of ['Clone of the repository', 'systemd service']) {
      await page.getByText(machine, { exact: true }).click();
      assert.notEqual(await page.getByRole('region', { name: 'Command' }).textContent(), command);
    }
    program = runInShell(command);
    await page.getByText(`${HOSTILE} is connected.`).waitFor();
    await page.getByRole('link', { name: 'View agent' }).click();
    await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor();
    await page.getByText('This agent does not publish any services yet.').waitFor();
    await page.getByText('No requests in this time range.').waitFor();
    assert.match((await page.textContent('main'))!, /Last seen\s*now/);
    await checkLooks(page, 'agent');
  });

  it('list them with filters in the address, and codes with the agents that came of them', async (test) => {
    const { page, open } = await consoles.person(test, 'editor');
    await open(base);
    await page.getByRole('link', { name: HOSTILE }).waitFor();
    await checkLooks(page, 'agents');
    await page.getByLabel('State').selectOption('INACTIVE');
    await page.getByText('No results match these filters.').waitFor();
    assert.match(page.url(), /status=INACTIVE/);
    await page.goBack();
    await page.getByRole('link', { name: 'Enrollment codes' }).click();
    await page.getByRole('link', { name: HOSTILE }).waitFor();
    const { status } = await consoles.world.call('POST', '/agents/enrollments', { name: 'spare' });
    assert.equal(status, 201);
    await page.getByRole('button', { name: 'Revoke code spare' }).click();
    await checkLooks(page, 'agent-codes-cancel');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke code' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'spare', exact: true }).waitFor({ state: 'detached' });
    await checkLooks(page, 'agent-codes');
  });

  it('show readers everything, and let them change nothing', async (test) => {
    const { page, open } = await consoles.person(test, 'reader');
    await open(base);
    await page.getByRole('link', { name: HOSTILE }).click();
    const rename = page.getByRole('button', { name: 'Rename' });
    await rename.waitFor();
    assert.ok(await rename.isDisabled());
    assert.ok(await page.getByRole('button', { name: 'Delete' }).isDisabled());
    await open(`${base}/new`);
    await page.getByText('Your role does not allow you to add agents.').waitFor();
  });

  it('rename one unless someone else did, and delete it by its typed name', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'editor');
    allow(/status of 4(00|12)/);
    await open(base);
    await page.getByRole('link', { name: HOSTILE }).click();
    await page.getByRole('button', { name: 'Rename' }).click();
    const id = page.url().split('/').at(-1)!;
    await consoles.world.call('PATCH', `/environments/${id}`, { name: 'theirs' });
    await page.getByRole('textbox', { name: 'Name' }).fill('mine');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Someone else has changed this.').waitFor();
    await page.getByRole('button', { name: 'Load the latest version' }).click();
    await eventually(
      () => page.getByRole('textbox', { name: 'Name' }).inputValue(),
      (value) => value === 'theirs',
    );
    await page.getByRole('textbox', { name: 'Name' }).fill(' ');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/Value for name must be/).waitFor();
    await checkLooks(page, 'agent-rename');
    await page.getByRole('textbox', { name: 'Name' }).fill('mine');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'mine' }).waitFor();

    await page.getByRole('button', { name: 'Delete' }).click();
    const remove = page.getByRole('dialog').getByRole('button', { name: 'Delete' });
    assert.ok(await remove.isDisabled());
    await page.getByLabel('Type mine to confirm').fill('mine');
    await checkLooks(page, 'agent-delete');
    await remove.click();
    await page.getByText('No agents yet.').waitFor();
    assert.equal(new URL(page.url()).pathname, `/console${base}`);
  });
});
