// Rights are checked again inside the transaction: of two callers who take each other's rights at once, one succeeds.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeEachStore } from '../store/engine/each-store-suite.ts';
import { findPersonPasswords } from '../credentials/people/mod.ts';
import { openConsoleWorld, type ConsoleWorld, type TestBrowser } from './console-fixture.ts';

const ROUNDS = 4;

interface Party {
  /** The path of the person or account. */
  readonly path: string;
  call(method: 'DELETE' | 'PATCH' | 'POST', path: string, body?: object): Promise<number>;
}

type Act = (party: Party, other: Party) => Promise<number>;

describeEachStore('two callers who take rights from each other at once', (open) => {
  let world: ConsoleWorld;
  let names = 0;
  before(async () => (world = await openConsoleWorld({ open })));
  after(() => world.close());

  async function operator(): Promise<Party & { readonly browser: TestBrowser }> {
    const email = `p${(names += 1)}@example.com`;
    const browser = await world.person('operator', email);
    const { personId } = (await findPersonPasswords(world.api.store.db, email))[0]!;
    return {
      browser,
      path: `/people/${personId}`,
      call: async (method, path, body) => (await browser.call(method, path, body)).statusCode,
    };
  }

  async function account(): Promise<Party> {
    const scopes = 'frontdoor.read frontdoor.write frontdoor.organization frontdoor.admin';
    const { id, authorization } = await world.api.addAccount(world.api.first.organizationId, scopes);
    return {
      path: `/api-accounts/${id}`,
      call: async (method, url, body) => (await world.api.call(method, url, { authorization, body })).status,
    };
  }

  const remove: Act = (own, other) => own.call('DELETE', other.path);
  const demote: Act = (own, other) => own.call('PATCH', other.path, { role: 'reader' });
  const rotate: Act = (own, other) => own.call('POST', `${other.path}/rotate`, {});

  const RACES: Record<string, readonly [() => Promise<Party>, Act, Act]> = {
    'people who remove each other': [operator, remove, remove],
    'people who demote each other': [operator, demote, demote],
    'people, one of whom removes and one demotes': [operator, remove, demote],
    'accounts that delete each other': [account, remove, remove],
    'accounts that rotate each other': [account, rotate, rotate],
  };
  for (const [name, [make, one, another]] of Object.entries(RACES))
    it(`one of ${name} succeeds`, async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const [a, b] = [await make(), await make()];
        const statuses = (await Promise.all([one(a, b), another(b, a)])).sort();
        assert.ok(statuses[0] < 300 && [401, 403].includes(statuses[1]), statuses.join(', '));
      }
    });

  it('leaves operators their ways in: an administrator removes none of them', async () => {
    const { organizationId, frontdoorId } = world.api.first;
    const data = { issuer: 'https://idp.example.com', client_id: 'console', client_secret: 'a secret' };
    const made = await world.api.call('POST', `/frontdoor/${frontdoorId}/auth-providers`, {
      body: { name: 'staff', type: 'OIDC', data },
    });
    const authProviderId = (made.body as { id: string }).id;
    const roles = [{ email: '*@example.com', role: 'operator' }];
    const logIn = await world.api.call('POST', '/console-log-ins', { body: { authProviderId, roles } });
    assert.equal(logIn.status, 201, logIn.text);
    const { browser } = await operator();
    const own = (await browser.call('GET', '/console-sessions?size=1000')).json<{
      content: { id: string; current: boolean }[];
    }>();
    const invited = await world.api.call('POST', '/invitations', { body: { name: 'x', role: 'operator' } });
    const chief = await account();
    assert.equal(await chief.call('POST', `${chief.path}/rotate`, { overlapSeconds: 60 }), 200);
    const scopes = 'frontdoor.read frontdoor.write frontdoor.organization';
    const { authorization } = await world.api.addAccount(organizationId, scopes);
    for (const path of [
      `/console-log-ins/${(logIn.body as { id: string }).id}`,
      `/console-sessions/${own.content.find(({ current }) => current)!.id}`,
      `/invitations/${(invited.body as { id: string }).id}`,
      `${chief.path}/previous-token`,
    ]) {
      const refused = await world.api.call('DELETE', path, { authorization });
      assert.deepEqual(
        [refused.status, (refused.body as { error: string }).error],
        [403, 'insufficient_scope'],
        path,
      );
      assert.equal((await world.api.call('DELETE', path)).status, 204, path);
    }
  });
});
