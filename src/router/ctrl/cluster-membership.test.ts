// The set of controllers: from file or configuration at start, then from messages of controllers, saved on disk.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { parse } from 'yaml';
import { silentLog, utf8, type Log } from '#base';
import { contentType, parseAddress } from '#wire';
import { ctrlMessages, type CtrlInit } from '#wire/ctrl';
import { makeTestAuthority, type TestIdentity } from '../../../test/support/certificates.ts';
import { until } from '../../../test/support/deadline.ts';
import {
  openScriptedController,
  type ScriptedController,
} from '../../../test/support/scripted-controller.ts';
import { routerConfigFixture } from '../testing/router-config-fixture.ts';
import { ClusterMembership } from './cluster-membership.ts';
import { ControllerSet } from './controller-set.ts';
import { CtrlDispatcher } from './ctrl-dispatcher.ts';

let router: TestIdentity;
let server: TestIdentity;
let folder: string;
let files = 0;
before(async () => {
  const authority = await makeTestAuthority();
  [router, server] = await Promise.all([authority.issue('router-1'), authority.issue('controller')]);
  folder = await mkdtemp(join(tmpdir(), 'frontdoor-endpoints-'));
});
after(() => rm(folder, { recursive: true }));

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function openController(id: string, refuse?: () => string | undefined): Promise<ScriptedController> {
  const controller = await openScriptedController(server, { id, refuse });
  closers.push(() => controller.close());
  return controller;
}

/** Returns the path of a new `endpoints.yml` in a new folder. */
function newFile(): string {
  files += 1;
  return join(folder, String(files), 'endpoints.yml');
}

async function startMembership(
  file: string,
  configured: readonly ScriptedController[],
  log: Log = silentLog,
) {
  const endpoints = configured.map(({ endpoint }) => parseAddress(endpoint)!);
  const config = { ...routerConfigFixture(folder).ctrl, endpoints, endpointsFile: file };
  const set = new ControllerSet({
    routerId: 'router-1',
    config,
    proxy: undefined,
    tls: () => router,
    linkListeners: () => [],
    log: silentLog,
  });
  const membership = new ClusterMembership({ config, controllers: set, log, returnAfterMs: 20 });
  set.start(new CtrlDispatcher([membership.handlers()], silentLog));
  await membership.start();
  const close = async (): Promise<void> => {
    set.close();
    await membership.close();
  };
  closers.push(close);
  const connected = (...expected: string[]): Promise<unknown> =>
    until(
      `connected to ${expected.join(', ')}`,
      () =>
        set
          .all()
          .map(({ id }) => id)
          .toSorted()
          .join(),
      (ids) => ids === expected.toSorted().join(),
    );
  return { set, membership, connected, close };
}

type Update = CtrlInit<'updateCtrlAddresses'>;

function announce(from: ScriptedController, update: Update): void {
  from.send(ctrlMessages.updateCtrlAddresses.frame(update));
}

async function contentOf(file: string): Promise<Record<string, unknown>> {
  const { value } = await until(
    'the endpoints file',
    () => readFile(file, 'utf8'),
    ({ length }) => length > 0,
  );
  return parse(value) as Record<string, unknown>;
}

test('a list with a new controller is dialed, written for the owner alone, and used at the next start', async () => {
  const file = newFile();
  const [first, second] = [await openController('c1'), await openController('c2')];
  const { connected, close } = await startMembership(file, [first]);
  await connected('c1');
  const controllers = [first, second].map(({ endpoint }, at) => ({
    id: `c${at + 1}`,
    endpoints: [{ address: endpoint, groups: ['default'] }],
  }));
  announce(first, { index: 5n, controllers, addresses: [] });
  await connected('c1', 'c2');
  const content = await contentOf(file);
  assert.deepEqual(content, { controllers, endpoints: [first.endpoint, second.endpoint] });
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  await close();
  // The configuration still names only the first controller.
  const again = await startMembership(file, [first]);
  await again.connected('c1', 'c2');
  assert.deepEqual(
    ['c1', 'c2', 'c3'].map((id) => again.membership.isMember(id)),
    [true, true, false],
  );
});

test('a controller that the list no longer has is left, and forgotten at the next start', async () => {
  const file = newFile();
  const [first, second] = [await openController('c1'), await openController('c2')];
  const { connected, close } = await startMembership(file, [first, second]);
  await connected('c1', 'c2');
  announce(first, { index: 5n, isLeader: true, addresses: [first.endpoint] });
  await connected('c1');
  await until(
    'the second sees it',
    () => second.open.length,
    (open) => open === 0,
  );
  assert.deepEqual(await contentOf(file), { endpoints: [first.endpoint] });
  await close();
  const again = await startMembership(file, [second]);
  await again.connected('c1');
});

test('a configured controller that the list left out is dialed again while no other can be reached, also after a restart', async () => {
  const file = newFile();
  const [first, second] = [await openController('c1'), await openController('c2')];
  const { connected, close } = await startMembership(file, [first, second]);
  await connected('c1', 'c2');
  // The first stops in order: the second, which leads, leaves it out.
  announce(second, { index: 5n, isLeader: true, addresses: [second.endpoint] });
  await connected('c2');
  await second.close();
  await connected('c1');
  assert.deepEqual(await contentOf(file), { endpoints: [second.endpoint] });
  await close();
  const again = await startMembership(file, [first, second]);
  await again.connected('c1');
});

test('a configured controller that the list leaves out is left again when a member returns with that list', async () => {
  let isAway = false;
  const first = await openController('c1');
  const second = await openController('c2', () => (isAway ? 'away' : undefined));
  const { connected } = await startMembership(newFile(), [first, second]);
  await connected('c1', 'c2');
  const update = { index: 5n, isLeader: true, addresses: [second.endpoint] };
  announce(second, update);
  await connected('c2');
  isAway = true;
  second.channels[0]!.close('restart');
  await connected('c1');
  // The only channel stays, whatever its controller sends.
  announce(first, update);
  isAway = false;
  await second.connected(2);
  announce(second, update);
  await connected('c2');
});

test('a list of a controller that does not lead adds controllers, but removes none that is connected; the leader is asked', async () => {
  const [first, second, third] = [
    await openController('c1'),
    await openController('c2'),
    await openController('c3'),
  ];
  const { set, connected } = await startMembership(newFile(), [first, second]);
  await connected('c1', 'c2');
  second.send(ctrlMessages.updateClusterLeader.frame({ index: 4n }));
  await until(
    'the leader',
    () => set.leaderId,
    (id) => id === 'c2',
  );
  announce(first, { index: 5n, addresses: [first.endpoint, third.endpoint] });
  await connected('c1', 'c2', 'c3');
  await second.frame(contentType.requestClusterMembers);
  assert.equal(first.frames.filter((it) => it.contentType === contentType.requestClusterMembers).length, 0);
  announce(second, { index: 5n, isLeader: true, addresses: [second.endpoint] });
  await connected('c2');
});

test('an empty list leaves everything, and asks for another', async () => {
  const first = await openController('c1');
  const { set, connected } = await startMembership(newFile(), [first]);
  await connected('c1');
  announce(first, { index: 5n, addresses: [] });
  await first.frame(contentType.requestClusterMembers);
  assert.deepEqual(set.endpoints, [first.endpoint]);
});

test('an older list is ignored, until the network was restored', async () => {
  const [first, second] = [await openController('c1'), await openController('c2')];
  const { set, membership, connected } = await startMembership(newFile(), [first]);
  await connected('c1');
  announce(first, { index: 5n, isLeader: true, addresses: [first.endpoint] });
  announce(first, { index: 4n, isLeader: true, addresses: [first.endpoint, second.endpoint] });
  announce(first, {
    index: 6n,
    isLeader: true,
    addresses: [first.endpoint, first.endpoint.replace('127.0.0.1', 'localhost')],
  });
  await until(
    'the newest list',
    () => set.endpoints.length,
    (length) => length === 2,
  );
  assert.ok(!set.endpoints.includes(second.endpoint));
  membership.resetIndex();
  // Its other address was dialed in the meantime. That channel is the newest, and is closing.
  const update = { index: 2n, isLeader: true, addresses: [first.endpoint, second.endpoint] };
  first.channels[0]!.send(ctrlMessages.updateCtrlAddresses.frame(update));
  await connected('c1', 'c2');
});

test('the leader is the controller that claimed it with the newest index, and is asked first', async () => {
  const [first, second] = [await openController('c1'), await openController('c2')];
  const { set, connected } = await startMembership(newFile(), [first]);
  await connected('c1');
  set.setEndpoints([first.endpoint, second.endpoint]);
  await connected('c1', 'c2');
  assert.equal(set.best()!.id, 'c1');
  second.send(ctrlMessages.updateClusterLeader.frame({ index: 7n }));
  await until(
    'the leader',
    () => set.best()!.id,
    (id) => id === 'c2',
  );
  first.send(ctrlMessages.updateClusterLeader.frame({ index: 6n }));
  first.send(ctrlMessages.updateClusterLeader.frame({ index: 7n }));
  first.send(ctrlMessages.updateClusterLeader.frame({ index: 8n }));
  await until(
    'the next leader',
    () => set.leaderId,
    (id) => id === 'c1',
  );
});

test('a new address of the controller (Settings) replaces the others', async () => {
  const file = newFile();
  const [first, second] = [await openController('c1'), await openController('c2')];
  const { connected } = await startMembership(file, [first]);
  await connected('c1');
  first.send(ctrlMessages.settings.frame({ data: { 1: utf8('no address') } }));
  first.send(ctrlMessages.settings.frame({ data: { 1: utf8(second.endpoint) } }));
  await connected('c2');
  assert.deepEqual(await contentOf(file), { endpoints: [second.endpoint] });
});

test('the controllers of the file are left again when the one of Settings returns, which sends no list', async () => {
  let isAway = false;
  const first = await openController('c1');
  const second = await openController('c2', () => (isAway ? 'away' : undefined));
  const { connected } = await startMembership(newFile(), [first]);
  await connected('c1');
  first.send(ctrlMessages.settings.frame({ data: { 1: utf8(second.endpoint) } }));
  await connected('c2');
  isAway = true;
  second.channels[0]!.close('restart');
  await connected('c1');
  isAway = false;
  await connected('c2');
});

test('a malformed list ends that controller’s channel and nothing else', async () => {
  const [first, second] = [await openController('c1'), await openController('c2')];
  const { connected } = await startMembership(newFile(), [first, second]);
  await connected('c1', 'c2');
  const broken = ctrlMessages.updateCtrlAddresses.frame({});
  first.channels[0]!.send({ ...broken, body: Uint8Array.of(0x0a, 0xff) });
  await until('the channel ends', () => first.channels[0]!.isClosed, Boolean);
  assert.equal(second.open.length, 1);
  await connected('c1', 'c2');
});

const FILES: readonly { readonly what: string; readonly text: (endpoint: string) => string }[] = [
  { what: 'of an earlier router with `Endpoints` alone', text: (it) => `Endpoints:\n  - ${it}\n` },
  {
    what: 'whose controllers have no ids',
    text: (it) => `controllers: [{endpoints: []}]\nendpoints: ["${it}"]\n`,
  },
  {
    what: 'whose controllers win over its list',
    text: (it) =>
      `controllers: [{id: c1, endpoints: [{address: "${it}"}]}]\nendpoints: ["tls:127.0.0.1:1"]\n`,
  },
];
for (const { what, text } of FILES) {
  test(`a file ${what} is read`, async () => {
    const file = join(folder, `endpoints-${(files += 1)}.yml`);
    const first = await openController('c1');
    await writeFile(file, text(first.endpoint));
    const { set, connected } = await startMembership(file, []);
    await connected('c1');
    assert.deepEqual(set.endpoints, [first.endpoint]);
  });
}

test('a file `endpoints` of an earlier router is read where endpoints.yml is missing, and written again', async () => {
  const own = await mkdtemp(join(folder, 'former-'));
  const first = await openController('c1');
  await writeFile(join(own, 'endpoints'), `endpoints: ["${first.endpoint}"]\n`);
  const file = join(own, 'endpoints.yml');
  const { connected } = await startMembership(file, []);
  await connected('c1');
  assert.deepEqual(await contentOf(file), { endpoints: [first.endpoint] });
});

const BROKEN_FILES = [
  '{',
  'endpoints: 5\n',
  '',
  'endpoints: ["http://example"]\n',
  'controllers: [{id: "", endpoints: []}]\n',
];
for (const text of BROKEN_FILES) {
  test(`a file ${JSON.stringify(text)} is an error in the log, and the configuration counts`, async () => {
    const errors: string[] = [];
    const log: Log = { ...silentLog, error: (_fields, message) => void errors.push(message) };
    const file = join(folder, `broken-${(files += 1)}.yml`);
    await writeFile(file, text);
    const first = await openController('c1');
    const { connected } = await startMembership(file, [first], log);
    await connected('c1');
    assert.equal(errors.length, 1);
  });
}

test('a file that cannot be written is an error in the log; the router continues with the new list', async () => {
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (_fields, message) => void errors.push(message) };
  const blocked = join(folder, `blocked-${(files += 1)}`);
  await writeFile(blocked, 'no folder');
  const [first, second] = [await openController('c1'), await openController('c2')];
  const { connected } = await startMembership(join(blocked, 'below', 'endpoints.yml'), [first], log);
  await connected('c1');
  const before = errors.length;
  announce(first, { index: 5n, addresses: [first.endpoint, second.endpoint] });
  await connected('c1', 'c2');
  await until(
    'the error',
    () => errors.length,
    (count) => count === before + 1,
  );
});
