import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { openApiWorld, type ApiWorld, type CallAnswer } from './api-fixture.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';

type Made = { id: string; name: string };
type PageBody = { content: Made[]; totalElements: number; totalPages: number };

describeEachStore('the Management API', (open) => {
  let world: ApiWorld;
  before(async () => (world = await openApiWorld({ open })));
  after(() => world.close());

  async function makeOrganization(name: string): Promise<string> {
    const made = await world.call('POST', '/organizations', { body: { name } });
    assert.equal(made.status, 201, made.text);
    return (made.body as Made).id;
  }

  function assertRefused(answer: CallAnswer, status: number, error: string, message: string | RegExp): void {
    assert.equal(answer.status, status, answer.text);
    const body = answer.body as { error: string; message: string };
    assert.equal(body.error, error);
    if (typeof message === 'string') assert.equal(body.message, message);
    else assert.match(body.message, message);
  }

  /** The last events of an organization's trail: what was done, by whom, to what. */
  async function trailOf(organizationId: string): Promise<readonly (readonly (string | null)[])[]> {
    const rows = await world.store.db
      .selectFrom('audit_event')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .orderBy('sequence')
      .execute();
    return rows.map((row) => [row.action, row.actor_id, row.target_id, row.before, row.after]);
  }

  describe('organizations', () => {
    it('are made, read, renamed, listed and deleted by administrators', async () => {
      const made = await world.call('POST', '/organizations', { body: { name: '  Second ', id: 'x' } });
      assert.equal(made.status, 201);
      const { id } = made.body as Made;
      assert.deepEqual(made.body, { id, name: 'Second' });
      assert.match(String(made.headers['location']), new RegExp(`/organizations/${id}$`));
      assert.deepEqual((await world.call('GET', `/organizations/${id.toUpperCase()}`)).body, made.body);
      const renamed = await world.call('PATCH', `/organizations/${id}`, { body: { id, name: 'Third' } });
      assert.deepEqual(renamed.body, { id, name: 'Third' });
      assert.deepEqual((await world.call('PATCH', `/organizations/${id}`, { body: {} })).body, renamed.body);
      const other = await world.call('PATCH', `/organizations/${id}`, { body: { id: randomUUID() } });
      assertRefused(other, 400, 'invalid_request', `Value for id must be of ${id}`);
      const listed = (await world.call('GET', '/organizations?sort=name,desc&size=2')).body as PageBody;
      assert.deepEqual(
        listed.content.map(({ name }) => name),
        ['other', 'Third'],
      );
      assert.deepEqual([listed.totalElements, listed.totalPages], [3, 2]);
      assert.equal((await world.call('DELETE', `/organizations/${id}`)).status, 204);
      const gone = await world.call('GET', `/organizations/${id}`);
      assertRefused(gone, 403, 'not_found', `Organization ${id} not found`);
      const actor = world.first.accountId;
      const second = JSON.stringify({ id, name: 'Second' });
      const third = JSON.stringify({ id, name: 'Third' });
      assert.deepEqual(await trailOf(id), [
        ['createOrganization', actor, id, null, second],
        ['changeOrganization', actor, id, second, third],
        ['changeOrganization', actor, id, third, third],
        ['deleteOrganization', actor, id, third, null],
      ]);
    });

    it('have a name and a logo for sign-in pages, which they and administrators of the installation set', async () => {
      const id = await makeOrganization('branded');
      const path = `/organizations/${id}/sign-in-page`;
      const none = await world.call('GET', path);
      assert.deepEqual([none.status, none.body], [200, { title: null, logo: null }]);
      const logo =
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==';
      const { authorization } = await world.addAccount(id, 'frontdoor.organization');
      const set = await world.call('PUT', path, { authorization, body: { title: ' Example ', logo } });
      assert.deepEqual([set.status, set.body], [200, { title: 'Example', logo }], set.text);
      const stale = { authorization, body: {}, headers: { 'if-match': String(none.headers['etag']) } };
      assert.equal((await world.call('PUT', path, stale)).status, 412);
      assert.equal(
        (await world.call('PUT', path, { authorization: world.other.authorization, body: {} })).status,
        403,
      );
      const svg = Buffer.from('<svg onload="alert(1)"/>').toString('base64');
      const refused = await world.call('PUT', path, { body: { logo: svg } });
      assertRefused(refused, 400, 'invalid_request', 'Value for logo must be of PNG image');
      assert.deepEqual((await world.call('PUT', path, { body: {} })).body, none.body);
      const [, , last] = await trailOf(id);
      assert.equal(last?.[0], 'replaceSignInPage');
      assert.ok(!JSON.stringify(await trailOf(id)).includes(logo.slice(0, 40)));
    });

    it('that do not exist are refused alike, in path, body and query; a malformed id is refused as such', async () => {
      const id = randomUUID();
      const message = `Organization ${id} not found`;
      for (const [method, path, body] of [
        ['GET', `/organizations/${id}`],
        ['PATCH', `/organizations/${id}`, {}],
        ['DELETE', `/organizations/${id}`],
        ['GET', `/organizations/${id}/settings`],
        ['PATCH', `/organizations/${id}/settings`, {}],
        ['GET', `/organizations/${id}/frontdoors`],
        ['GET', `/api-accounts?organizationId=${id}`],
        ['GET', `/oauth-clients?organizationId=${id}`],
        ['POST', '/api-accounts', { name: 'x', organizationId: id }],
        ['POST', '/oauth-clients', { name: 'x', organizationId: id }],
      ] as const) {
        assertRefused(await world.call(method, path, { body }), 403, 'not_found', message);
      }
      for (const [method, path, body] of [
        ['GET', '/organizations/mine'],
        ['PATCH', '/organizations/mine', { name: 5 }],
        ['GET', '/organizations/mine/frontdoors'],
        ['GET', '/api-accounts?organizationId=mine'],
        ['POST', '/oauth-clients', { name: 'x', organizationId: 'mine' }],
      ] as const) {
        const refused = await world.call(method, path, { body });
        assertRefused(refused, 400, 'invalid_request', 'Value for organizationId must be of UUID');
      }
    });

    it('stay while they have frontdoors, and while they are the one that asks', async () => {
      const { organizationId } = world.first;
      const own = await world.call('DELETE', `/organizations/${organizationId}`);
      assertRefused(own, 409, 'conflict', /cannot delete itself/);
      const other = await world.call('DELETE', `/organizations/${world.other.organizationId}`);
      assertRefused(other, 409, 'conflict', /still has frontdoors/);
      const unchanged = await world.call('GET', `/frontdoor/${world.other.frontdoorId}`, world.other);
      assert.equal(unchanged.status, 200);
    });

    it('take their accounts and clients with them: those are refused on their next call', async () => {
      const id = await makeOrganization('doomed');
      const made = await world.call('POST', '/api-accounts', { body: { name: 'a', organizationId: id } });
      const { id: accountId, token } = made.body as Made & { token: string };
      const authorization = `Basic ${accountId}:${token}`;
      assert.equal((await world.call('GET', '/caller', { authorization })).status, 200);
      assert.equal((await world.call('DELETE', `/organizations/${id}`)).status, 204);
      assert.equal((await world.call('GET', '/caller', { authorization })).status, 401);
      const account = await world.call('GET', `/api-accounts/${accountId}`);
      assertRefused(account, 404, 'not_found', `API account ${accountId} not found`);
    });

    it('show whether API accounts may be exchanged for tokens', async () => {
      const { organizationId, accountId, apiToken } = world.first;
      const path = `/organizations/${organizationId}/settings`;
      const exchange = () =>
        world.call('POST', '/oauth/token', {
          authorization: null,
          body: {
            grant_type: 'client_credentials',
            client_id: accountId,
            client_secret: apiToken,
            audience: 'http://127.0.0.1:8081/frontdoor',
          },
        });
      assert.deepEqual((await world.call('GET', path)).body, { tokenExchange: false, secondFactor: false });
      assert.equal((await exchange()).status, 401);
      const on = await world.call('PATCH', path, { body: { tokenExchange: true } });
      assert.deepEqual(on.body, { tokenExchange: true, secondFactor: false });
      assert.equal((await exchange()).status, 200);
      assert.deepEqual((await world.call('PATCH', path, { body: {} })).body, on.body);
      const refused = await world.call('PATCH', path, { body: { tokenExchange: 'yes' } });
      assertRefused(refused, 400, 'invalid_request', 'Value for tokenExchange must be of boolean');
      await world.call('PATCH', path, { body: { tokenExchange: false } });
      assert.equal((await exchange()).status, 401);
    });

    it('show their frontdoors to their own callers, and to administrators', async () => {
      const { organizationId, frontdoorId } = world.other;
      const path = `/organizations/${organizationId}/frontdoors`;
      const expected = {
        content: [{ id: frontdoorId, name: 'other', organizationId }],
        pageable: { pageNumber: 0, pageSize: 20 },
        totalElements: 1,
        totalPages: 1,
      };
      assert.deepEqual((await world.call('GET', path, world.other)).body, expected);
      assert.deepEqual((await world.call('GET', path)).body, expected);
      const foreign = `/organizations/${world.first.organizationId}/frontdoors`;
      const refused = await world.call('GET', foreign, world.other);
      assertRefused(refused, 403, 'not_found', `Organization ${world.first.organizationId} not found`);
      const missing = randomUUID();
      const absent = await world.call('GET', `/organizations/${missing}/frontdoors`, world.other);
      assert.equal(
        absent.text.replace(missing, 'ID'),
        refused.text.replace(world.first.organizationId, 'ID'),
      );
    });

    it('are named to each caller, with its scopes', async () => {
      const { organizationId, accountId } = world.first;
      assert.deepEqual((await world.call('GET', '/caller')).body, {
        kind: 'account',
        id: accountId,
        name: ((await world.call('GET', `/api-accounts/${accountId}`)).body as { name: string }).name,
        organizationId,
        scopes: ['frontdoor.read', 'frontdoor.write', 'frontdoor.admin'],
      });
    });
  });
});
