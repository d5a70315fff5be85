// What changes while a caller is being checked, callers who ask too often, and clocks that go back: nobody gets in by it.
import assert from 'node:assert/strict';
import { argon2Sync, randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { SessionQuery } from '#domain/gateway-shapes';
import {
  AccessWorld,
  BROWSER_LINE,
  KEYS,
  deltaOf,
  keyProviderOf,
  keyRecord,
  providerOf,
  requestText,
  rulesOf,
} from '../testing/access-world.ts';
import { basicLine, cheapHashOf } from '../testing/basic-credentials.ts';
import { GatewayWorld, statusOf } from '../testing/gateway-world.ts';
import { OpenAccess } from '../testing/open-access.ts';
import { SESSION_COOKIE } from './own-cookies.ts';

const HOST = 'app.share.localhost';
const HOUR_MS = 3_600_000;

/** Look-ups of sessions wait until the test releases them; each was answered correctly before. */
function holdLookups(world: AccessWorld): { readonly asked: Promise<void>; release(): void } {
  const { control } = world;
  const answer = control.findSession.bind(control);
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  control.findSession = async (query: SessionQuery) => {
    const found = await answer(query);
    asked.resolve();
    await gate.promise;
    return found;
  };
  return {
    asked: asked.promise,
    release: () => {
      control.findSession = answer;
      gate.resolve();
    },
  };
}

/** Argon2id that takes its time. */
function slowHash(password: string): string {
  const nonce = randomBytes(16);
  const parameters = { message: password, nonce, parallelism: 1, tagLength: 32, memory: 131_072, passes: 3 };
  const [salt, tag] = [nonce, argon2Sync('argon2id', parameters)].map((bytes) =>
    bytes.toString('base64').replaceAll('=', ''),
  );
  return `$argon2id$v=19$m=131072,t=3,p=1$${salt}$${tag}`;
}

describe('while a caller is being checked', () => {
  let world: AccessWorld;
  before(async () => {
    world = await AccessWorld.start();
    await world.serve('app', { authProviderIds: ['idp', 'header'] });
  });
  beforeEach(() => {
    world.access.change(deltaOf({ keys: KEYS }));
    world.setProviders(
      providerOf('idp'),
      keyProviderOf('header', { keys: [keyRecord('reports', 'key-of-reports')] }),
    );
  });
  after(() => world.close());

  it('its provider is disabled: it does not get in by the answer from before', async () => {
    const line = world.sessionLine('app', 'idp');
    const lookups = holdLookups(world);
    const answer = world.ask('app', { lines: [line] });
    await lookups.asked;
    const hits = world.hits('app');
    world.setProviders(providerOf('idp', { enabled: false }));
    lookups.release();
    assert.equal((await answer).status, 401);
    assert.equal(world.hits('app'), hits);
  });

  it('the key that identities are signed with goes: it waits for another, and nothing else ends', async () => {
    const line = world.sessionLine('app', 'idp');
    const lookups = holdLookups(world);
    const answer = world.ask('app', { lines: [line] });
    await lookups.asked;
    world.access.change(deltaOf({ keys: { ...KEYS, identityKeys: [] } }));
    lookups.release();
    assert.equal((await answer).status, 503);
    world.access.change(deltaOf({ keys: KEYS }));
    assert.equal((await world.ask('app', { lines: [line] })).status, 200);
  });

  it('words of the control plane are missed: the answer that was on its way is believed once at most', async () => {
    const line = world.sessionLine('app', 'idp');
    const lookups = holdLookups(world);
    const answer = world.ask('app', { lines: [line] });
    await lookups.asked;
    world.control.sessions.clear();
    const providers = ['idp', 'header'].map((id) => world.access.provider(id)!);
    world.access.replaceAll({ providers, zones: ['share.localhost'], keys: KEYS });
    lookups.release();
    await answer;
    assert.equal((await world.ask('app', { lines: [line] })).status, 401);
  });

  it('its body is not asked for, and it is refused in every form of a request', async () => {
    const forms: readonly (readonly [string, (line: string) => string])[] = [
      [
        'a body that waits',
        (line) =>
          `POST / HTTP/1.1\r\nHost: ${HOST}\r\nExpect: 100-continue\r\nContent-Length: 5\r\n${line}\r\n\r\n`,
      ],
      [
        'an upgrade',
        (line) =>
          `GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${line}\r\n\r\n`,
      ],
      ['HTTP/1.0', (line) => requestText(HOST, { http10: true, lines: [line] })],
      [
        'a cookie that ends here',
        (line) => requestText(HOST, { lines: [line] }).replace('close', 'close, cookie'),
      ],
      ['the head alone', (line) => requestText(HOST, { method: 'HEAD', lines: [line] })],
    ];
    for (const [name, textOf] of forms) {
      world.setProviders(providerOf('idp'));
      const line = world.sessionLine('app', 'idp');
      const lookups = holdLookups(world);
      const client = await world.client(HOST);
      const hits = world.hits('app');
      client.send(textOf(line));
      await lookups.asked;
      assert.equal(client.received, '', name);
      world.setProviders(providerOf('idp', { enabled: false }));
      lookups.release();
      assert.match(await client.ended(), /^HTTP\/1\.1 401 /, name);
      assert.equal(world.hits('app'), hits, name);
      client.close();
    }
  });

  it('requests behind it wait, and each is decided by what it shows itself', async () => {
    const line = world.sessionLine('app', 'idp');
    const lookups = holdLookups(world);
    const client = await world.client(HOST);
    const request = (path: string, ...lines: string[]): string =>
      requestText(HOST, { path, lines }).replace('Connection: close\r\n', '');
    client.send(request('/first', line) + request('/second', 'X-Api-Key: wrong'));
    await lookups.asked;
    const other = await world.ask('app', { path: '/other', lines: ['X-Api-Key: key-of-reports'] });
    assert.equal(other.status, 200);
    client.send(request('/third', 'X-Api-Key: key-of-reports') + requestText(HOST, { path: '/fourth' }));
    lookups.release();
    const text = await client.ended();
    client.close();
    const statuses = Array.from(text.matchAll(/HTTP\/1\.1 (\d{3})/g), ([, status]) => status);
    assert.deepEqual(statuses, ['200', '401', '200', '401']);
    const urls = world.seen.get('app')!.map(({ url }) => url);
    assert.deepEqual(urls.slice(-3), ['/other', '/first', '/third']);
    const [, first] = world.seen.get('app')!.slice(-3);
    assert.equal(first!.headers['zrok-auth-email'], 'ann@example.com');
  });

  it('its password is changed: a later caller with the old one does not share the answer', async () => {
    const basicAuth = [{ name: 'ann', passwordHash: slowHash('old') }];
    await world.serve('private', { rules: rulesOf({ basicAuth }) });
    const line = `Authorization: Basic ${Buffer.from('ann:old').toString('base64')}`;
    const read = (): number => world.world.gateway.stats().requests;
    const before = read();
    const first = world.ask('private', { lines: [line] });
    await world.world.eventually(() => read() > before, 'the first request is read');
    const changed = [{ name: 'ann', passwordHash: slowHash('new') }];
    world.publish('private', { rules: rulesOf({ basicAuth: changed }), updatedAtMs: 2 });
    assert.equal((await world.ask('private', { lines: [line] })).status, 401);
    assert.equal((await first).status, 401);
    assert.equal(world.hits('private'), 0);
  });
});

describe('a decision that fails', () => {
  it('ends its own connection, and is logged', async () => {
    class FailingAccess extends OpenAccess {
      override decide = (): Promise<never> => Promise.reject(new Error('a defect'));
    }
    const world = await GatewayWorld.start({ access: new FailingAccess() });
    try {
      await world.serve('app', (_request, response) => response.end());
      const client = await world.client();
      client.send(requestText(HOST, {}));
      assert.notEqual(statusOf(await client.ended()), 200);
      assert.ok(world.records.some(({ cause }) => cause === 'a defect'));
    } finally {
      await world.close();
    }
  });
});

describe('callers who ask too often', () => {
  const forged = (i: number): string[] => [
    `X-Forwarded-For: 198.51.100.${i}`,
    `Forwarded: for=198.51.100.${i}`,
    `X-Real-IP: 198.51.100.${i}`,
  ];

  it('are distinguished by their connection, and not by headers', async () => {
    const rate = { requests: 3, perMs: 3_000 };
    const world = await AccessWorld.start({ limits: { loginRate: rate, wrongRate: rate } });
    try {
      world.setProviders(providerOf('idp'), keyProviderOf('header', { keys: [keyRecord('a', 'right')] }));
      await world.serve('app', { authProviderIds: ['idp', 'header'] });
      const asked = async (lines: (i: number) => string[], host = HOST, path = '/'): Promise<number[]> => {
        const statuses: number[] = [];
        for (let i = 0; i < 4; i += 1)
          statuses.push((await world.ask('', { host, path, lines: [...lines(i), ...forged(i)] })).status);
        world.advance(3_000);
        return statuses;
      };
      assert.deepEqual(await asked(() => [BROWSER_LINE]), [302, 302, 302, 429]);
      const callback = await asked(() => [], 'oauth.share.localhost', '/idp/auth/callback?state=a');
      assert.deepEqual(callback, [400, 400, 400, 429]);
      assert.deepEqual(await asked((i) => [`X-Api-Key: wrong-${i}`]), [401, 401, 401, 429]);
      const unknown = (): string[] => [`Cookie: ${SESSION_COOKIE}=${randomBytes(32).toString('base64url')}`];
      assert.deepEqual(await asked(unknown), [401, 401, 401, 429]);
    } finally {
      await world.close();
    }
  });

  it('lock nobody out of another share, with any credentials', async () => {
    const rate = { requests: 3, perMs: 60_000 };
    const limits = { loginRate: rate, wrongRate: rate, wrongPasswordRate: rate };
    const world = await AccessWorld.start({ limits });
    try {
      const shown = {
        key: (i: number) => [`X-Api-Key: wrong-${i}`],
        bearer: (i: number) => [`Authorization: Bearer wrong-${i}`],
        password: (i: number) => [basicLine('ann', `wrong-${i}`)],
        session: () => [`Cookie: ${SESSION_COOKIE}=${randomBytes(32).toString('base64url')}`],
        login: () => [BROWSER_LINE],
      };
      world.setProviders(
        providerOf('idp'),
        keyProviderOf('header', { keys: [keyRecord('a', 'right')] }),
        keyProviderOf('bearer', { placement: 'bearer', name: '', keys: [keyRecord('b', 'right-too')] }),
      );
      const rules = rulesOf({ basicAuth: [{ name: 'ann', passwordHash: cheapHashOf('secret') }] });
      for (const name of ['victim', 'attacked'])
        await world.serve(name, { authProviderIds: ['idp', 'header', 'bearer'], rules });
      for (const lines of Object.values(shown)) {
        const statuses: number[] = [];
        for (let i = 0; i < 8; i += 1)
          statuses.push((await world.ask('attacked', { lines: lines(i) })).status);
        assert.equal(statuses.at(-1), 429, statuses.join(' '));
      }
      assert.equal((await world.ask('attacked', { lines: ['X-Api-Key: right'] })).status, 429, 'its own');
      for (const [line, status] of [
        ['X-Api-Key: right', 200],
        ['Authorization: Bearer right-too', 200],
        [basicLine('ann', 'secret'), 200],
        [world.sessionLine('victim', 'idp'), 200],
        [BROWSER_LINE, 302],
      ] as const)
        assert.equal((await world.ask('victim', { lines: [line] })).status, status, line);
    } finally {
      await world.close();
    }
  });

  it('with a right key of a second provider are not counted at the first', async () => {
    const world = await AccessWorld.start({ limits: { wrongRate: { requests: 3, perMs: 60_000 } } });
    try {
      world.setProviders(
        keyProviderOf('one', { keys: [keyRecord('a', 'key-one')] }),
        keyProviderOf('two', { keys: [keyRecord('b', 'key-two')] }),
        keyProviderOf('three', { placement: 'bearer', name: '', keys: [keyRecord('c', 'key-three')] }),
        keyProviderOf('four', { placement: 'bearer', name: '', keys: [keyRecord('d', 'key-four')] }),
      );
      await world.serve('app', { authProviderIds: ['one', 'two', 'three', 'four'] });
      for (let i = 0; i < 10; i += 1) {
        for (const line of ['X-Api-Key: key-two', 'Authorization: Bearer key-four'])
          assert.equal((await world.ask('app', { lines: [line] })).status, 200, `${line} ${i}`);
      }
      assert.equal((await world.ask('app', { lines: ['X-Api-Key: key-one'] })).status, 200);
      assert.equal((await world.ask('app', { lines: ['Authorization: Bearer key-three'] })).status, 200);
    } finally {
      await world.close();
    }
  });

  it('cannot have the control plane asked without end by logging out', async () => {
    const world = await AccessWorld.start({ limits: { loginRate: { requests: 3, perMs: 3_000 } } });
    try {
      world.setProviders(providerOf('idp'));
      await world.serve('app', { authProviderIds: ['idp'] });
      let ended = 0;
      world.control.endSession = () => {
        ended += 1;
        return Promise.resolve();
      };
      const statuses: number[] = [];
      for (let i = 0; i < 5; i += 1) {
        const lines = [`Cookie: ${SESSION_COOKIE}=${randomBytes(32).toString('base64url')}`];
        statuses.push((await world.ask('app', { path: '/.frontdoor/logout', lines })).status);
      }
      assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
      assert.equal(ended, 3);
    } finally {
      await world.close();
    }
  });
});

describe('a clock that goes back', () => {
  it('brings nothing back that is over: no session, no key, no share that was open for a time', async () => {
    const world = await AccessWorld.start();
    let jumpMs = 0;
    const { clock } = world;
    const real = clock.nowMs.bind(clock);
    clock.nowMs = () => real() + jumpMs;
    try {
      const nowMs = clock.nowMs();
      const keys = [
        keyRecord('ends', 'key-that-ends', nowMs + HOUR_MS),
        keyRecord('stays', 'key-that-stays'),
      ];
      world.setProviders(providerOf('idp'), keyProviderOf('header', { keys }));
      const session = { idleMs: 10 * HOUR_MS, absoluteMs: HOUR_MS };
      await world.serve('app', { authProviderIds: ['idp', 'header'], rules: rulesOf({ session }) });
      await world.serve('timed', { rules: rulesOf({ expiresAtMs: nowMs + HOUR_MS }) });
      const line = world.sessionLine('app', 'idp');
      const all = async (): Promise<number[]> => {
        world.access.onContact();
        return [
          (await world.ask('app', { lines: [line] })).status,
          (await world.ask('app', { lines: ['X-Api-Key: key-that-ends'] })).status,
          (await world.ask('timed')).status,
        ];
      };
      assert.deepEqual(await all(), [200, 200, 200]);
      jumpMs = HOUR_MS;
      assert.deepEqual(await all(), [401, 401, 403]);
      jumpMs = 0;
      assert.deepEqual(await all(), [401, 401, 403]);
      assert.equal((await world.ask('app', { lines: ['X-Api-Key: key-that-stays'] })).status, 200);
      const token = world.last('app').headers['frontdoor-identity'] as string;
      const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { iat: number };
      assert.equal(claims.iat, Math.floor(clock.nowMs() / 1_000), 'origins are sent the time of now');
      const early = world.sessionLine('app', 'idp');
      const [, value = ''] = early.split('=');
      const made = world.control.sessions.get(value)!;
      world.control.sessions.delete(value);
      assert.equal((await world.ask('app', { lines: [early] })).status, 401, 'it is not there yet');
      world.advance(10_000);
      world.control.sessions.set(value, { ...made, createdAtMs: made.createdAtMs + HOUR_MS });
      assert.equal(
        (await world.ask('app', { lines: [early] })).status,
        200,
        'what is not there is asked for again',
      );
    } finally {
      await world.close();
    }
  });
});
