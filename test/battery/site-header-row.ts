/**
 * A26: headers with which a service may act on the whole site of its share, sent by another organization's share in the
 * same zone to a browser that is logged in at a share: the log-in lives, and requests of the neighbour arrive as before.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { browserSkip, startBrowser, type Person } from '../support/browser.ts';
import { startIdentityWorld, ZONE, type IdentityWorld } from '../support/identity-world.ts';
import { startSecondOrganization } from '../support/second-organization.ts';
import { SESSION_COOKIE } from '../support/visitor.ts';
import { RowSkipped, Tally, type BatteryRow, type BatteryRowContext } from './battery-row.ts';
import { startHostileShare } from './hostile-share.ts';

const ROUNDS = 5;
/** More than a gateway takes for the cause of a service's 431, and less than it refuses itself. */
const COOKIE_BYTES = 5_000;

type Lines = readonly (readonly [name: string, value: string])[];

const REPORTING = { report_to: 'evil', max_age: 86_400, include_subdomains: true, failure_fraction: 1 };
const GROUP = { group: 'evil', max_age: 86_400, include_subdomains: true };

/** By the path that answers with them. */
const HEADERS: Readonly<Record<string, Lines>> = {
  'clear-cookies': [['Clear-Site-Data', '"cookies"']],
  'clear-storage': [['Clear-Site-Data', '"storage"']],
  'clear-all': [['Clear-Site-Data', '"*"']],
  'clear-list': [
    ['Clear-Site-Data', '"cache"'],
    ['clear-site-data', '"storage", "cookies"'],
  ],
  'session-cookie': [
    ['Set-Cookie', `${SESSION_COOKIE}=; Path=/; Secure; Max-Age=0`],
    ['Set-Cookie', `${SESSION_COOKIE}=x; Path=/; Secure; Domain=${ZONE}`],
  ],
  'log-out-status': [['Set-Login', 'logged-out']],
  'strict-transport': [['Strict-Transport-Security', 'max-age=31536000; includeSubDomains; preload']],
  reports: [
    ['Report-To', JSON.stringify({ ...GROUP, endpoints: [{ url: `https://evil.${ZONE}/reports` }] })],
    ['Reporting-Endpoints', `evil="https://evil.${ZONE}/reports"`],
    ['NEL', JSON.stringify(REPORTING)],
  ],
  'other-service': [['Alt-Svc', `h2="evil.${ZONE}:1"; ma=86400; persist=1`]],
};
/** The service refuses the size of its cookies, so that the gateway clears them. */
const REFUSES = 'refuses-cookies';

export const SITE_HEADER_ROW: BatteryRow = {
  id: 'A26',
  title: 'headers of a sibling share that act on the whole site end no log-in of a neighbour',
  // The row needs users who log in, and a tenant of its own.
  hasOwnProduct: true,
  run: async (context) => {
    if (browserSkip !== false) throw new RowSkipped(browserSkip);
    const tally = new Tally();
    const closers: (() => Promise<void>)[] = [];
    try {
      const world = await startIdentityWorld();
      closers.push(() => world.close());
      const second = await startSecondOrganization(world.parts);
      closers.push(() => second.close());
      const { agentSocket } = second;
      const evil = await startHostileShare({ world, agentSocket, closers, answer });
      const victim = await world.share('victim', [await world.addProvider('OIDC', 'staff')]);
      const browser = await startBrowser([]);
      closers.push(() => browser.close());
      for (let round = 0; round < (context.quick ? 1 : ROUNDS); round += 1) {
        const ann = await browser.person(`A26, round ${round}`);
        await visit(tally, context, { world, ann, victim, evil });
        await ann.close();
      }
    } finally {
      for (const close of closers.toReversed()) await close();
    }
    return tally;
  },
};

function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const path = url.slice(1);
  const lines = HEADERS[path] ?? [];
  if (path === REFUSES) response.statusCode = 431;
  response.setHeaders(new Map([['Content-Type', 'text/html']]));
  for (const [name, value] of lines) response.appendHeader(name, value);
  response.end('<!doctype html><title>hostile</title>');
}

interface Visit {
  readonly world: IdentityWorld;
  readonly ann: Person;
  readonly victim: string;
  readonly evil: string;
}

async function visit(tally: Tally, context: BatteryRowContext, asked: Visit): Promise<void> {
  const { world, ann, victim, evil } = asked;
  const { page } = ann;
  const urlOf = (host: string, path = '/'): string => `https://${host}:${world.securePort}${path}`;
  await page.goto(urlOf(victim));
  await page.click('#ann');
  await page.waitForURL(urlOf(victim));
  await page.evaluate(keep);
  const isIn = async (name: string): Promise<void> => {
    const path = `/after-${name}`;
    await page.goto(urlOf(victim, path));
    const { url, headers } = world.origin.last(victim);
    const isSame = page.url() === urlOf(victim, path) && url === path;
    tally.check(isSame && headers['zrok-auth-email'] === 'ann@example.com', `${name} ends no log-in`, () =>
      page.url(),
    );
    if (!isSame) await page.click('#ann');
    tally.check(await page.evaluate(isKept), `${name} clears no storage of a neighbour`);
  };
  for (const name of Object.keys(HEADERS)) {
    await page.goto(urlOf(evil, `/${name}`));
    await isIn(name);
    context.progress(`${name} is over`);
  }
  await page.goto(urlOf(evil));
  await page.evaluate(grow, COOKIE_BYTES);
  // The browser may show a page of its own for a refusal.
  await page.goto(urlOf(evil, `/${REFUSES}`)).catch(() => {});
  const left = (await ann.context.cookies(urlOf(evil))).map(({ name }) => name);
  tally.check(!left.includes('own'), 'the cookies that a service finds too large are cleared');
  await isIn(REFUSES);
}

/** Runs in the page, as the next three. */
function keep(): void {
  globalThis.localStorage.setItem('kept', '1');
}

function isKept(): boolean {
  return globalThis.localStorage.getItem('kept') === '1';
}

function grow(bytes: number): void {
  const { document } = globalThis as unknown as { document: { cookie: string } };
  for (const name of ['own', 'second']) document.cookie = `${name}=${'x'.repeat(bytes / 2)}; path=/; secure`;
}
