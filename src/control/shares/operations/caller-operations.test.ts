import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { AUDIENCE, openApiWorld, type ApiWorld, type CallAnswer } from './api-fixture.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';

interface Shown {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  readonly scopes: readonly string[];
  readonly token?: string;
  readonly secret?: string;
}

const KINDS = [
  {
    ...({ path: '/api-accounts', saidAs: 'API account', field: 'token', action: 'ApiAccount' } as const),
    previous: 'previousTokenUntil',
  },
  {
    ...({ path: '/oauth-clients', saidAs: 'OAuth client', field: 'secret', action: 'OauthClient' } as const),
    previous: 'previousSecretUntil',
  },
] as const;

describeEachStore('the Management API', (open) => {
  let world: ApiWorld;
  before(async () => (world = await openApiWorld({ open })));
  after(() => world.close());

  function conflict(answer: CallAnswer): void {
    assert.equal(answer.status, 409, answer.text);
    assert.deepEqual(answer.body, {
      error: 'conflict',
      message: 'The last API account with the scope frontdoor.admin must stay',
    });
  }

  /** Whether the secret opens the door: as it is for an account, exchanged for a token for a client. */
  async function opens(path: string, id: string, secret: string): Promise<boolean> {
    if (path === '/api-accounts') {
      const { status } = await world.call('GET', '/caller', { authorization: `Basic ${id}:${secret}` });
      return status === 200;
    }
    const body = {
      grant_type: 'client_credentials',
      audience: AUDIENCE,
      client_id: id,
      client_secret: secret,
    };
    return (await world.call('POST', '/oauth/token', { authorization: null, body })).status === 200;
  }

  for (const { path, saidAs, field, action, previous } of KINDS) {
    describe(`${saidAs}s`, () => {
      const create = async (body: Record<string, unknown> = {}): Promise<CallAnswer> =>
        world.call('POST', path, {
          body: { name: 'robot', organizationId: world.first.organizationId, ...body },
        });

      it('are made with a secret that is shown once and works at once', async () => {
        const made = await create({ name: ' robot ', id: 'x', createdAt: 'x' });
        assert.equal(made.status, 201, made.text);
        assert.equal(made.headers['cache-control'], 'no-store');
        const shown = made.body as Shown;
        const { id, organizationId } = shown;
        const secret = shown[field]!;
        assert.match(secret, /^[A-Za-z0-9_-]{43}$/);
        assert.match(String(made.headers['location']), new RegExp(`${path}/${id}$`));
        const scopes = ['frontdoor.read', 'frontdoor.write'];
        assert.deepEqual(made.body, { id, name: 'robot', organizationId, scopes, [field]: secret });
        const read = await world.call('GET', `${path}/${id.toUpperCase()}`);
        assert.deepEqual(Object.keys(read.body as object), [
          'id',
          'name',
          'organizationId',
          'scopes',
          'createdAt',
          'lastUsedAt',
        ]);
        assert.ok(!read.text.includes(secret));
        assert.ok(await opens(path, id, secret));
        const stored = await world.store.db.selectFrom('audit_event').selectAll().execute();
        assert.ok(!JSON.stringify(stored).includes(secret));
        assert.ok(!world.logLines.join('\n').includes(secret));
      });

      it('are listed by organization, in counted pages, without their secrets', async () => {
        const organizationId = world.other.organizationId;
        const before = (await world.call('GET', `${path}?organizationId=${organizationId}`)).body as {
          totalElements: number;
        };
        for (const name of ['b', 'a', 'c']) await create({ name, organizationId });
        const page = await world.call(
          'GET',
          `${path}?organizationId=${organizationId}&sort=name,desc&size=2`,
        );
        const { content, totalElements } = page.body as { content: Shown[]; totalElements: number };
        assert.deepEqual(
          content.map(({ name }) => name),
          ['c', 'b'],
        );
        assert.equal(totalElements, before.totalElements + 3);
        const own = (await world.call('GET', path)).body as { content: Shown[] };
        assert.ok(own.content.every((each) => each.organizationId === world.first.organizationId));
        assert.doesNotMatch(page.text, /token"|secret|hmac/);
      });

      it('are renamed, and keep their secret', async () => {
        const { id, [field]: secret } = (await create()).body as Shown;
        const url = `${path}/${id}`;
        const headers = { 'if-match': String((await world.call('GET', url)).headers['etag']) };
        const changed = await world.call('PATCH', url, { body: { name: 'Renamed' }, headers });
        assert.deepEqual(changed.body, (await world.call('GET', url)).body);
        assert.partialDeepStrictEqual(changed.body, { id, name: 'Renamed' });
        assert.equal((await world.call('PATCH', url, { body: { name: 'Lost' }, headers })).status, 412);
        assert.ok(await opens(path, id, secret!));
      });

      it('get a new secret, and the old one ends at once', async () => {
        const { id, ...made } = (await create()).body as Shown;
        const rotated = await world.call('POST', `${path}/${id}/rotate`);
        assert.equal(rotated.status, 200, rotated.text);
        assert.equal(rotated.headers['cache-control'], 'no-store');
        const secret = (rotated.body as Shown)[field]!;
        assert.notEqual(secret, made[field]);
        assert.ok(await opens(path, id, secret));
        assert.ok(!(await opens(path, id, made[field]!)));
      });

      it('keep the old secret beside the new one for the overlap that is asked for', async () => {
        const { id, ...made } = (await create()).body as Shown;
        const rotate = (body?: unknown) =>
          world.call('POST', `${path}/${id}/rotate`, body === undefined ? {} : { body });
        const rotated = await rotate({ overlapSeconds: 3_600 });
        assert.equal(rotated.status, 200, rotated.text);
        const secret = (rotated.body as Shown)[field]!;
        const until = new Date(world.clock.nowMs() + 3_600_000).toISOString();
        assert.equal((rotated.body as Record<string, unknown>)[previous], until);
        assert.deepEqual([await opens(path, id, made[field]!), await opens(path, id, secret)], [true, true]);
        const read = async () => (await world.call('GET', `${path}/${id}`)).body as Record<string, unknown>;
        assert.equal((await read())[previous], until);
        const rows = await world.store.db.selectFrom('audit_event').selectAll().execute();
        const event = rows.findLast((row) => row.action === `rotate${action}` && row.target_id === id)!;
        assert.match(event.after!, new RegExp(`"${previous}":"${until}"`));
        const stored = await world.store.db
          .selectFrom(path === '/api-accounts' ? 'api_account' : 'oauth_client')
          .selectAll()
          .where('id', '=', id)
          .execute();
        for (const plain of [made[field]!, secret])
          assert.ok(!JSON.stringify([stored, rows]).includes(plain), 'a secret stands in clear');

        world.clock.advance(3_599_000);
        assert.ok(await opens(path, id, made[field]!));
        world.clock.advance(1_000);
        assert.deepEqual([await opens(path, id, made[field]!), await opens(path, id, secret)], [false, true]);
        assert.ok(!(previous in (await read())));

        // A second rotation within the overlap: two secrets are accepted at a time, never three.
        const second = ((await rotate({ overlapSeconds: 60 })).body as Shown)[field]!;
        const third = ((await rotate({ overlapSeconds: 60 })).body as Shown)[field]!;
        const accepted = () => Promise.all([secret, second, third].map((each) => opens(path, id, each)));
        assert.deepEqual(await accepted(), [false, true, true]);
        // Without an overlap the old one ends at once, as it always did.
        assert.equal((await rotate()).status, 200);
        assert.deepEqual(await accepted(), [false, false, false]);
        for (const overlapSeconds of [-1, 1.5, 2_592_001, '60', null])
          assert.equal((await rotate({ overlapSeconds })).status, 400, String(overlapSeconds));
      });

      it('lose the old secret at once when its overlap is ended', async () => {
        const { id, ...made } = (await create()).body as Shown;
        const end = () => world.call('DELETE', `${path}/${id}/previous-${field}`);
        assert.equal((await end()).status, 404);
        const rotated = await world.call('POST', `${path}/${id}/rotate`, { body: { overlapSeconds: 3_600 } });
        assert.ok(await opens(path, id, made[field]!));
        assert.equal((await end()).status, 204);
        assert.ok(!(await opens(path, id, made[field]!)));
        assert.ok(await opens(path, id, (rotated.body as Shown)[field]!));
        const again = await end();
        const message = `Previous ${field} ${id} not found`;
        assert.deepEqual([again.status, again.body], [404, { error: 'not_found', message }]);
      });

      it('are revoked at once, and then are not there', async () => {
        const made = (await create()).body as Shown;
        const { id } = made;
        assert.ok(await opens(path, id, made[field]!));
        assert.equal((await world.call('DELETE', `${path}/${id}`)).status, 204);
        assert.ok(!(await opens(path, id, made[field]!)));
        const listed = await world.call('GET', `${path}?size=1000`);
        assert.ok(!listed.text.includes(id));
        for (const missing of [id, randomUUID(), 'x', '%00']) {
          for (const [method, url] of [
            ['GET', `${path}/${missing}`],
            ['POST', `${path}/${missing}/rotate`],
            ['DELETE', `${path}/${missing}`],
          ] as const) {
            const answer = await world.call(method, url);
            const message = `${saidAs} ${decodeURIComponent(missing)} not found`;
            assert.equal(answer.status, 404, `${method} ${url}`);
            assert.deepEqual(answer.body, { error: 'not_found', message });
          }
        }
      });

      it('never get more rights than the account that makes them or rotates their secret', async () => {
        const { authorization } = await world.addAccount(
          world.first.organizationId,
          'frontdoor.read frontdoor.admin',
        );
        const body = { name: 'x', organizationId: world.first.organizationId };
        const denied = { error: 'insufficient_scope', message: 'The scope frontdoor.write is required' };
        const byDefault = await world.call('POST', path, { authorization, body });
        assert.deepEqual([byDefault.status, byDefault.body], [403, denied]);
        const scopes = ['frontdoor.read', 'frontdoor.admin'];
        const allowed = await world.call('POST', path, { authorization, body: { ...body, scopes } });
        assert.equal(allowed.status, 201);
        const { id } = (await create()).body as Shown;
        const taken = await world.call('POST', `${path}/${id}/rotate`, { authorization });
        assert.deepEqual([taken.status, taken.body], [403, denied]);
        for (const [bad, message] of [
          [[], 'Value for scopes must be of array of 1 to 4 items, each of them once'],
          [['frontdoor.root'], /^Value for scopes\.0 must be of frontdoor\.read or /],
          ['frontdoor.read', 'Value for scopes must be of array'],
        ] as const) {
          const answer = await create({ scopes: bad });
          assert.equal(answer.status, 400);
          assert.match((answer.body as { message: string }).message, new RegExp(message));
        }
      });

      it('of one organization alone are for its administrators, who make and revoke no operators', async () => {
        const { organizationId } = world.first;
        const { authorization } = await world.addAccount(
          organizationId,
          'frontdoor.read frontdoor.write frontdoor.organization',
        );
        const by = (method: 'GET' | 'POST' | 'DELETE', url: string, body?: unknown) =>
          world.call(method, url, { authorization, body });
        const made = await by('POST', path, { name: 'robot', organizationId });
        assert.equal(made.status, 201);
        assert.equal((await by('DELETE', `${path}/${(made.body as Shown).id}`)).status, 204);
        const operators = (await create({ scopes: ['frontdoor.admin'] })).body as Shown;
        const foreign = (await create({ organizationId: world.other.organizationId })).body as Shown;
        const elsewhere = { name: 'robot', organizationId: world.other.organizationId };
        for (const [status, answer] of [
          [403, await by('POST', path, { name: 'x', organizationId, scopes: ['frontdoor.admin'] })],
          [403, await by('DELETE', `${path}/${operators.id}`)],
          [403, await by('POST', `${path}/${operators.id}/rotate`)],
          [403, await by('POST', path, elsewhere)],
          [403, await by('GET', `${path}?organizationId=${world.other.organizationId}`)],
          [404, await by('GET', `${path}/${foreign.id}`)],
          [404, await by('POST', `${path}/${foreign.id}/rotate`)],
          [404, await by('DELETE', `${path}/${foreign.id}`)],
        ] as const)
          assert.equal(answer.status, status, answer.text);
        assert.ok((await world.call('GET', `${path}/${foreign.id}`)).status === 200, 'it is still there');
      });

      it('leave one audit event for each change, in the trail of their organization', async () => {
        const { organizationId } = world.other;
        const { id } = (await create({ organizationId })).body as Shown;
        await world.call('POST', `${path}/${id}/rotate`);
        await world.call('DELETE', `${path}/${id}`);
        const rows = await world.store.db
          .selectFrom('audit_event')
          .select(['action', 'actor_id', 'organization_id'])
          .where('target_id', '=', id)
          .orderBy('sequence')
          .execute();
        assert.deepEqual(
          rows.map((row) => [row.action, row.actor_id, row.organization_id]),
          ['create', 'rotate', 'delete'].map((verb) => [
            verb + action,
            world.first.accountId,
            organizationId,
          ]),
        );
      });
    });
  }

  describe('the last administrator', () => {
    it('cannot be revoked, by anybody, however many try at once', async () => {
      const own = await openApiWorld({ open });
      const { organizationId, accountId } = own.first;
      conflict(await own.call('DELETE', `/api-accounts/${accountId}`));
      const admin = 'frontdoor.read frontdoor.write frontdoor.admin';
      const second = await own.addAccount(organizationId, admin);
      const third = await own.addAccount(organizationId, admin);
      const answers = await Promise.all(
        [accountId, second.id, third.id].map((id) =>
          own.call('DELETE', `/api-accounts/${id}`, { authorization: third.authorization }),
        ),
      );
      const statuses = answers.map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === 204).length, 2, statuses.join());
      assert.ok([401, 409].includes(statuses.find((status) => status !== 204)!), statuses.join());
      const left = await own.store.db
        .selectFrom('api_account')
        .select('id')
        .where('revoked_at', 'is', null)
        .where('scopes', 'like', '%admin%')
        .execute();
      assert.equal(left.length, 1);
      await own.close();
    });

    it('keeps its organization from being deleted by others', async () => {
      const own = await openApiWorld({ open });
      const made = await own.call('POST', '/organizations', { body: { name: 'admins' } });
      const { id } = made.body as { id: string };
      const scopes = ['frontdoor.read', 'frontdoor.write', 'frontdoor.admin'];
      await own.call('POST', '/api-accounts', { body: { name: 'a', organizationId: id, scopes } });
      const client = await own.call('POST', '/oauth-clients', {
        body: { name: 'c', organizationId: own.first.organizationId, scopes },
      });
      const { id: clientId, secret } = client.body as Shown;
      const token = await own.call('POST', '/oauth/token', {
        authorization: null,
        body: {
          grant_type: 'client_credentials',
          audience: AUDIENCE,
          client_id: clientId,
          client_secret: secret,
        },
      });
      const authorization = `Bearer ${(token.body as { access_token: string }).access_token}`;
      const { accountId } = own.first;
      assert.equal((await own.call('DELETE', `/api-accounts/${accountId}`, { authorization })).status, 204);
      conflict(await own.call('DELETE', `/organizations/${id}`, { authorization }));
      await own.close();
    });
  });
});
