import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { silentLog } from '#base';
import { AUDIENCE, openApiWorld, type ApiWorld } from './api-fixture.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { KeyRotation } from '../../credentials/oauth/mod.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LIFETIME_MS = HOUR_MS + MINUTE_MS;

interface Shown {
  readonly id: string;
  readonly activatesAt: string;
  readonly expiresAt: string | null;
}

describeEachStore('key rotation', (open) => {
  let world: ApiWorld;
  let rotation: KeyRotation;
  before(async () => {
    world = await openApiWorld({ open });
    const { store, secrets, clock } = world;
    rotation = await KeyRotation.start({ store, secrets, clock, log: silentLog });
  });
  after(async () => {
    await rotation.close();
    await world.close();
  });

  async function newToken(): Promise<string> {
    const { body } = await world.call('POST', '/oauth/token', {
      authorization: null,
      body: {
        grant_type: 'client_credentials',
        client_id: world.first.clientId,
        client_secret: world.first.clientSecret,
        audience: AUDIENCE,
      },
    });
    return (body as { access_token: string }).access_token;
  }

  async function statusOf(token: string): Promise<number> {
    return (await world.call('GET', '/caller', { authorization: `Bearer ${token}` })).status;
  }

  function kidOf(token: string): string {
    return (JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as { kid: string }).kid;
  }

  async function publishedKids(): Promise<string[]> {
    const answer = await world.call('GET', '/.well-known/jwks.json', { authorization: null });
    assert.equal(answer.headers['cache-control'], 'public, max-age=300');
    return (answer.body as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
  }

  describe('a key of bearer tokens', () => {
    it('is replaced without an outage: tokens of before, between and after end at their own time', async () => {
      const old = await newToken();
      const answer = await world.call('POST', '/signing-keys');
      assert.equal(answer.status, 201);
      const made = answer.body as Shown;
      const now = world.clock.nowMs();
      assert.equal(Date.parse(made.activatesAt), now + 5 * MINUTE_MS);
      assert.equal(made.expiresAt, null);
      assert.deepEqual(await publishedKids(), [made.id, kidOf(old)]);
      const listed = (await world.call('GET', '/signing-keys')).body as Shown[];
      assert.deepEqual(listed[0], made);
      assert.equal(Date.parse(listed[1]!.expiresAt!), now + 5 * MINUTE_MS + LIFETIME_MS);

      world.clock.advance(5 * MINUTE_MS - 1_000);
      const between = await newToken();
      assert.equal(kidOf(between), kidOf(old), 'a key signs when everyone can know it, not before');
      world.clock.advance(1_000);
      const later = await newToken();
      assert.equal(kidOf(later), made.id);
      assert.deepEqual(await Promise.all([old, between, later].map(statusOf)), [200, 200, 200]);

      world.clock.advance(HOUR_MS - 5 * MINUTE_MS + 59_000);
      assert.deepEqual(await Promise.all([old, between, later].map(statusOf)), [200, 200, 200]);
      world.clock.advance(1_000);
      assert.deepEqual(await Promise.all([old, between, later].map(statusOf)), [401, 200, 200]);
      world.clock.advance(5 * MINUTE_MS - 2_000);
      assert.deepEqual(await Promise.all([between, later].map(statusOf)), [200, 200]);
      world.clock.advance(1_000);
      assert.deepEqual(await Promise.all([between, later].map(statusOf)), [401, 200]);
      world.clock.advance(1_000);
      assert.deepEqual(await publishedKids(), [made.id]);
    });

    it('is not replaced while its successor does not sign yet', async () => {
      assert.equal((await world.call('POST', '/signing-keys')).status, 201);
      const refused = await world.call('POST', '/signing-keys');
      assert.equal(refused.status, 409);
      assert.deepEqual(refused.body, { error: 'conflict', message: 'The newest key does not sign yet' });
      world.clock.advance(5 * MINUTE_MS);
    });

    it('is replaced by itself after 90 days, once, however many look; and removed long after its end', async () => {
      const [newest] = await publishedKids();
      world.clock.advance(90 * DAY_MS - 1);
      await rotation.look();
      assert.deepEqual(await publishedKids(), [newest]);
      world.clock.advance(1);
      const { store, secrets, clock } = world;
      const other = await KeyRotation.start({ store, secrets, clock, log: silentLog });
      await Promise.all([rotation.look(), other.look(), rotation.look()]);
      const kids = await publishedKids();
      assert.equal(kids.length, 2);
      assert.equal(kids[1], newest);
      const events = await store.db
        .selectFrom('audit_event')
        .select(['actor_kind', 'organization_id', 'target_id'])
        .where('action', '=', 'rotateSigningKey')
        .where('result', '=', 'ok')
        // The keys for identity tokens are as old.
        .where((eb) =>
          eb(
            'target_id',
            'not in',
            eb.selectFrom('signing_key').select('id').where('purpose', '=', 'origin-identity'),
          ),
        )
        .orderBy('sequence', 'desc')
        .execute();
      assert.deepEqual(events[0], { actor_kind: 'system', organization_id: '', target_id: kids[0] });
      assert.equal(events.length, 3);
      const stored = async (): Promise<number> =>
        (await store.db.selectFrom('signing_key').select('id').where('purpose', '=', 'bearer').execute())
          .length;
      world.clock.advance(8 * DAY_MS);
      await other.look();
      assert.equal(await stored(), 1);
      assert.equal(kidOf(await newToken()), kids[0]);
      await other.close();
    });
  });
});
