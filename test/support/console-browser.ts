/**
 * The console in a real browser, for tests of its pages: a world with the built browser program, and pages in which a person of
 * a role is logged in. A page fails its test by an error on its console, an uncaught error and a report of the content
 * policy, unless the test allows them. One world and one browser serve all tests of a file, and with `sharedConsole` all files of
 * a process, each of which finds a frontdoor without agents, shares, auth providers and custom frontends.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { parseAllowedNetworks, type Role } from '#domain';
import { JsonClient } from '#net/http';
import { buildConsoleNow } from './built-console.ts';
import { startBrowser, type LocalBrowser, type PersonOptions } from './browser.ts';
import type { Up } from '../../bin/up.ts';
import { clearAccount } from './cleared-account.ts';
import { holdWorld } from './held-world.ts';
import { openWorld, type World } from './world.ts';

export { releaseWorld } from './held-world.ts';

const PASSWORD = 'plum giraffe engine 47';
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
/** Success criteria of WCAG 2.2, levels A and AA. */
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
const REPORT = 'content policy: ';

export interface OpenedConsole {
  readonly page: Page;
  readonly email: string;
  /** Errors on the console, uncaught errors and reports of the content policy so far. */
  readonly problems: readonly string[];
  /** Problems that match do not fail the test: `/status of 409/` for a refusal that it provokes. */
  allow(pattern: RegExp): void;
  /** Opens a page of the console by its path after `/console`, and waits until the program has drawn something. */
  open(path: string): Promise<void>;
}

export interface ConsoleBrowser {
  readonly world: World;
  readonly browser: LocalBrowser;
  /** Without a slash at the end. */
  readonly consoleUrl: string;
  /** Opens a page in which a new person of the role is logged in. It is closed with the test. */
  person(test: TestContext, role: Role, options?: PersonOptions): Promise<OpenedConsole>;
}

export interface StartedConsole extends ConsoleBrowser {
  close(): Promise<void>;
}

/** Files that call this share one world and one browser. The control plane may fetch from this machine. */
export const sharedConsole = (): Promise<ConsoleBrowser> =>
  holdWorld(async () => {
    const allowEgress = parseAllowedNetworks('--allow-egress', ['127.0.0.0/8:*', '[::1]/128:*']);
    const started = await startConsoleBrowser({ access: { allowEgress } });
    const tidy = async (): Promise<void> => {
      await started.world.closeAgents();
      await clearAccount(started.world.call, [
        'custom-frontends',
        'shares',
        'policies',
        'auth-providers',
        'environments',
      ]);
    };
    return { world: started, tidy, close: () => started.close() };
  });

/** For one file. `options` are those of the world, which is closed with the browser. */
export async function startConsoleBrowser(
  options: Parameters<typeof openWorld>[0] = {},
): Promise<StartedConsole> {
  await buildConsoleNow();
  const [browser, world] = await Promise.all([startBrowser([]), openWorld(options)]);
  const { control } = world.up;
  const consoleUrl = control.consoleUrl!;
  let count = 0;
  return {
    world,
    browser,
    consoleUrl,
    person: async (test, role, personOptions) => {
      count += 1;
      const email = `${role}-${count}@example.com`;
      const name = `${role} ${count} whose name is longer than a narrow screen is wide`;
      const cookie = await newSession(control, world, { role, name, email });
      const person = await browser.person(`console: ${test.name}`, personOptions);
      await person.context.addCookies([cookie]);
      await person.page.addInitScript(REPORT_VIOLATIONS, REPORT);
      const opened = watched(person.page, consoleUrl, email);
      test.after(async () => {
        await person.close();
        assert.deepEqual(opened.unexpected(), []);
      });
      return opened;
    },
    close: async () => {
      await browser.close();
      await world.close();
    },
  };
}

const TRANSITIONS_END = `Promise.allSettled(
  document.getAnimations().filter((it) => it instanceof CSSTransition).map(({ finished }) => finished),
)`;

/** The findings of axe in a document, one line each; none for a page that everyone can use. */
export async function checkAxe(page: Page, include = 'body'): Promise<void> {
  const client = await page.context().newCDPSession(page);
  try {
    // A world of its own: the content policy of the page does not concern it, and the page does not see it.
    const { frameTree } = await client.send('Page.getFrameTree');
    const { executionContextId: contextId } = await client.send('Page.createIsolatedWorld', {
      frameId: frameTree.frame.id,
      worldName: 'axe',
    });
    await client.send('Runtime.evaluate', { contextId, expression: axe.source });
    // A color on its way to another is neither of them.
    await client.send('Runtime.evaluate', { contextId, awaitPromise: true, expression: TRANSITIONS_END });
    const options = { runOnly: WCAG, resultTypes: ['violations'] };
    const { result, exceptionDetails } = await client.send('Runtime.evaluate', {
      contextId,
      awaitPromise: true,
      returnByValue: true,
      expression: `axe.run(${JSON.stringify(include)}, ${JSON.stringify(options)}).then(JSON.stringify)`,
    });
    assert.equal(exceptionDetails?.exception?.description, undefined);
    const { violations } = JSON.parse(String(result.value)) as AxeResults;
    const lines = violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ html, target }) => `${id}: ${help}: ${target.join(' ')}: ${html}`),
    );
    assert.deepEqual(lines, [], `axe at ${page.url()}`);
  } finally {
    await client.detach();
  }
}

interface WatchedPage extends OpenedConsole {
  unexpected(): readonly string[];
}

function watched(page: Page, consoleUrl: string, email: string): WatchedPage {
  const problems: string[] = [];
  const allowed: RegExp[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`));
  return {
    page,
    email,
    problems,
    allow: (pattern) => void allowed.push(pattern),
    unexpected: () => problems.filter((problem) => !allowed.some((pattern) => pattern.test(problem))),
    open: async (path) => {
      await page.goto(`${consoleUrl}${path}`);
      await page.waitForSelector('#root > :not(style, #coming)');
    },
  };
}

const REPORT_VIOLATIONS = (report: string): void => {
  const { document } = globalThis as unknown as { readonly document: EventTarget };
  document.addEventListener('securitypolicyviolation', (event) => {
    const { effectiveDirective, blockedURI } = event as unknown as Record<string, string>;
    // The console of the page, which the test reads.
    globalThis.console.error(`${report}${effectiveDirective} ${blockedURI}`);
  });
};

/** Makes a person by invitation, and returns the cookie of the session. */
async function newSession(
  { baseUrl }: Up['control'],
  { credentials }: World,
  { role, name, email }: { readonly role: Role; readonly name: string; readonly email: string },
) {
  const { origin } = new URL(baseUrl);
  const path = new URL(baseUrl).pathname.replace(/\/$/, '');
  const client = new JsonClient({ origin });
  try {
    const { accountId, apiToken } = credentials;
    const invited = await client.request({
      method: 'POST',
      path: `${path}/invitations`,
      body: { name, role },
      headers: { authorization: `Basic ${accountId}:${apiToken}` },
    });
    const code = (invited.json as { readonly link?: string }).link?.split('#')[1];
    assert.ok(code !== undefined, invited.text);
    const body = new URLSearchParams({ code, name, email, password: PASSWORD });
    const answer = await client.request({
      method: 'POST',
      path: `${path}/console/welcome`,
      body: body.toString(),
      headers: { ...FORM, origin },
    });
    const [, cookie = '', value = ''] = /^([^=]+)=([^;]+)/.exec(String(answer.headers['set-cookie'])) ?? [];
    assert.equal(answer.status, 303, answer.text);
    return {
      name: cookie,
      value,
      url: origin.replace(/^http:/, 'https:'),
      secure: true,
      httpOnly: true,
    } as const;
  } finally {
    await client.close();
  }
}
