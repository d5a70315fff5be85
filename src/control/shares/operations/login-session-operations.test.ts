import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, it } from 'node:test';
import type { LoginSessionAnswer } from '#contract/schemas';
import { insertSession } from '../logins/login-sessions.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import type { Change } from '../../store/mod.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

const DAY_MS = 86_400_000;
const DATA = { issuer: 'https://idp.example.com', client_id: 'c', client_secret: 'x' };

interface Page {
  readonly content: readonly LoginSessionAnswer[];
  readonly totalElements: number;
}

describeEachStore('sessions of people who logged in', (open) => {
  let world: ApiWorld;
  let share: { readonly id: string; readonly token: string };
  let provider: string;
  let sessions: string;
  const received: Change[] = [];
  const door = (path: string): string => `/frontdoor/${world.first.frontdoorId}${path}`;

  before(async () => {
    world = await openApiWorld({ open });
    world.store.onChange((changes) => void received.push(...changes));
  });
  after(() => world.close());
  beforeEach(async () => {
    provider = await newProvider();
    sessions = door(`/auth-providers/${provider}/sessions`);
    const environmentId = await world.addEnvironment('env');
    const { body } = await world.call('POST', door('/shares'), {
      body: {
        environmentId,
        shareMode: 'public',
        backendMode: 'proxy',
        target: 'http://127.0.0.1:9',
        authProviderIds: [provider],
      },
    });
    const { token } = body as { token: string };
    const { id } = await world.store.db
      .selectFrom('share')
      .select('id')
      .where('token', '=', token)
      .executeTakeFirstOrThrow();
    share = { id, token };
    received.length = 0;
  });

  const newProvider = async (): Promise<string> => {
    const body = { name: 'idp', type: 'OIDC', data: DATA };
    return ((await world.call('POST', door('/auth-providers'), { body })).body as { id: string }).id;
  };
  /** Its id. A second passes, so that each has a time of its own. */
  const logIn = async (subject: string, email: string | null, more: object = {}): Promise<string> => {
    world.clock.advance(1_000);
    const { session } = await world.store.transaction((trx, touch) =>
      insertSession(trx, touch, world.secrets, {
        shareId: share.id,
        host: `${share.token}.share.localhost`,
        providerId: provider,
        providerVersion: 1,
        absoluteMs: 7 * DAY_MS,
        nowMs: world.clock.nowMs(),
        identity: {
          providerId: provider,
          kind: 'session',
          subject,
          email,
          name: `${subject} of Example`,
          groups: ['staff'],
          claims: { note: 'a\u0000claim' },
        },
        ...more,
      }),
    );
    return session.id;
  };
  const list = async (query = ''): Promise<Page> => {
    const answer = await world.call('GET', `${sessions}${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body as Page;
  };
  const idsOf = ({ content }: Page): string[] => content.map(({ id }) => id);
  const endedIds = (): string[] =>
    received.filter(({ entity }) => entity === 'login-session').map(({ id }) => id);
  const refusal = async (method: string, path: string, status: number): Promise<string> => {
    const answer = await world.call(method, path);
    assert.equal(answer.status, status, answer.text);
    return (answer.body as { message: string }).message;
  };

  it('are listed with whose they are, where and until when, and nothing that proves them', async () => {
    const id = await logIn('ann', 'ann@example.com');
    const nowMs = world.clock.nowMs();
    const answer = await world.call('GET', sessions);
    assert.equal(answer.headers['cache-control'], 'no-store');
    const iso = (ms: number): string => new Date(ms).toISOString();
    assert.deepEqual((answer.body as Page).content, [
      {
        id,
        subject: 'ann',
        email: 'ann@example.com',
        name: 'ann of Example',
        shareToken: share.token,
        host: `${share.token}.share.localhost`,
        createdAt: iso(nowMs),
        lastSeenAt: iso(nowMs),
        expiresAt: iso(nowMs + 8 * 3_600_000),
      },
    ]);
    const { token_hmac: hmac } = await world.store.db
      .selectFrom('login_session')
      .select('token_hmac')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    assert.ok(!answer.text.includes(hmac));
  });

  it('come newest first, in pages, of one person where that is asked for', async () => {
    const first = await logIn('ann', 'ann@example.com');
    const second = await logIn('bob', null);
    const third = await logIn('ann', 'ann@example.com');
    const fourth = await logIn('ann.2', 'ann@example.com');
    assert.deepEqual(idsOf(await list()), [fourth, third, second, first]);
    const page = await list('?page=1&size=3');
    assert.deepEqual([idsOf(page), page.totalElements], [[first], 4]);
    assert.deepEqual(idsOf(await list('?email=ANN%40Example.com')), [fourth, third, first]);
    assert.deepEqual(idsOf(await list('?subject=ann')), [third, first]);
    assert.deepEqual(idsOf(await list('?subject=bob')), [second]);
    assert.deepEqual(idsOf(await list('?subject=ann&email=bob%40example.com')), []);
  });

  it('that are over are not listed: by their time, or of a former definition of the provider', async () => {
    await logIn('ann', null, { absoluteMs: 10_000 });
    const kept = await logIn('bob', null);
    world.clock.advance(10_000);
    assert.deepEqual(idsOf(await list()), [kept]);
    await world.call('PATCH', door(`/auth-providers/${provider}`), { body: { enabled: false } });
    assert.deepEqual(await list().then(({ totalElements }) => totalElements), 0);
  });

  it('end one by one: the others continue, gateways are notified, and a second end changes nothing', async () => {
    const [ann, bob] = [await logIn('ann', null), await logIn('bob', null)];
    assert.equal((await world.call('DELETE', `${sessions}/${ann}`)).status, 204);
    assert.deepEqual([idsOf(await list()), endedIds()], [[bob], [ann]]);
    assert.equal(await refusal('DELETE', `${sessions}/${ann}`, 404), `Session ${ann} not found`);
  });

  it('end together where they are one person’s, by e-mail or subject, at all shares', async () => {
    const mine = [await logIn('ann', 'ann@example.com'), await logIn('ann', 'ann@example.com')];
    const renamed = await logIn('ann.2', 'ann@example.com');
    const bob = await logIn('bob', 'bob@example.com');
    const ended = await world.call('DELETE', `${sessions}?subject=ann`);
    assert.deepEqual([ended.status, ended.body], [200, { ended: 2 }]);
    assert.deepEqual(endedIds().toSorted(), mine.toSorted());
    assert.deepEqual(idsOf(await list()), [bob, renamed]);
    const again = await world.call('DELETE', `${sessions}?email=Ann%40example.com`);
    assert.deepEqual([again.body, idsOf(await list())], [{ ended: 1 }, [bob]]);
    const none = await world.call('DELETE', `${sessions}?email=ann%40example.com&subject=bob`);
    assert.deepEqual([none.body, idsOf(await list())], [{ ended: 0 }, [bob]]);
  });

  it('end for many at once, each announced to gateways', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 60; i += 1) ids.push(await logIn('ann', null));
    const { body } = await world.call('DELETE', `${sessions}?subject=ann`);
    assert.deepEqual(body, { ended: 60 });
    assert.deepEqual(endedIds().toSorted(), ids.toSorted());
  });

  it('end for everyone only when that is asked for, and later ones stay valid', async () => {
    await logIn('ann', null);
    await logIn('bob', null);
    for (const query of ['', '?all=false', '?all=true&email=ann%40example.com', '?email=ann', '?subject='])
      assert.match(await refusal('DELETE', `${sessions}${query}`, 400), /^Value for /, query);
    assert.equal((await list()).totalElements, 2);
    assert.deepEqual((await world.call('DELETE', `${sessions}?all=true`)).body, { ended: 2 });
    assert.equal((await list()).totalElements, 0);
    // One message for all sessions: those of the former version have ended.
    assert.ok(received.some(({ entity, id }) => entity === 'auth-provider' && id === provider));
    const later = await logIn('ann', null, { providerVersion: 2 });
    assert.deepEqual(idsOf(await list()), [later]);
  });

  it('of another provider or frontdoor are neither shown nor ended', async () => {
    const ann = await logIn('ann', 'ann@example.com');
    const other = door(`/auth-providers/${await newProvider()}/sessions`);
    assert.deepEqual((await world.call('GET', other)).body, {
      content: [],
      pageable: { pageNumber: 0, pageSize: 20 },
      totalElements: 0,
      totalPages: 0,
    });
    await refusal('DELETE', `${other}/${ann}`, 404);
    assert.deepEqual((await world.call('DELETE', `${other}?subject=ann`)).body, { ended: 0 });
    const { authorization, frontdoorId } = world.other;
    const foreign = `/frontdoor/${frontdoorId}/auth-providers/${provider}/sessions`;
    for (const [method, path] of [
      ['GET', foreign],
      ['DELETE', `${foreign}/${ann}`],
      ['DELETE', `${foreign}?all=true`],
    ] as const) {
      const answer = await world.call(method, path, { authorization });
      assert.deepEqual([answer.status, answer.text.includes('Auth provider')], [404, true]);
    }
    const unknown = randomUUID();
    const path = door(`/auth-providers/${unknown}/sessions`);
    assert.equal(await refusal('GET', path, 404), `Auth provider ${unknown} not found`);
    assert.deepEqual(idsOf(await list()), [ann]);
  });

  it('are asked for by e-mails and subjects that can be some', async () => {
    for (const query of ['email=ann', 'email=*%40example.com', 'email=', `subject=${'x'.repeat(256)}`])
      assert.match(await refusal('GET', `${sessions}?${query}`, 400), /^Value for (email|subject) /, query);
    await refusal('GET', `${sessions}?subject=a%00b`, 400);
  });
});
