import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:https';
import { createServer as createSilentServer, type AddressInfo, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { parseAllowedNetwork, type AllowedNetwork } from '#domain';
import type { TargetTls } from '#domain/upstream';
import {
  makeTestAuthority,
  type TestAuthority,
  type TestIdentity,
} from '../../../test/support/certificates.ts';
import { closerOf } from '../../../test/support/server-sockets.ts';
import { ask } from '../ask-agent.ts';
import { parseTarget } from '../target-address.ts';
import { backendFor, backendParts } from '../testing/backend-parts.ts';
import { cleanUp, get, world } from '../testing/agent-world.ts';
import { backendOf } from './backend-of-mode.ts';
import type { BackendParts } from './backend.ts';
import { fingerprintOf } from './target-certificate.ts';
import type { TargetFailure } from './target-connection.ts';

const closers: (() => unknown)[] = [];
let authority: TestAuthority;
let usual: TestIdentity;
let target: string;

before(async () => {
  authority = await makeTestAuthority();
  usual = await authority.issue('device');
  target = await serve(usual);
});
after(() => {
  for (const close of closers) close();
});

function everywhere(): readonly AllowedNetwork[] {
  const parsed = parseAllowedNetwork('--allow-target', '127.0.0.0/8:*');
  assert.ok('allowed' in parsed);
  return [parsed.allowed];
}

/** `isGuarded`: clients need a certificate of the authority, which the identity has beside its own. */
async function serve(tls: TestIdentity, isGuarded = false): Promise<string> {
  const server = createServer({ ...tls, requestCert: isGuarded }, (_request, response) =>
    response.end('over TLS'),
  );
  server.on('tlsClientError', () => {});
  closers.push(closerOf(server));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const pinOf = ({ cert }: Pick<TestIdentity, 'cert'>): string => fingerprintOf(new X509Certificate(cert));

/** Opens a connection as for a circuit. Resolves with why it failed, or undefined. */
function failureAt(service: string, tls: Partial<TargetTls> = {}): Promise<string | undefined> {
  return new Promise((resolve) => {
    backendFor(service, {}, true, tls).open(
      (side) => {
        side.abort();
        resolve(undefined);
      },
      ({ code, message }) => {
        assert.equal(code, 'tls');
        resolve(message);
      },
    );
  });
}

test('the time for the handshake is part of the time for connecting, which the share sets', async () => {
  const server = createSilentServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  const silent = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const failure = await new Promise<TargetFailure>((resolve, reject) => {
    backendFor(silent, {}, true, { connectTimeoutSeconds: 1 }).open(() => reject(new Error('open')), resolve);
  });
  assert.equal(failure.code, 'timeout');
  assert.match(failure.message, /within 1000 ms/);
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** Checks the service as every few seconds. Resolves with why it failed, or undefined. */
function checkedAt(
  service: string,
  tls: Partial<TargetTls> = {},
  parts: Partial<BackendParts> = {},
  isOwn = true,
): Promise<string | undefined> {
  const unknown = {
    verdict: 'unknown',
    reason: undefined,
    closesOnEnd: false,
    missedCloses: 0,
    staysOpen: 0,
  } as const;
  return new Promise((resolve) => {
    backendFor(service, parts, isOwn, tls).health(unknown, (result) =>
      resolve(result.type === 'failed' ? result.reason : undefined),
    );
  });
}

test('a certificate of an unknown authority fails with the four remedies', { timeout: 60_000 }, async () => {
  const failure = await failureAt(target);
  assert.match(
    failure ?? '',
    /^TLS to https:\/\/127\.0\.0\.1:\d+ failed: no authority that the agent trusts /,
  );
  for (const remedy of [
    `--target-pin ${pinOf(usual)},`,
    '--target-ca FILE',
    '--target-server-name NAME',
    '--target-insecure',
  ])
    assert.ok(failure?.includes(remedy), remedy);
  assert.ok(failure!.length < 500);
});

test('health checks fail and pass with the settings of circuits', { timeout: 60_000 }, async () => {
  assert.match((await checkedAt(target)) ?? '', /--target-pin/);
  assert.equal(await checkedAt(target, { tlsCa: authority.ca }), undefined);
});

test('the pinned certificate is accepted for any name, and no other', { timeout: 60_000 }, async () => {
  const other = await authority.issue('other', { dns: ['elsewhere.test'], days: -0.5 });
  const expired = await serve(other);
  assert.equal(await failureAt(expired, { tlsPin: pinOf(other) }), undefined);
  const colons = pinOf(other).toUpperCase().match(/../g)!.join(':');
  assert.equal(await failureAt(expired, { tlsPin: colons }), undefined);
  const changed = await failureAt(target, { tlsPin: pinOf(other) });
  assert.match(changed ?? '', /is not the pinned one\..* --target-pin /);
  assert.ok(changed?.includes(pinOf(usual)));
  // A pin is stricter than everything else.
  const loose = { tlsPin: pinOf(other), tlsInsecure: true, tlsCa: authority.ca };
  assert.equal(await failureAt(target, loose), changed);
});

test('the authority of a share replaces the others', { timeout: 60_000 }, async () => {
  const stranger = await makeTestAuthority('stranger');
  assert.equal(await failureAt(target, { tlsCa: authority.ca }), undefined);
  assert.equal(await failureAt(target, { tlsCa: stranger.ca + authority.ca }), undefined);
  assert.match((await failureAt(target, { tlsCa: stranger.ca })) ?? '', /no authority that the agent trusts/);
});

test('a name of the share is asked for and verified', { timeout: 60_000 }, async () => {
  const named = await serve(await authority.issue('pve', { dns: ['pve.test'] }));
  const tlsCa = authority.ca;
  const wrong = await failureAt(named, { tlsCa });
  assert.match(wrong ?? '', /its certificate is for DNS:pve\.test, not for 127\.0\.0\.1/);
  assert.equal(await failureAt(named, { tlsCa, tlsServerName: 'pve.test' }), undefined);
  assert.match(
    (await failureAt(named, { tlsCa, tlsServerName: 'nas.test' })) ?? '',
    /is for DNS:pve\.test, not for nas\.test/,
  );
});

test('a certificate that expired or is not valid yet is named as such', { timeout: 60_000 }, async () => {
  const tlsCa = authority.ca;
  const expired = await serve(await authority.issue('old', { days: -0.5 }));
  assert.match((await failureAt(expired, { tlsCa })) ?? '', /its certificate expired on /);
  const early = await serve(await authority.issue('early', { startsInDays: 2 }));
  assert.match((await failureAt(early, { tlsCa })) ?? '', /its certificate is not valid before /);
});

test('any certificate is accepted if the settings turn verification off', { timeout: 60_000 }, async () => {
  assert.equal(await failureAt(target, { tlsInsecure: true }), undefined);
});

test('a client certificate is presented to targets of the operator alone', { timeout: 60_000 }, async () => {
  const device = await authority.issue('device');
  const { cert, key } = await authority.issue('agent');
  const guarded = await serve(device, true);
  const pin = { tlsPin: pinOf(device) };
  const required = await checkedAt(guarded, pin);
  assert.match(required ?? '', /CERTIFICATE_REQUIRED: .*--target-client-certificate/);
  const client = { targetClients: new Map([['', { cert, key }]]), allowTargets: everywhere() };
  assert.equal(await checkedAt(guarded, pin, client), undefined);
  assert.match((await checkedAt(guarded, pin, client, false)) ?? '', /CERTIFICATE_REQUIRED/);
});

test(
  'a share names the client certificate of the agent that its target gets',
  { timeout: 60_000 },
  async () => {
    const device = await authority.issue('device');
    const guarded = await serve(device, true);
    const pin = { tlsPin: pinOf(device) };
    const targetClients = new Map([['plc', await authority.issue('plc')]]);
    const parts = { targetClients, allowTargets: everywhere() };
    assert.equal(await checkedAt(guarded, { ...pin, tlsClient: 'plc' }, parts), undefined);
    assert.match((await checkedAt(guarded, pin, parts)) ?? '', /CERTIFICATE_REQUIRED/);
    const parsed = parseTarget(guarded);
    assert.ok('target' in parsed);
    const problemOf = (tlsClient: string, isOwn: boolean): string => {
      const backend = backendOf(parsed.target, isOwn, backendParts(parts), { tlsClient });
      assert.ok('problem' in backend);
      return backend.problem;
    };
    assert.match(problemOf('unknown', true), /no client certificate named unknown: start it with --target-/);
    assert.match(problemOf('plc', false), /not presented to a target that the Management API chose/);
  },
);

test('a list of authorities that cannot be read closes the share', () => {
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  assert.throws(() => backendFor(target, {}, true, { tlsCa: broken }));
});

test('an agent applies changed settings to the next connection', { timeout: 60_000 }, async (t) => {
  t.after(cleanUp);
  const { agent, network } = await world();
  const share = { op: 'share', mode: 'public', target, name: 'app', grants: [] } as const;
  const first = await ask(agent.socketPath, share);
  assert.ok(!first.readiness.ready);
  assert.ok(first.readiness.reason.includes(`--target-pin ${pinOf(usual)}`));
  await assert.rejects(network.dial('app'), /--target-pin/);
  const pinned = await ask(agent.socketPath, { ...share, upstream: { tlsPin: pinOf(usual) } });
  assert.deepEqual(pinned.readiness, { ready: true });
  assert.match(await get(await network.dial('app')), /over TLS$/);
  // A change through the Management API.
  const record = network.records.get('app')!;
  network.records.set('app', { ...record, upstream: { tlsPin: '00'.repeat(32) } });
  network.changed();
  await network.until(() => network.hosted.get('app')?.reports.at(-1) === false);
  await assert.rejects(network.dial('app'), /is not the pinned one/);
  const open = { tlsPin: null, tlsInsecure: true };
  const insecure = await ask(agent.socketPath, { ...share, upstream: open });
  assert.deepEqual(insecure.readiness, { ready: true });
  assert.equal(insecure.share.isUnverified, true);
});

test('settings for certificates are refused for a target without TLS', { timeout: 60_000 }, async (t) => {
  t.after(cleanUp);
  const { agent, network } = await world();
  await assert.rejects(
    ask(agent.socketPath, {
      op: 'share',
      mode: 'private',
      target: 'tcp://127.0.0.1:22',
      name: 'app',
      grants: [],
      upstream: { tlsInsecure: true },
    }),
    { message: /need a target that starts with https:\/\// },
  );
  assert.equal(network.records.size, 0);
});
