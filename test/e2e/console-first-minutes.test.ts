// The first five minutes of someone who has never seen a command of Frontdoor but `npm start`, as one story in a browser: the printed link,
// an agent, a log-in for visitors, a published service, a visitor who is admitted, and a failure that the console explains.
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { browserSkip, startBrowser, type LocalBrowser, type Person } from '../support/browser.ts';
import { buildConsoleNow } from '../support/built-console.ts';
import { until } from '../support/deadline.ts';
import {
  DEFAULT_CLIENT,
  startIdentityProvider,
  type IdentityProvider,
} from '../support/identity-provider.ts';
import { makeDataDir, startDemoProcess, type DemoProcess } from '../support/product-process.ts';
import { StoryRecording } from '../support/story-recording.ts';

const BOB = { sub: 'bob', email: 'bob@example.com', emailVerified: true, name: 'Bob' };

describe('the first five minutes at the console', { skip: browserSkip }, () => {
  let dataDir: string;
  let demo: DemoProcess;
  let idp: IdentityProvider;
  let browser: LocalBrowser;
  let wiki: Server;
  let agent: ChildProcess | undefined;
  const people: Person[] = [];

  before(async () => {
    dataDir = makeDataDir();
    wiki = createServer((_request, response) => response.end('the private wiki')).listen(0, '127.0.0.1');
    await once(wiki, 'listening');
    idp = await startIdentityProvider({ users: [BOB] });
    browser = await startBrowser([]);
    await buildConsoleNow();
  });
  after(async () => {
    for (const person of people) await person.close();
    await browser?.close();
    if (agent !== undefined && agent.exitCode === null) {
      agent.kill();
      await once(agent, 'exit');
    }
    await demo?.destroy();
    await idp?.close();
    wiki?.closeAllConnections();
    wiki?.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function somebody(title: string): Promise<Person> {
    const person = await browser.person(title);
    people.push(person);
    return person;
  }

  /** Runs the command as a person pastes it, with another folder for its data. */
  function runInShell(command: string): ChildProcess {
    const launcher = `"${process.execPath}" "${join(repositoryRoot, 'bin/frontdoor.ts')}"`;
    const text = `exec env ${command.replace(/^ *frontdoor/m, launcher)} --data-dir "${join(dataDir, 'pasted')}" --log-level error`;
    return spawn('/bin/sh', ['-c', text], { stdio: 'inherit' });
  }

  it('lead from the printed link to a published service, an admitted visitor and an explained failure', async (test) => {
    const story = new StoryRecording('The first five minutes at the console');
    test.after(() => story.keep());
    const link = await story.step('npm start prints a link to the console', undefined, async () => {
      // The identity provider is on this machine.
      const egress = ['127.0.0.0/8:*', '[::1]/128:*'].flatMap((network) => ['--allow-egress', network]);
      demo = await startDemoProcess(dataDir, ['--any-port', ...egress]);
      const { value } = await until(
        'the printed link',
        () => /\bhttp\S+\/console\/welcome#\S+/.exec(demo.output())?.[0],
        (found) => found !== undefined,
      );
      return value!;
    });
    const { page } = await somebody('Ann, who operates it');
    const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
    const navigation = page.getByRole('navigation', { name: 'Navigation' });
    const goTo = (name: string) => navigation.getByRole('link', { name, exact: true }).click();

    await story.step('Ann opens the link, and makes her account', page, async () => {
      await page.goto(link);
      await page.fill('#email', 'ann@example.com');
      await page.fill('#name', 'Ann');
      await page.fill('#password', 'seven small harbours');
      await page.click('button:not([type])');
      await heading('Overview');
    });

    await story.step('she adds an agent, and copies the command that the page shows', page, async () => {
      await goTo('Agents');
      await page.getByRole('link', { name: 'Add an agent' }).first().click();
      await page.getByRole('textbox', { name: 'Name' }).fill('wiki machine');
      await page.getByRole('button', { name: 'Create code' }).click();
      await page.getByText('Waiting for the agent…').waitFor();
    });
    await story.step(
      'she runs it beside her service: the page shows that the agent is connected',
      page,
      async () => {
        agent = runInShell((await page.getByRole('region', { name: 'Command' }).textContent())!);
        await page.getByText('wiki machine is connected.').waitFor();
      },
    );

    await story.step(
      'she adds her identity provider as a log-in of visitors, and tests it',
      page,
      async () => {
        await goTo('Sign-in providers');
        await page.getByRole('link', { name: 'Add sign-in provider' }).click();
        await page.getByRole('link', { name: 'OpenID Connect' }).click();
        await page.getByLabel('Name').fill('our people');
        await page.getByLabel('Issuer').fill(idp.issuer);
        await page.getByLabel('Client ID').fill(DEFAULT_CLIENT.id);
        await page.getByRole('textbox', { name: 'Client secret' }).fill(DEFAULT_CLIENT.secret);
        await page.getByRole('button', { name: 'Test before saving' }).click();
        await page.getByText('Nothing was saved.').waitFor();
        await page.getByRole('button', { name: 'Create' }).click();
        await heading('our people');
      },
    );

    const address = await story.step(
      'she publishes her service in three steps, for who logs in: it works',
      page,
      async () => {
        const { port } = wiki.address() as AddressInfo;
        await goTo('Shares');
        await page.getByRole('link', { name: 'Publish a service' }).first().click();
        await page.getByLabel('Agent next to the service').selectOption({ label: 'wiki machine' });
        await page.getByLabel('Service address').fill(String(port));
        await page.getByRole('button', { name: 'Next' }).click();
        await page.getByRole('textbox', { name: 'Name' }).fill('wiki');
        await page.getByRole('button', { name: 'Next' }).click();
        await page.getByLabel('People and programs that authenticate').check();
        await page.getByLabel('our people').check();
        await page.getByRole('button', { name: 'Publish' }).click();
        await page.getByText('Your service is reachable.').waitFor();
        return (await page
          .getByRole('link', { name: /https?:\/\/wiki\./ })
          .first()
          .getAttribute('href'))!;
      },
    );

    const visitor = await somebody('Bob, who visits it');
    await story.step('Bob opens the address, logs in, and sees the service', visitor.page, async () => {
      await visitor.page.goto(address);
      await visitor.page.click('#bob');
      await visitor.page.getByText('the private wiki').waitFor();
    });

    const errorId = await story.step(
      'the service ends: Bob sees a page with an error id',
      visitor.page,
      async () => {
        wiki.closeAllConnections();
        await new Promise((resolve) => wiki.close(resolve));
        await visitor.page.goto(new URL('/start', visitor.page.url()).href);
        const text = (await visitor.page.textContent('body'))!;
        const [id] = /\b[0-9a-f]{24}\b/.exec(text) ?? [];
        assert.ok(id !== undefined, text);
        return id;
      },
    );
    await story.step(
      'Ann enters it: the console shows the hop that failed, the cause and what to do',
      page,
      async () => {
        await goTo('Failures');
        await page.getByText('/start').first().waitFor();
        await page.getByRole('textbox', { name: 'Error ID' }).fill(errorId);
        await page.getByRole('button', { name: 'Explain', exact: true }).click();
        await page.getByText('failed here').waitFor();
        const facts = (await page.textContent('main'))!;
        assert.match(facts, /Service.*failed here/s);
        assert.match(facts, /refused/);
      },
    );
    test.diagnostic(`${(story.durationMs / 1_000).toFixed(1)} s in all`);
  });
});
