/**
 * A18: pages of another organization's share in the same zone, in Chromium, against a share where someone is logged in.
 * They are one site with it to the browser. What would change something does not arrive, what their service plants as
 * cookies does not either, and a person whose cookies no longer fit gets in with the next try. Cookies that their
 * scripts plant can be separated by a zone on the Public Suffix List alone: they are counted and noted.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { browserSkip, startBrowser, type Person } from '../support/browser.ts';
import { until } from '../support/deadline.ts';
import { startIdentityWorld, ZONE, type IdentityWorld } from '../support/identity-world.ts';
import { startSecondOrganization } from '../support/second-organization.ts';
import { SESSION_COOKIE } from '../support/visitor.ts';
import { startHostileShare } from './hostile-share.ts';
import { RowSkipped, Tally, type BatteryRow, type BatteryRowContext } from './battery-row.ts';

const ROUNDS = 10;
const UNSAFE = ['POST', 'PUT', 'PATCH', 'DELETE'];
/** More than the gateway reads, and what the gateway reads and the service does not (16 KiB with the caller's headers). */
const BOMBS = [80, 30, 15];
const BOMB_BYTES = 1_000;

export const SIBLINGS_ROW: BatteryRow = {
  id: 'A18',
  title: 'pages of a sibling share change nothing, plant nothing, and lock nobody out',
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
      const evil = await startHostileShare({
        world,
        agentSocket: second.agentSocket,
        closers,
        answer: plantCookie,
      });
      const victim = await world.share('victim', [await world.addProvider('OIDC', 'staff')]);
      const browser = await startBrowser([]);
      closers.push(() => browser.close());
      for (let round = 0; round < (context.quick ? 1 : ROUNDS); round += 1) {
        const ann = await browser.person(`A18, round ${round}`);
        await visit(tally, context, { world, ann, victim, evil });
        await ann.close();
        context.progress(`round ${round + 1} is over`);
      }
    } finally {
      for (const close of closers.toReversed()) await close();
    }
    return tally;
  },
};

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

  await page.goto(urlOf(evil, '/plant'));
  const hits = world.origin.hits(victim);
  for (const method of UNSAFE) {
    for (const mode of ['no-cors', 'cors'] as const) {
      if (mode === 'no-cors' && method !== 'POST') continue;
      await page.evaluate(post, { url: urlOf(victim, '/change'), method, mode });
      tally.check(world.origin.hits(victim) === hits, `${method} (${mode}) does not arrive`);
    }
  }
  const opened = await page.evaluate(openSocket, urlOf(victim, '/socket').replace('https', 'wss'));
  tally.check(!opened && world.origin.hits(victim) === hits, 'a WebSocket is not opened');
  const refused = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.setContent(
    `<form method="post" action="${urlOf(victim, '/form')}"><button id="send">send</button></form>`,
  );
  await page.click('#send');
  const status = (await refused).status();
  tally.check(
    status === 403 && world.origin.hits(victim) === hits,
    'a form does not arrive',
    () => `${status}`,
  );

  await page.goto(urlOf(victim, '/after'));
  const { headers } = world.origin.last(victim);
  tally.check(
    !(headers['cookie'] ?? '').includes('planted'),
    'a cookie that the service of a sibling plants',
  );
  tally.check(headers['zrok-auth-email'] === 'ann@example.com', 'the person is still logged in');

  await page.goto(urlOf(evil));
  await page.evaluate(plantBomb, { name: 'scripted', zone: ZONE, count: 1, bytes: 1 });
  await page.goto(urlOf(victim, '/after'));
  const isScripted = (world.origin.last(victim).headers['cookie'] ?? '').includes('scripted0=x');
  context.note(
    `a cookie that a script plants ${isScripted ? 'arrives: the zone is not on' : 'does not arrive: see'} the Public Suffix List`,
  );

  for (const count of BOMBS) {
    await page.goto(urlOf(evil));
    await page.evaluate(plantBomb, { name: 'bomb', zone: ZONE, count, bytes: BOMB_BYTES });
    const answered = page.waitForResponse((response) => response.url() === urlOf(victim, '/bombed'));
    // A service may answer without a page: the browser shows one of its own.
    await page.goto(urlOf(victim, '/bombed')).catch(() => {});
    const bombed = (await answered).status();
    tally.check(bombed === 431, `${count} KB of cookies are too much`, () => `${bombed}`);
    // The browser clears the cookies beside what it shows, so that they may be there for a moment longer.
    await until(
      'the browser to clear the cookies',
      () => ann.context.cookies(urlOf(victim)),
      (cookies) => cookies.every(({ name }) => !name.startsWith('bomb')),
    );
    // The person opens the address once more and logs in again.
    const tab = await ann.context.newPage();
    await tab.goto(urlOf(victim, '/again'));
    if (tab.url() !== urlOf(victim, '/again')) await tab.click('#ann');
    await tab.waitForURL(urlOf(victim, '/again'));
    const isIn = world.origin.last(victim).url === '/again';
    const cookies = (await ann.context.cookies(urlOf(victim))).map(({ name }) => name);
    tally.check(isIn && cookies.includes(SESSION_COOKIE), 'the person gets in again without help');
    await tab.close();
    tally.check(!cookies.some((name) => name.startsWith('bomb')), 'no planted cookie is left');
  }
}

/** Runs in the page; resolves to whether the request got an answer. */
function post({
  url,
  method,
  mode,
}: {
  url: string;
  method: string;
  mode: 'cors' | 'no-cors';
}): Promise<boolean> {
  return fetch(url, { method, mode, credentials: 'include', body: 'a=1' }).then(
    () => true,
    () => false,
  );
}

function openSocket(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url);
    socket.onopen = () => resolve(true);
    socket.onerror = () => resolve(false);
  });
}

interface Planted {
  readonly name: string;
  readonly zone: string;
  readonly count: number;
  readonly bytes: number;
}

/**
 * Runs in the page, as its script. Chromium stores a cookie some time after a script has set it, also after the next page has
 * cleared the others; reading them waits for it.
 */
function plantBomb({ name, zone, count, bytes }: Planted): number {
  const { document } = globalThis as unknown as { document: { cookie: string } };
  for (let i = 0; i < count; i += 1)
    document.cookie = `${name}${i}=${'x'.repeat(bytes)}; domain=${zone}; path=/; secure`;
  return document.cookie.length;
}

function plantCookie(_request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Set-Cookie', `planted=1; Domain=${ZONE}; Path=/; Secure`);
  response.setHeader('Content-Type', 'text/html');
  response.end('<!doctype html><title>hostile</title>');
}
