// Every form of the console and every change below `/console/api`, as pages of other origins, other sites and frames send them.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { operations } from '#contract';
import { BASE_URL } from '../shares/operations/api-fixture.ts';
import { openConsoleWorld, TestBrowser, type ConsoleWorld } from './console-fixture.ts';

const PROVIDER = randomUUID();
/** The forms of the console's own pages, with fields that a page of the console may send. */
const FORMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/console/log-in': { name: 'ann@example.com', password: 'plum giraffe engine 47' },
  '/console/log-in/second-factor': { code: '123456' },
  '/console/log-out': {},
  '/console/new-password': { code: 'x', password: 'plum giraffe engine 48' },
  '/console/password': { current: 'plum giraffe engine 47', password: 'plum giraffe engine 48' },
  '/console/second-factor': {},
  '/console/second-factor/recovery-codes': {},
  '/console/welcome': {
    code: 'x',
    name: 'Eve',
    email: 'eve@example.com',
    password: 'plum giraffe engine 48',
  },
  '/console/welcome/with/:providerId': { code: 'x' },
};
/** What browsers say of a page that is not the console's. */
const FOREIGN: readonly Readonly<Record<string, string>>[] = [
  {},
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: BASE_URL.replace('http:', 'https:') },
  { origin: 'http://127.0.0.1:9999' },
  { origin: 'http://app.share.localhost:8081' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'none' },
  { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
  // The page is in a frame of another site.
  { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' },
  { origin: 'null', 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' },
];
const PAGES = [
  '/console',
  '/console/log-in',
  '/console/welcome',
  '/console/nothing',
  '/console/logged-in',
  '/console/password',
  '/console/new-password',
];

describe('a page of another origin, of another site or in a frame', () => {
  let world: ConsoleWorld;
  let operator: TestBrowser;
  before(async () => {
    world = await openConsoleWorld();
    operator = await world.person('operator', 'ann@example.com');
  });
  after(() => world.close());

  /** Everything that a change leaves behind. */
  async function traces(): Promise<object> {
    const { db } = world.api.store;
    const rows = async (table: 'person' | 'invitation' | 'person_password') =>
      (await db.selectFrom(table).selectAll().execute()).length;
    const events = db.selectFrom('audit_event').select('id').where('result', '=', 'ok').execute();
    const sessions = await operator.call('GET', '/console-sessions');
    return {
      events: (await events).length,
      people: await rows('person'),
      invitations: await rows('invitation'),
      passwords: await rows('person_password'),
      sessions: sessions.json<{ content: { id: string }[] }>().content.map(({ id }) => id),
    };
  }

  it('sends no form of the console', async (t) => {
    assert.deepEqual(formsOf(world.app.printRoutes({ commonPrefix: false })), Object.keys(FORMS).toSorted());
    const earlier = await traces();
    let sent = 0;
    for (const [path, fields] of Object.entries(FORMS)) {
      for (const headers of FOREIGN) {
        const answer = await operator.send({
          method: 'POST',
          url: path.replace(':providerId', PROVIDER),
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
          payload: new URLSearchParams(fields).toString(),
        });
        assert.equal(answer.statusCode, 403, `${path} ${JSON.stringify(headers)}`);
        assert.match(answer.body, /not sent by a page of the console|A proxy changes the address/);
        sent += 1;
      }
    }
    assert.deepEqual(await traces(), earlier);
    t.diagnostic(`${sent} of ${sent} forms refused, 0 changes`);
  });

  it('makes no change below /console/api', async (t) => {
    const changes = operations.filter(({ method, scope }) => method !== 'GET' && scope !== undefined);
    const earlier = await traces();
    let sent = 0;
    for (const { id, method, path } of changes) {
      const url = `/console/api${path}`
        .replace('{frontdoorId}', world.api.first.frontdoorId)
        .replaceAll(/\{[^}]+\}/g, randomUUID());
      for (const headers of FOREIGN) {
        const json = { 'content-type': 'application/json', 'frontdoor-console': '1' };
        const answer = await operator.send({ method, url, headers: { ...json, ...headers }, payload: '{}' });
        assert.equal(answer.statusCode, 403, `${id} ${JSON.stringify(headers)}`);
        assert.equal(answer.json<{ error: string }>().error, 'foreign_origin', id);
        sent += 1;
      }
    }
    assert.deepEqual(await traces(), earlier);
    t.diagnostic(`${sent} of ${sent} changes refused, 0 changes`);
  });

  it('shows no page of the console in a frame', async () => {
    const shown = new Set<string>();
    for (const browser of [operator, new TestBrowser(world.app)]) {
      for (const url of PAGES) {
        const { statusCode, headers } = await browser.get(url, { 'sec-fetch-dest': 'iframe' });
        if (statusCode === 303) continue;
        assert.match(String(headers['content-security-policy'] ?? ''), /frame-ancestors 'none'$/, url);
        shown.add(url);
      }
    }
    assert.deepEqual([...shown].toSorted(), PAGES.toSorted());
  });
});

/** The paths below `/console`, but not below `/console/api`, that take a form, by the tree that the framework prints. */
function formsOf(tree: string): string[] {
  const forms: string[] = [];
  const path: string[] = [];
  for (const line of tree.split('\n')) {
    const [, indent, part, methods] = /^((?:[│ ] {3})*)[├└]── (\S*) ?(?:\((.*)\))?$/.exec(line) ?? [];
    if (indent === undefined) continue;
    path.length = indent.length / 4;
    path.push(part!);
    const whole = path.join('');
    if (methods?.split(', ').includes('POST') === true && /^\/console\/(?!api\/)/.test(whole))
      forms.push(whole);
  }
  return forms.toSorted();
}
