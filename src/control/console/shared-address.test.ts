// One e-mail address in two organizations: nobody finds out about the other person, takes the address, or locks it.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeEachStore } from '../store/engine/each-store-suite.ts';
import { findPersonPasswords } from '../credentials/people/mod.ts';
import { openConsoleWorld, TestBrowser, type ConsoleWorld } from './console-fixture.ts';

const OWN = 'plum giraffe engine 47';
const OTHER = 'seven small harbours';
const MINUTE_MS = 60_000;

describeEachStore('an e-mail address in two organizations', (open) => {
  let world: ConsoleWorld;
  let names = 0;
  before(async () => (world = await openConsoleWorld({ open })));
  after(() => world.close());

  async function join(email: string, password: string, organizationId?: string) {
    const code = await world.invite('reader', 'Ann', organizationId);
    const browser = new TestBrowser(world.app);
    const answer = await browser.post('/console/welcome', { code, name: 'Ann', email, password });
    return { browser, status: answer.statusCode, body: answer.body };
  }

  /** Returns the organization of the person whom the password logs in. */
  async function logIn(email: string, password: string, organization = ''): Promise<string | number> {
    const browser = new TestBrowser(world.app);
    const fields = { name: email, password, to: '', organization };
    const { statusCode } = await browser.post('/console/log-in', fields);
    if (statusCode !== 303) return statusCode;
    return (await browser.call('GET', '/caller')).json<{ organizationId: string }>().organizationId;
  }

  const next = () => `p${(names += 1)}@example.com`;
  const places = () => ({ own: world.api.first.organizationId, other: world.api.other.organizationId });

  /** A person of each organization, the other one first. */
  async function both(passwords: readonly [string, string] = [OWN, OTHER]): Promise<string> {
    const email = next();
    assert.equal((await join(email, passwords[1], places().other)).status, 303);
    assert.equal((await join(email, passwords[0])).status, 303);
    return email;
  }

  it('is refused to nobody who is invited, and belongs to the password that is given', async () => {
    const email = await both();
    const { own, other } = places();
    assert.deepEqual([await logIn(email, OWN), await logIn(email, OTHER)], [own, other]);
    assert.equal(await logIn(email, 'neither of the two'), 403);
    const twice = await join(email, 'another plum engine 48');
    assert.deepEqual([twice.status, /Another person in the organization/.test(twice.body)], [409, true]);
  });

  it('costs a log-in one hash, however many have it', async () => {
    const email = await both();
    const browser = new TestBrowser(world.app);
    await browser.logIn(email, OTHER);
    world.api.clock.advance(1);
    const changed = await browser.post('/console/password', { current: OTHER, password: `${OTHER} 2` });
    assert.equal(changed.statusCode, 303, changed.body);
    const hashes = (await findPersonPasswords(world.api.store.db, email)).map(
      ({ passwordHash }) => passwordHash,
    );
    assert.equal(hashes.length, 2);
    assert.equal(new Set(hashes.map((hash) => hash.slice(0, hash.lastIndexOf('$')))).size, 1);
    assert.equal(await logIn(email, OWN), places().own);
  });

  it('with one password for both leads to the organization that the page names', async () => {
    const email = await both([OWN, OWN]);
    const { own, other } = places();
    assert.deepEqual([await logIn(email, OWN, own), await logIn(email, OWN, other)], [own, other]);
    assert.ok([own, other].includes(String(await logIn(email, OWN))));
    const page = await new TestBrowser(world.app).get(`/console/log-in?organization=${other}`);
    assert.match(page.body, new RegExp(`name="organization" value="${other}"`));
  });

  it('is not locked by log-ins of the other person, and wrong passwords count for both', async () => {
    const email = await both();
    for (let i = 0; i < 12; i += 1) assert.equal(await logIn(email, OTHER), places().other, String(i));
    assert.equal(await logIn(email, OWN), places().own);
    for (let i = 0; i < 9; i += 1) assert.equal(await logIn(email, 'neither of the two'), 403);
    assert.equal(await logIn(email, OTHER), places().other, 'which unlocks nobody else');
    assert.equal(await logIn(email, 'neither of the two'), 403);
    assert.equal(await logIn(email, OWN), 403, 'ten wrong ones in a row lock the password');
    assert.equal(await logIn(email, OTHER), places().other);
    world.api.clock.advance(16 * MINUTE_MS);
    assert.equal(await logIn(email, OWN), places().own);
  });
});
