import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { createServer, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { silentLog, textOf } from '#base';
import { headerId } from '#wire';
import { RetryHint, RouteErrorCode } from '#wire/circuits';
import { TerminatorPrecedence } from '#wire/ctrl';
import { until, within } from '../../../../test/support/deadline.ts';
import { hostChanges, serviceChanges } from '../../../../test/support/hosted-services.ts';
import { grantChanges, identityChange, relationChange } from '../../../../test/support/token-signer.ts';
import { HostWorld, type HostWorldOptions, type TerminatorRequest } from '../testing/host-world.ts';
import { ROUTER_ID } from '../testing/tunnel-world.ts';

const { DEFAULT, REQUIRED, FAILED } = TerminatorPrecedence;
const WEB = { protocol: 'tcp', address: '127.0.0.1', port: 1 };
const CHECKED = {
  ...WEB,
  portChecks: [
    {
      address: '127.0.0.1:1',
      interval: '100ms',
      timeout: '1s',
      actions: [
        { trigger: 'fail', action: 'mark unhealthy' },
        { trigger: 'pass', action: 'mark healthy' },
      ],
    },
  ],
};

function open(t: TestContext, services: Record<string, object>, more?: Partial<HostWorldOptions>): HostWorld {
  const world = new HostWorld(t, { log: silentLog, ...more });
  world.tunnel.change(hostChanges(ROUTER_ID, services));
  return world;
}

async function echo(t: TestContext): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    t.after(() => socket.destroy());
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Sends `text`, and resolves with the first chunk that comes back. */
function exchange(client: Duplex, text: string): Promise<string> {
  const answer = new Promise<string>((resolve) => client.once('data', (data) => resolve(String(data))));
  client.write(text);
  return within('an answer', answer);
}

const shown = ({ cost, precedence, instanceId }: TerminatorRequest): unknown[] => [
  cost,
  precedence,
  instanceId,
];

async function untilPrecedence(world: HostWorld, id: string, precedence: number): Promise<void> {
  await until(
    'the precedence',
    () => world.terminators.get(id)?.precedence,
    (it) => it === precedence,
  );
}

test('each entry of a config is a terminator with its cost, precedence and instance', async (t) => {
  const first = { ...WEB, listenOptions: { cost: 5, precedence: 'required', identity: '$tunneler_id.name' } };
  const world = open(t, { web: { terminators: [first, WEB] }, db: WEB });
  const terminators = await world.hosted('web', 2);
  assert.deepEqual(terminators.map(shown), [
    [5, REQUIRED, ROUTER_ID],
    [0, DEFAULT, ''],
  ]);
  await world.hosted('db');
});

test('ert-terminators lists what the router hosts, under the names of OpenZiti', async (t) => {
  const first = { ...WEB, listenOptions: { cost: 5, precedence: 'required', identity: 'one' } };
  const world = open(t, { web: { terminators: [first, WEB] } });
  const [{ address: id }] = (await world.hosted('web', 2)) as [TerminatorRequest];
  const inspected = (): { entries: Record<string, unknown>[]; errors: string[] } =>
    world.part.inspect('ert-terminators') as ReturnType<typeof inspected>;
  const { value } = await until('the answers', inspected, ({ entries }) =>
    entries.every(({ state }) => state === 'established'),
  );
  const { createTime, lastAttempt, ...row } = value.entries.find((entry) => entry['id'] === id)!;
  assert.deepEqual(row, {
    key: 'web.0',
    id,
    state: 'established',
    instance: 'one',
    cost: 5,
    precedence: 'required',
    operationActive: false,
  });
  assert.ok(String(createTime) <= String(lastAttempt));
  assert.deepEqual([value.entries.length, value.errors], [2, []]);
  assert.equal(world.part.inspect('sdk-terminators'), undefined);
});

test('a router that starts again takes its terminators over', async (t) => {
  const world = open(t, { web: { terminators: [WEB, WEB] } });
  const before = (await world.hosted('web', 2)).map(({ address }) => address);
  const count = world.requests.length;
  world.restart();
  await until(
    'the requests',
    () => world.requests.length,
    (length) => length >= count + 2,
  );
  assert.deepEqual(
    (await world.hosted('web', 2)).map(({ address }) => address),
    before,
  );
});

test('a router that starts again removes the terminators of services that it lost in the meantime', async (t) => {
  const world = open(t, { web: WEB, db: WEB });
  const [db] = await world.hosted('db');
  await world.hosted('web');
  world.part.close();
  world.tunnel.change([relationChange('bind-web', 'identity', [ROUTER_ID], false)]);
  await until(
    'the loss',
    () => world.tunnel.services.get('web'),
    (it) => it === undefined,
  );
  assert.equal((await world.hosted('web')).length, 1);
  world.start();
  await world.hosted('web', 0);
  assert.deepEqual(await world.hosted('db'), [db]);
});

test('a controller that reconnects, and each other one, gets the terminators', async (t) => {
  const world = open(t, { web: WEB });
  const [{ address } = { address: '' }] = await world.hosted('web');
  const { controllers, controller } = world.tunnel.router;
  controllers.disconnect(controller);
  world.terminators.clear();
  world.attach(controllers.connect('ctrl2'));
  assert.equal((await world.hosted('web'))[0]!.address, address);
});

test('a service that may no longer be hosted loses its terminators and circuits, and no other does', async (t) => {
  const config = { ...WEB, port: await echo(t) };
  const world = open(t, { web: config, db: config });
  const [web] = await world.hosted('web');
  const [db] = await world.hosted('db');
  const lost = (await world.dial(web!.address)).client!;
  const kept = (await world.dial(db!.address)).client!;
  for (const client of [lost, kept]) assert.equal(await exchange(client, 'x'), 'x');
  world.tunnel.change([relationChange('bind-web', 'identity', [ROUTER_ID], false)]);
  assert.equal((await world.tunnel.router.controller.next('fault')).id, 'hosted1');
  await world.hosted('web', 0);
  assert.equal((await world.dial(web!.address)).result.errorCode, RouteErrorCode.invalidTerminator);
  assert.equal(await exchange(kept, 'y'), 'y');
});

test('a changed config keeps its terminator and updates it; another instance is another terminator', async (t) => {
  const world = open(t, { web: { ...WEB, listenOptions: { cost: 5 } } });
  const [before] = await world.hosted('web');
  world.tunnel.change(serviceChanges('web', { ...WEB, listenOptions: { cost: 9 } }));
  await until(
    'the update',
    () => world.terminators.get(before!.address)?.cost,
    (cost) => cost === 9,
  );
  world.tunnel.change(serviceChanges('web', { ...WEB, listenOptions: { identity: 'one' } }));
  await until(
    'the other instance',
    () => [...world.terminators.values()].map(shown),
    (them) => isDeepStrictEqual(them, [[0, DEFAULT, 'one']]),
  );
  assert.ok(!world.terminators.has(before!.address));
});

test('a config that cannot be decoded hosts nothing, is named in the log, and affects no other', async (t) => {
  const problems: unknown[] = [];
  const log = { ...silentLog, error: (fields: object) => void problems.push(fields) };
  const world = open(t, { bad: { protocol: 'tcp', port: 1 }, web: WEB }, { log });
  await world.hosted('web');
  assert.deepEqual(problems, [
    { service: 'bad', problem: 'host.v1: address must be given without forwardAddress' },
  ]);
  assert.equal(world.requests.length, 1);
});

test('a refusal that is final leads to another id, and any other to another request', async (t) => {
  const world = new HostWorld(t, { log: silentLog });
  world.refusal = { retryHint: RetryHint.notRetriable, msg: 'belongs to another router' };
  world.tunnel.change(hostChanges(ROUTER_ID, { web: WEB }));
  await until(
    'the request',
    () => world.requests.length,
    (length) => length === 1,
  );
  world.refusal = undefined;
  const first = world.requests[0]!.address;
  world.restart();
  const [terminator] = await world.hosted('web');
  assert.notEqual(terminator!.address, first);
  // It belongs to someone else.
  assert.ok(!world.removed.includes(first));
});

test('health checks change what controllers have, also what changed while there was none', async (t) => {
  let fault: string | undefined;
  let passed = 0;
  const probe = (): Promise<string | undefined> => {
    passed = fault === undefined ? passed + 1 : 0;
    return Promise.resolve(fault);
  };
  const world = open(t, { web: CHECKED }, { probe });
  const [{ address: id } = { address: '' }] = await world.hosted('web');
  fault = 'refused';
  await untilPrecedence(world, id, FAILED);
  const { controllers, controller } = world.tunnel.router;
  controllers.disconnect(controller);
  fault = undefined;
  await until(
    'two later checks',
    () => passed,
    (count) => count === 2,
  );
  world.attach(controllers.connect('ctrl2'));
  await untilPrecedence(world, id, DEFAULT);
});

test('a circuit reaches the service, sealed where it is encrypted, and each direction ends by itself', async (t) => {
  const port = await echo(t);
  const world = open(t, { web: { ...WEB, port } });
  const [{ address } = { address: '' }] = await world.hosted('web');
  for (const isEncrypted of [false, true]) {
    const { client, result } = await world.dial(address, {}, { isEncrypted });
    const { terminatorRemoteAddress, publicKey } = headerId.peerData;
    assert.equal(textOf(result.peerData.get(terminatorRemoteAddress)!), `127.0.0.1:${port}`);
    assert.equal(result.peerData.get(publicKey)?.length, isEncrypted ? 32 : undefined);
    client!.end('hello');
    let answer = '';
    for await (const chunk of client!) answer += String(chunk);
    assert.equal(answer, 'hello');
  }
});

test('datagrams of many circuits reach the service whole and apart', async (t) => {
  const server = createSocket('udp4', (datagram, { port, address }) => server.send(datagram, port, address));
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  const world = open(t, { dns: { ...WEB, protocol: 'udp', port: server.address().port } });
  const [{ address } = { address: '' }] = await world.hosted('dns');
  const mode = { isEncrypted: true, isDatagrams: true };
  const clients = await Promise.all(Array.from({ length: 50 }, () => world.dial(address, {}, mode)));
  await Promise.all(
    clients.map(async ({ client }, index) => {
      for (const length of index === 0 ? [1, 20_000] : [1, 1_400]) {
        const text = `${index}`.padEnd(length, '.');
        assert.equal(await exchange(client!, text), text);
      }
    }),
  );
});

test('a far end that never reads keeps its own circuit waiting, within a bound, and no other', async (t) => {
  const silent = createServer((socket) => void socket.pause().on('error', () => {}));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  silent.on('connection', (socket) => t.after(() => socket.destroy()));
  t.after(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  const world = open(t, { silent: { ...WEB, port }, web: { ...WEB, port: await echo(t) } });
  const stuck = (await world.dial((await world.hosted('silent'))[0]!.address)).client!;
  const other = (await world.dial((await world.hosted('web'))[0]!.address)).client!;
  const MIB = 1024 * 1024;
  for (let i = 0; i < 64; i += 1) stuck.write(Buffer.alloc(MIB));
  for (let i = 0; i < 200; i += 1) assert.equal(await exchange(other, `${i}`), `${i}`);
  assert.ok(stuck.writableLength > 40 * MIB, `${stuck.writableLength} bytes wait at the dialer`);
});

test('a dialer that asks for the resolver gets answers of it', async (t) => {
  const forward = { protocol: 'tcp', forwardAddress: true, allowedAddresses: ['*.corp.example'], port: 1 };
  const world = open(t, { dns: forward });
  const [{ address } = { address: '' }] = await world.hosted('dns');
  const { client } = await world.dial(address, { connType: 'resolver' }, { isDatagrams: true });
  const question = [{ name: 'other.example', type: 15 }];
  const answer = await exchange(client!, JSON.stringify({ id: 4, question }));
  assert.deepEqual(JSON.parse(answer), { id: 4, status: 3, question, answer: null });
});

test('a refused dial has the reason and its code', async (t) => {
  const forward = {
    protocol: 'tcp',
    address: '127.0.0.1',
    forwardPort: true,
    allowedPortRanges: [{ low: 1, high: 2 }],
    allowedSourceAddresses: ['127.0.0.0/8'],
  };
  const world = open(t, { web: forward });
  world.tunnel.change(serviceChanges('sealed', WEB, true));
  world.tunnel.change(grantChanges('bind-sealed', 'Bind', ROUTER_ID, 'sealed'));
  const [{ address } = { address: '' }] = await world.hosted('web');
  const [{ address: sealed } = { address: '' }] = await world.hosted('sealed');
  const { invalidTerminator, portNotAllowed, connectionRefused, generic } = RouteErrorCode;
  const rows = [
    ['unknown', {}, invalidTerminator, /not hosted here/],
    [address, { dst_port: '3' }, portNotAllowed, /not in allowed port ranges/],
    [address, {}, portNotAllowed, /dst_port required/],
    [address, { dst_port: '1' }, connectionRefused, /ECONNREFUSED/],
    [address, { dst_port: '1', source_addr: '10.0.0.1' }, generic, /not in allowed source addresses/],
    [sealed, {}, generic, /no key/],
  ] as const;
  for (const [id, data, code, text] of rows) {
    const { errorCode, error } = (await world.dial(id, data)).result;
    assert.deepEqual([errorCode, text.test(error)], [code, true], error);
  }
});

test('controllers that validate learn which terminators are hosted, once there is a data model', async (t) => {
  const world = new HostWorld(t, { log: silentLog });
  const [check] = world.part.terminatorChecks;
  const asked = { id: 'unknown', address: 'unknown', binding: 'tunnel' };
  assert.equal(check!(asked)?.valid, true);
  world.tunnel.change(hostChanges(ROUTER_ID, { web: WEB }));
  const [{ address } = { address: '' }] = await world.hosted('web');
  assert.equal(check!(asked)?.valid, false);
  assert.equal(check!({ ...asked, id: address })?.valid, true);
  assert.equal(check!({ ...asked, binding: 'transport' }), undefined);
});

test('a thousand services with two terminators each are hosted, and given up together', async (t) => {
  const services = Array.from({ length: 1_000 }, (_, i) => [`s${i}`, { terminators: [WEB, WEB] }] as const);
  const world = open(t, Object.fromEntries(services));
  await until(
    'the terminators',
    () => world.terminators.size,
    (size) => size === 2_000,
  );
  assert.equal(world.requests.length, 2_000);
  world.tunnel.change([identityChange(ROUTER_ID, true)]);
  await until(
    'no terminator',
    () => world.terminators.size,
    (size) => size === 0,
  );
});
