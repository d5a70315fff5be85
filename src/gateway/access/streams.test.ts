import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { AccessRules } from '#domain/access';
import {
  AccessWorld,
  deltaOf,
  keyProviderOf,
  keyRecord,
  parseAnswer,
  providerOf,
  rulesOf,
} from '../testing/access-world.ts';
import { ManualTime } from '../testing/manual-time.ts';
import type { RawClient } from '../testing/raw-client.ts';

const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket'];
/** The gateway looks at its streams at least as often. */
const LOOK_MS = 1_000;
/** Looks until a stream is cut that has to be. */
const MAX_LOOKS = 3;
const MAX_TURNS = 50;

describe('a stream that continues', () => {
  const time = new ManualTime();
  let world: AccessWorld;
  let version = 1;
  before(async () => {
    world = await AccessWorld.start({ limits: { maxSessions: 4 } }, {}, time);
    await world.world.serveRaw(
      'app',
      (socket) => {
        socket.once('data', () => {
          socket.write(
            'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
          );
          socket.pipe(socket);
        });
      },
      { authProviderIds: ['idp', 'keys'] },
    );
  });
  beforeEach(() => {
    world.setProviders(
      providerOf('idp'),
      keyProviderOf('keys', { keys: [keyRecord('one', 'key-one'), keyRecord('two', 'key-two')] }),
    );
    publish({});
    world.control.isAway = false;
    world.access.onContact();
  });
  after(() => world.close());

  function publish(rules: Partial<AccessRules>, authProviderIds = ['idp', 'keys']): void {
    version += 1;
    world.publish('app', { authProviderIds, rules: rulesOf(rules), updatedAtMs: version });
  }

  async function open(lines: readonly string[]): Promise<RawClient> {
    const host = 'app.share.localhost';
    const client = await world.client(host);
    client.send(`GET /live HTTP/1.1\r\nHost: ${host}\r\n${[...UPGRADE, ...lines].join('\r\n')}\r\n\r\n`);
    await client.until((text) => text.includes('\r\n\r\n'));
    assert.equal(parseAnswer(client.received).status, 101);
    client.send('hello');
    await client.until((text) => text.endsWith('hello'));
    return client;
  }

  async function isCut(client: RawClient): Promise<void> {
    for (let looks = 0; client.isOpen && looks < MAX_LOOKS; looks += 1) {
      time.advance(LOOK_MS);
      // A look may have to ask the control plane, and the next one cuts.
      for (let turns = 0; client.isOpen && turns < MAX_TURNS; turns += 1) await new Promise(setImmediate);
    }
    await client.ended();
    client.close();
  }

  async function goesOn(client: RawClient): Promise<void> {
    time.advance(LOOK_MS);
    const { length } = client.received;
    client.send('still there');
    await client.until((text) => text.slice(length).endsWith('still there'));
  }

  const session = (): string => world.sessionLine('app', 'idp');
  const key = (name: string): string => `X-Api-Key: key-${name}`;

  it('is cut when its session is ended; others continue', async () => {
    const line = session();
    const [first, second, third] = [await open([line]), await open([session()]), await open([key('one')])];
    const { id } = world.control.sessions.get(line.split('=')[1]!)!;
    world.access.change(deltaOf({ endedSessions: [id] }));
    await isCut(first);
    await goesOn(second);
    await goesOn(third);
    second.close();
    third.close();
    const record = world.records.findLast(({ code }) => code === 'access-ended');
    assert.equal(record?.['cause'], 'the session was ended');
  });

  it('is cut when its session is ended, though the gateway has forgotten that among many others', async () => {
    const line = session();
    const client = await open([line]);
    for (let i = 0; i < 8; i += 1) (await open([session()])).close();
    await goesOn(client);
    const { id } = world.control.sessions.get(line.split('=')[1]!)!;
    world.access.change(deltaOf({ endedSessions: [id] }));
    await isCut(client);
  });

  it('is cut when its key is removed, or expires; a stream of another key continues', async () => {
    const [first, second] = [await open([key('one')]), await open([key('two')])];
    world.setProviders(
      keyProviderOf('keys', { keys: [keyRecord('two', 'key-two', world.clock.nowMs() + 1_000)] }),
    );
    await isCut(first);
    await goesOn(second);
    world.advance(1_000);
    await isCut(second);
  });

  it('is cut when its provider is changed, disabled, detached or deleted', async () => {
    const changes: readonly (() => void)[] = [
      () => world.setProviders(providerOf('idp', { version: 2 })),
      () => world.setProviders(providerOf('idp', { enabled: false })),
      () => publish({}, ['keys']),
      () => world.access.change(deltaOf({ removedProviders: ['idp'] })),
    ];
    for (const change of changes) {
      world.setProviders(providerOf('idp'));
      publish({});
      const [client, other] = [await open([session()]), await open([key('one')])];
      change();
      await isCut(client);
      await goesOn(other);
      other.close();
    }
  });

  it('is cut when the rules come to refuse it: time, network, e-mail, claims, idle and absolute time', async () => {
    const rules: readonly Partial<AccessRules>[] = [
      { expiresAtMs: world.clock.nowMs() - 1 },
      { ip: { allow: [], deny: ['127.0.0.1'] } },
      { ip: { allow: ['10.0.0.0/8'], deny: [] } },
      { emails: ['*@other.example'] },
      { claims: [{ claim: 'groups', anyOf: ['admins'] }] },
      { session: { idleMs: 1_000, absoluteMs: 3_600_000 } },
      { session: { idleMs: 3_600_000, absoluteMs: 1_000 } },
    ];
    for (const rule of rules) {
      publish({});
      const client = await open([session()]);
      world.advance(1_001);
      publish(rule);
      await isCut(client);
    }
  });

  it('of a key is cut when rules about people come that nobody can prove, or their provider leaves', async () => {
    publish({}, ['keys']);
    const client = await open([key('one')]);
    publish({ emails: ['*@example.com'] }, ['keys']);
    await isCut(client);
    publish({ emails: ['*@example.com'] });
    const second = await open([key('one')]);
    publish({ emails: ['*@example.com'] }, ['keys']);
    await isCut(second);
  });

  it('of an open share is cut when the share is guarded, or withdrawn', async () => {
    publish({}, []);
    const client = await open([]);
    publish({});
    await isCut(client);
    publish({}, []);
    const second = await open([]);
    world.world.gateway.table.change([], ['id-app']);
    world.access.change(deltaOf({ removed: ['id-app'] }));
    await isCut(second);
  });

  it('on a public path continues without the control plane, until the path is no longer public', async () => {
    publish({ publicPaths: ['/live'] });
    const client = await open([]);
    world.clock.advance(60_000);
    const other = await world.ask('app', { lines: [session()], path: '/other' });
    assert.equal(other.status, 503);
    await goesOn(client);
    world.access.onContact();
    publish({ publicPaths: ['/other'] });
    await isCut(client);
  });

  it('is cut sixty seconds after the last message of the control plane', async () => {
    const [first, second] = [await open([session()]), await open([key('one')])];
    world.clock.advance(59_000);
    await goesOn(first);
    world.clock.advance(1_000);
    await Promise.all([isCut(first), isCut(second)]);
    assert.ok(world.records.some(({ code }) => code === 'control-plane-away'));
  });

  it('cannot be opened with more header lines than a head may have', async () => {
    const client = await world.client('app.share.localhost');
    const lines = [...UPGRADE, session(), ...Array.from({ length: 500 }, (_, i) => `X-${i}: 1`)];
    client.send(`GET / HTTP/1.1\r\nHost: app.share.localhost\r\n${lines.join('\r\n')}\r\n\r\n`);
    assert.match(await client.ended(), /^HTTP\/1\.1 431 /);
    client.close();
    assert.equal((await world.ask('app')).status, 401);
  });

  it('cannot be opened with a session by a page of another origin', async () => {
    const host = 'app.share.localhost';
    const ask = async (origin: string, at = host): Promise<number> => {
      const client = await world.client(host);
      const lines = [...UPGRADE, session(), ...(origin === '' ? [] : [`Origin: ${origin}`])];
      client.send(`GET / HTTP/1.1\r\nHost: ${at}\r\n${lines.join('\r\n')}\r\n\r\n`);
      const text = await client.until((received) => received.includes('\r\n\r\n'));
      client.close();
      return parseAnswer(text).status;
    };
    for (const origin of [
      'https://evil.example',
      `http://${host}`,
      'null',
      `https://${host}.evil.example`,
      `https://${host}:1`,
    ])
      assert.equal(await ask(origin), 403, origin);
    assert.equal(await ask(`https://${host}`), 101);
    assert.equal(await ask(`https://${host}:8443`, `${host}:8443`), 101);
    assert.equal(await ask(`https://${host}`, `${host}:443`), 101);
    assert.equal(await ask(''), 101, 'no browser');
    const client = await world.client(host);
    const lines = [...UPGRADE, key('one'), 'Origin: https://anywhere.example'];
    client.send(`GET / HTTP/1.1\r\nHost: ${host}\r\n${lines.join('\r\n')}\r\n\r\n`);
    assert.match(await client.until((text) => text.includes('\r\n\r\n')), /^HTTP\/1\.1 101/);
    client.close();
  });
});
