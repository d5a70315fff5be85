// Credentials of callers, planted wherever they may be shown: they are in no file of the control plane or the
// gateway, no backup, no log, no record for owners, no answer of the API, and no environment or command line of a
// process.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { silentLog } from '#base';
import type { GatewaySnapshot } from '#domain/gateway-shapes';
import { loadIdentityFile } from '#net/files';
import { EdgeApiClient, GatewayApiClient } from '#sdk';
import { until, within } from '../support/deadline.ts';
import { contentOf } from '../support/file-content.ts';
import { GITHUB_CLIENT } from '../support/github-provider.ts';
import { ACCESS_LOG, type IdentityWorld } from '../support/identity-world.ts';
import { releaseWorld, sharedIdentityWorkers } from '../support/shared-world.ts';
import { DEFAULT_CLIENT } from '../support/identity-provider.ts';
import { LOGIN_COOKIE } from '../support/visitor.ts';

const LEAST_PLANTED = 40;
const LOG_INS = 3;

interface Planted {
  readonly what: string;
  readonly secret: string;
}

describe('a credential of a caller', () => {
  let world: IdentityWorld;
  const planted: Planted[] = [];
  const log: string[] = [];
  const plant = (what: string, secret: string | undefined): string => {
    assert.ok(secret !== undefined && secret.length >= 16, `${what} can be searched for`);
    planted.push({ what, secret });
    return secret;
  };
  const plantNew = (what: string): string => plant(what, `planted-${randomBytes(12).toString('hex')}`);
  const parameter = (url: string, name: string): string | undefined =>
    new URL(url).searchParams.get(name) ?? undefined;

  before(async () => {
    world = await sharedIdentityWorkers();
    const { control, router, gateway, agent } = world.parts;
    for (const part of [control, router, gateway, agent]) part.watch((line) => log.push(line));
  });
  after(releaseWorld);

  /** Every kind of caller sends a valid and an invalid credential. */
  async function callers(): Promise<void> {
    plant('the secret of an OIDC provider', DEFAULT_CLIENT.secret);
    plant('the secret of a GitHub provider', GITHUB_CLIENT.secret);
    const logins = [await world.addProvider('OIDC', 'staff'), await world.addProvider('GITHUB', 'hub')];
    const placements = ['header', 'query', 'bearer'] as const;
    const keys = placements.map((placement) => plantNew(`a key (${placement})`));
    const made = await Promise.all(
      placements.map((placement, i) =>
        world.addProvider('API_KEY', placement, {
          placement,
          ...(placement === 'bearer' ? {} : { name: placement === 'header' ? 'X-Of-Ours' : 'ours' }),
          keys: [{ name: 'a', key: keys[i]! }],
        }),
      ),
    );
    const people = await world.share('people', logins.slice(0, 1));
    const hub = await world.share('hub', logins.slice(1));
    const basic = [plantNew('a password'), plantNew('a password')];
    const basicAuth = basic.map((password, i) => ({ name: `user-${i}`, password }));
    const machines = await world.share('machines', [...made, ...logins.slice(0, 1)], { basicAuth });
    for (const name of ['people', 'machines', 'hub'])
      await world.call('PUT', `/shares/${name}/inspector`, { enabled: true, maxBodyBytes: 65_536 });

    const ask = (host: string, path: string, headers: Record<string, string> = {}) =>
      world.visitor().ask(host, path, { headers, navigates: false });
    const wrong = (): string => plantNew('a wrong credential');
    const pairOf = (name: string, password: string): string =>
      `Basic ${plant('a pair', Buffer.from(`${name}:${password}`).toString('base64'))}`;
    const token = async (): Promise<string> => {
      const signed = await world.provider.signToken({ sub: 'robot' });
      plant('the signature of a token', signed.split('.')[2]);
      return signed;
    };
    const asked: readonly (readonly [string, Record<string, string>, number])[] = [
      ['/a', { 'x-of-ours': keys[0]! }, 200],
      [`/a?x=1&ours=${keys[1]}`, {}, 200],
      ['/a', { authorization: `Bearer ${keys[2]}` }, 200],
      ['/a', { authorization: pairOf('user-0', basic[0]!) }, 200],
      ['/a', { authorization: pairOf('user-1', basic[1]!) }, 200],
      ['/a', { authorization: `Bearer ${await token()}` }, 200],
      ['/a', { 'x-of-ours': wrong() }, 401],
      [`/a?ours=${wrong()}`, {}, 401],
      ['/a', { authorization: `Bearer ${wrong()}` }, 401],
      ['/a', { authorization: pairOf('user-0', wrong()) }, 401],
      ['/a', { authorization: `Bearer ${await token()}x` }, 401],
      [`/.frontdoor/login?code=${wrong()}`, {}, 400],
      [
        `/.frontdoor/login?code=${wrong()}`,
        { cookie: `${LOGIN_COOKIE}=${randomBytes(32).toString('base64url')}` },
        400,
      ],
    ];
    for (const [path, headers, status] of asked) {
      await until(
        `${path.slice(0, 20)} is answered with ${status}`,
        async () => (await ask(machines, path, headers)).status,
        (found) => found === status,
      );
    }
    plant(
      'an identity of a machine',
      world.origin.last(machines).headers['frontdoor-identity']?.split('.')[2],
    );

    for (let i = 0; i < LOG_INS; i += 1) {
      for (const [host, person] of [
        [people, 'ann'],
        [hub, 'ann'],
      ] as const) {
        const visitor = world.visitor();
        const back = await visitor.provenAt(host, '/page', person);
        plant('a state', parameter(back.href, 'state'));
        plant('a code of a provider', parameter(back.href, 'code'));
        plant('what binds a log-in', visitor.cookie(host, LOGIN_COOKIE));
        const returned = await visitor.ask(back.hostname, back.pathname + back.search);
        const code = new URL(returned.location);
        plant('a one-time code', parameter(returned.location, 'code'));
        assert.equal((await visitor.ask(host, code.pathname + code.search)).status, 303);
        plant('a session', visitor.cookie(host));
        assert.equal((await visitor.ask(host, '/')).status, 200);
        plant('an identity', world.origin.last(host).headers['frontdoor-identity']?.split('.')[2]);
        const again = await visitor.ask(host, code.pathname + code.search);
        assert.equal(again.status, 400);
      }
    }
  }

  /** The feed of a gateway, read as a gateway reads it. */
  async function snapshotOfGateways(): Promise<GatewaySnapshot> {
    const identity = await loadIdentityFile(join(world.parts.folder, 'gateway', 'identity.json'));
    const api = new EdgeApiClient({ identity, log: silentLog });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const feed = new GatewayApiClient(api.connection).subscribeGatewayFeed({
      onLine: resolve,
      onEnd: reject,
    });
    try {
      return JSON.parse(await within('a snapshot', promise)) as GatewaySnapshot;
    } finally {
      feed.close();
      await api.close();
    }
  }

  /** The control plane stores credentials; a gateway has them in memory only. */
  function hashesOf({ providers, shares }: GatewaySnapshot): Planted[] {
    return [
      ...providers.flatMap(({ apiKeys }) => apiKeys?.keys ?? []).map(({ hmac }) => hmac),
      ...shares.flatMap(({ rules }) => rules?.basicAuth ?? []).map(({ passwordHash }) => passwordHash),
    ].map((secret) => ({ what: 'a hash', secret }));
  }

  function search(where: string, bytes: Buffer | string, secrets: readonly Planted[] = planted): void {
    const found = secrets.filter(({ secret }) => bytes.includes(secret)).map(({ what }) => what);
    assert.deepEqual(found, [], `stands in ${where}`);
  }

  function filesBelow(folder: string): string[] {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  }

  it('is found only where it is used', async () => {
    await callers();
    const snapshot = await snapshotOfGateways();
    plant('the pepper', snapshot.keys.apiKeyPepper);
    for (const { privateKey } of snapshot.keys.identityKeys)
      plant('an identity key', privateKey.split('\n')[1]);
    const hashes = hashesOf(snapshot);
    assert.equal(hashes.length, 5);
    assert.ok(planted.length >= LEAST_PLANTED, `${planted.length} were planted`);
    const { folder } = world.parts;
    await within(
      'a backup',
      world.parts.run('backup', join(folder, 'a.backup'), '--ca', join(folder, 'api-ca.pem')),
    );
    const own = ['--frontdoor', world.parts.frontdoorId, '--ca', join(folder, 'api-ca.pem')];
    const why = (errorId: string): Promise<string> => world.parts.run('why', errorId, ...own);
    const paths = [
      '/shares/people/inspector/requests?size=100',
      '/shares/hub/inspector/requests?size=100',
      '/shares/machines/inspector/requests?size=100',
      '/failures?size=100',
      '/auth-providers?size=100',
      '/shares/machines/policy',
    ];
    const { value: failures } = await until(
      'failures and recorded requests are listed',
      () => world.call<{ content: { errorId: string }[] }>('GET', '/failures?size=100'),
      ({ content }) => content.length >= 5,
    );
    for (const { errorId } of failures.content.slice(0, 5)) {
      search('the output of why', await why(errorId));
    }
    for (const path of paths) {
      const { value: answer } = await until(
        `${path} answers with content`,
        () => world.call<{ content?: { id: string }[] }>('GET', path),
        ({ content }) => content?.length !== 0,
      );
      search(path, JSON.stringify(answer));
      if (!path.includes('inspector')) continue;
      for (const { id } of answer.content!.slice(0, 20))
        search('a recorded request', JSON.stringify(await world.call('GET', path.replace(/\?.*/, `/${id}`))));
    }

    assert.ok(log.length > 0);
    search('the logs', log.join('\n'));
    await until(
      'log-ins are in the access log',
      () => readFileSync(join(folder, ACCESS_LOG), 'utf8'),
      (text) => text.includes('"path":"/.frontdoor/login"'),
    );
    const files = filesBelow(folder);
    for (const name of ['control.db', 'control.db-wal', ACCESS_LOG, 'a.backup', 'shares.json'])
      assert.ok(
        files.some((path) => path.endsWith(name)),
        `${name} is among what is searched: ${files.join()}`,
      );
    for (const path of files) search(path, contentOf(path));
    const kept = files.filter((path) => path.includes('/gateway/') && path.endsWith('/shares.json'));
    assert.equal(kept.length, 2, 'each worker keeps what it serves');
    for (const path of kept) search(path, contentOf(path), hashes);

    const { control, gateway, router, agent } = world.parts;
    for (const pid of [control, gateway, router, agent].flatMap((part) => processes(part.pid))) {
      search(`the environment of ${pid}`, readFileSync(`/proc/${pid}/environ`));
      search(`the command line of ${pid}`, readFileSync(`/proc/${pid}/cmdline`));
    }
    assert.ok(processes(gateway.pid).length >= 3, 'workers are among them');
    const open = ['control', 'gateway']
      .flatMap((part) => filesBelow(join(folder, part)))
      .filter((path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);
    assert.deepEqual(open, [], 'files of the control plane and the gateway are their owner’s alone');
    assert.equal(statSync(join(folder, ACCESS_LOG)).mode & 0o077, 0, 'so is the access log');
  });
});

/** A process and all processes that it started. */
function processes(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [
    pid,
    ...children
      .split(' ')
      .filter(Boolean)
      .flatMap((child) => processes(Number(child))),
  ];
}
