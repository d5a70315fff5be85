import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { findPersonPasswords, noteNetwork } from '../credentials/people/mod.ts';
import { MAX_NETWORKS } from '../credentials/people/person-network-store.ts';
import { describeEachStore } from '../store/engine/each-store-suite.ts';
import { openConsoleWorld, type ConsoleWorld, type TestBrowser } from './console-fixture.ts';
import { BASE_URL } from '../shares/operations/api-fixture.ts';

const EMAIL = 'ann@example.com';
const PASSWORD = 'plum giraffe engine 47';

describeEachStore('a sign-in to the console', (open) => {
  let world: ConsoleWorld;
  let browser: TestBrowser;
  let destination: string;

  before(async () => {
    world = await openConsoleWorld({ open });
    const body = { name: 'pager', url: 'https://hooks.example.com/' };
    const made = await world.api.call('POST', '/notification-destinations', { body });
    destination = `/notification-destinations/${(made.body as { id: string }).id}/deliveries`;
    browser = await world.person('operator', EMAIL);
  });
  after(() => world.close());

  const signIn = async (remoteAddress: string) => {
    const answer = await browser.send({
      method: 'POST',
      url: '/console/log-in',
      remoteAddress,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: BASE_URL,
        'sec-fetch-site': 'same-origin',
        'user-agent': 'Browser/1',
      },
      payload: new URLSearchParams({ name: EMAIL, password: PASSWORD, to: '' }).toString(),
    });
    assert.equal(answer.statusCode, 303, answer.body);
  };
  const reported = async () => {
    const { content } = (await world.api.call('GET', destination)).body as {
      content: { readonly type: string; readonly data: { resources: Record<string, unknown>[] } }[];
    };
    return content.map(({ data }) => data.resources[0]!['network']);
  };

  it('from a new network is reported once, and the first one is not', async () => {
    assert.deepEqual(await reported(), []);
    await signIn('127.0.0.9');
    assert.deepEqual(await reported(), []);
    await signIn('203.0.113.7');
    await signIn('203.0.113.99');
    assert.deepEqual(await reported(), ['203.0.113.0/24']);
    const { body } = await world.api.call('GET', destination);
    assert.partialDeepStrictEqual((body as { content: unknown[] }).content[0], {
      type: 'sign-in.new-network',
      data: {
        resources: [
          { kind: 'person', name: 'ann', role: 'operator', address: '203.0.113.7', browser: 'Browser/1' },
        ],
      },
    });
  });

  it('keeps the latest networks of a person only', async () => {
    const { store } = world.api;
    const { personId } = (await findPersonPasswords(store.db, EMAIL))[0]!;
    const note = (n: number) =>
      store.transaction((trx) => noteNetwork(trx, personId, `198.51.${n}.0/24`, 2_000_000_000_000 + n));
    for (let n = 0; n < MAX_NETWORKS; n += 1) assert.equal(await note(n), true);
    const kept = await store.db.selectFrom('person_network').selectAll().execute();
    assert.equal(kept.length, MAX_NETWORKS);
    assert.equal(await note(0), false);
    assert.equal(await note(MAX_NETWORKS), true);
    assert.equal(await note(0), true);
  });
});
