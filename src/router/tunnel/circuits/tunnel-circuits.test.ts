import assert from 'node:assert/strict';
import { duplexPair, type Duplex } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { textOf } from '#base';
import { headerId } from '#wire';
import {
  grantChanges,
  identityChange,
  relationChange,
  serviceChange,
} from '../../../../test/support/token-signer.ts';
import { until, within } from '../../../../test/support/deadline.ts';
import { peerDataOf, ROUTER_ID, TunnelWorld, type TunnelWorldOptions } from '../testing/tunnel-world.ts';

const { publicKey, appData, initiatorRemoteAddress } = headerId.peerData;

async function openWorld(
  t: TestContext,
  isEncrypted: boolean,
  options?: TunnelWorldOptions,
): Promise<TunnelWorld> {
  const world = new TunnelWorld(t, options);
  world.change([
    identityChange(ROUTER_ID),
    { case: 'service', value: { id: 'web-id', name: 'web', encryptionRequired: isEncrypted } },
    serviceChange('other'),
    ...grantChanges('dial', 'Dial', ROUTER_ID, 'web-id'),
  ]);
  await until(
    'the service',
    () => world.services.get('web-id'),
    (it) => it !== undefined,
  );
  return world;
}

async function dial(world: TunnelWorld, protocol: 'tcp' | 'udp' = 'tcp'): Promise<Duplex> {
  const [connection, program] = duplexPair({ allowHalfOpen: true });
  program.on('error', () => {});
  await world.circuits.dial({
    service: world.services.get('web-id')!,
    connection: Object.assign(connection, { remoteAddress: '192.0.2.1', remotePort: 5 }),
    protocol,
    appData: { dst_protocol: protocol, dst_port: '80' },
    instanceId: 'one',
    connectTimeoutMs: 5_000,
  });
  return program;
}

function next(stream: Duplex): Promise<Buffer> {
  return within('data', new Promise<Buffer>((resolve) => stream.once('data', resolve)));
}

test('a dial names service and instance, and sends app data, addresses, and a key where it is required', async (t) => {
  for (const isEncrypted of [false, true]) {
    const world = await openWorld(t, isEncrypted);
    const program = await dial(world);
    program.write('hello');
    assert.equal(String(await next(program)), 'hello');
    const [request] = world.requests;
    assert.deepEqual([request!.serviceName, request!.terminatorInstanceId], ['web', 'one']);
    const data = peerDataOf(request!);
    assert.deepEqual(JSON.parse(textOf(data.get(appData)!)), { dst_protocol: 'tcp', dst_port: '80' });
    assert.equal(textOf(data.get(initiatorRemoteAddress)!), '192.0.2.1:5');
    assert.equal(data.get(publicKey)?.length, isEncrypted ? 32 : undefined);
  }
});

test('each datagram of a dial with udp arrives as one, encrypted too', async (t) => {
  const world = await openWorld(t, true);
  world.isDatagrams = true;
  const program = await dial(world, 'udp');
  const sizes: number[] = [];
  program.on('data', (chunk: Buffer) => sizes.push(chunk.length));
  for (const size of [40_000, 3]) {
    program.write(Buffer.alloc(size));
    await until(
      'the datagram',
      () => sizes.at(-1),
      (last) => last === size,
    );
  }
  assert.deepEqual(sizes, [40_000, 3]);
});

test('a dial fails with the reason, and the circuit that cannot be used is given back', async (t) => {
  const world = await openWorld(t, true, { isHostWithoutKey: true });
  await assert.rejects(dial(world), { code: 'host-without-key' });
  assert.equal((await world.router.controller.next('fault')).id, 'circuit1');
  world.refusal = 'no terminators';
  await assert.rejects(dial(world), { code: 'circuit-refused', message: /no terminators/ });
});

test('a lost policy refuses dials and ends the circuits of its service', async (t) => {
  const world = await openWorld(t, false);
  const program = await dial(world);
  program.write('hello');
  await next(program);
  const service = world.services.get('web-id')!;
  world.change([relationChange('dial', 'identity', [ROUTER_ID], false)]);
  const [connection] = duplexPair();
  const request = { service, connection, protocol: 'tcp', appData: {}, instanceId: '' } as const;
  await assert.rejects(world.circuits.dial({ ...request, connectTimeoutMs: 1_000 }), {
    code: 'dial-not-permitted',
  });
  assert.equal((await world.router.controller.next('fault')).id, 'circuit1');
});
