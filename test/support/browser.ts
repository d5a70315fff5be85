/**
 * Headless Chromium, with separate cookies for each person. Hosts in the zones of tests resolve to this
 * machine, and certificates of test authorities are accepted. Where there is no Chromium tests skip, naming
 * it; under FRONTDOOR_TEST_STRICT=1 they fail. FRONTDOOR_LOGIN_RECORDING=FILE keeps the steps, without a
 * secret in them.
 */
import { appendFileSync, existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Page, type Response } from 'playwright-core';

/** Chromium without what it has for a screen takes two thirds of the CPU, so it is used where it is installed. */
const PROGRAMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const PROGRAM = process.env['FRONTDOOR_TEST_CHROMIUM'] ?? PROGRAMS.find(existsSync) ?? PROGRAMS[0]!;
const RECORDING = process.env['FRONTDOOR_LOGIN_RECORDING'];
const STEP_MS = 60_000;

/** The value of `skip` for tests that need Chromium. */
export const browserSkip: string | false =
  !existsSync(PROGRAM) && process.env['FRONTDOOR_TEST_STRICT'] !== '1' ? 'Chromium is not installed' : false;

export interface Person {
  readonly page: Page;
  readonly context: BrowserContext;
  /** `302 GET https://… set-cookie name; flags`, one line for each step so far. */
  steps(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface PersonOptions {
  readonly javaScript?: boolean;
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
  readonly reducedMotion?: 'reduce' | 'no-preference';
  readonly locale?: string;
}

export interface LocalBrowser {
  /** Opens a page without cookies; `title` is the heading of its steps in the recording. */
  person(title: string, options?: PersonOptions): Promise<Person>;
  close(): Promise<void>;
}

/** `zones`: besides `localhost`, names whose hosts are on this machine. */
export async function startBrowser(zones: readonly string[]): Promise<LocalBrowser> {
  const rules = zones.flatMap((zone) => [`MAP ${zone} 127.0.0.1`, `MAP *.${zone} 127.0.0.1`]);
  const browser: Browser = await chromium.launch({
    executablePath: PROGRAM,
    timeout: STEP_MS,
    // It ends with this process, whose listeners are not its own.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      `--host-resolver-rules=${[...rules, 'MAP *.localhost 127.0.0.1'].join(',')}`,
    ],
  });
  return {
    person: async (title, { javaScript = true, ...options } = {}) => {
      const context = await browser.newContext({
        ignoreHTTPSErrors: true,
        javaScriptEnabled: javaScript,
        // Drawing transitions takes a sixth of the CPU of these tests.
        reducedMotion: 'reduce',
        ...options,
      });
      context.setDefaultTimeout(STEP_MS);
      const page = await context.newPage();
      const seen: Promise<string>[] = [];
      context.on('response', (response) => {
        if (response.request().isNavigationRequest() && !response.url().endsWith('/favicon.ico'))
          seen.push(stepOf(response));
      });
      const steps = (): Promise<readonly string[]> => Promise.all(seen);
      return {
        page,
        context,
        steps,
        close: async () => {
          if (RECORDING !== undefined)
            appendFileSync(RECORDING, `${title}\n${(await steps()).map((step) => `  ${step}\n`).join('')}\n`);
          await context.close();
        },
      };
    },
    close: () => browser.close(),
  };
}

async function stepOf(response: Response): Promise<string> {
  const url = new URL(response.url());
  // The provider's own cookies are not recorded. A connection that ends at once takes its headers with it.
  const headers = url.protocol === 'http:' ? [] : await response.headersArray().catch(() => []);
  const cookies = headers
    .filter(({ name }) => name.toLowerCase() === 'set-cookie')
    .flatMap(({ value }) => value.split('\n'))
    .map((line) => ` set-cookie ${line.replace(/=[^;]*/, '=…')}`);
  return `${response.status()} ${response.request().method()} ${shownAddress(url)}${cookies.join('')}`;
}

/** Query parameters by name only; what identifies an interaction in a path is left out. */
export function shownAddress(url: URL): string {
  const names = [...url.searchParams.keys()].map((name) => `${name}=…`);
  const path = url.pathname.replace(/\/(interaction|auth)\/[A-Za-z0-9_-]{16,}/, '/$1/…');
  return url.origin + path + (names.length === 0 ? '' : `?${names.join('&')}`);
}
