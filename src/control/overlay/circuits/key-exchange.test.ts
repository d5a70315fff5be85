// Which keys of end-to-end encryption the ends of a circuit get, and which dials are refused for want of one.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { contentType } from '#wire';
import { decodeCircuitCreated, decodeEdgeRefusal, EdgeErrorCode, peerDataOfEntries } from '#wire/circuits';
import { KEYLESS_GRACE_MS } from './key-exchange-policy.ts';
import { OverlayWorld, type OverlayStart } from '../testing/overlay-world.ts';
import type { ScriptedRouter } from '../testing/scripted-router.ts';

const PUBLIC_KEY = 1003;
const DIALER_KEY = Uint8Array.of(7);
const HOST_KEY = Uint8Array.of(9);

let world: OverlayWorld;
let router: ScriptedRouter;

beforeEach(async () => {
  world = await OverlayWorld.open();
  await world.addIdentity('host', 'environment');
  await world.addIdentity('guest', 'environment');
  await world.addIdentity('gateway', 'gateway');
  await world.addService('open', 'host');
  await world.addService('granted', 'host', { openTo: 'grants', grants: ['guest'] });
});
afterEach(() => world.close());

async function start(hasHostKey = true, options: OverlayStart = {}): Promise<void> {
  await world.start(options);
  router = await world.router('r1');
  for (const service of ['open', 'granted']) {
    await world.bind(router, 'host', service, `at-${service}`, hasHostKey);
    await router.route();
    await router.next('unroute');
  }
  // Without a check of deadlines, which would begin further probes.
  world.clock.advance(KEYLESS_GRACE_MS);
}

/** Returns the keys that the host and the dialer get. */
async function keysOf(
  identityId: string,
  serviceId: string,
  hasKey: boolean,
): Promise<[Uint8Array | undefined, Uint8Array | undefined]> {
  router.send(world.dialFrame(identityId, serviceId, { hasKey }));
  const { egress } = await router.route();
  const created = decodeCircuitCreated(await router.frame(contentType.createCircuitV2Response));
  const [atHost, atDialer] = [
    peerDataOfEntries(egress!.peerData).get(PUBLIC_KEY),
    created.peerData.get(PUBLIC_KEY),
  ];
  return [atHost && new Uint8Array(atHost), atDialer && new Uint8Array(atDialer)];
}

test('each end gets the key of the other', async () => {
  await start();
  assert.deepEqual(await keysOf('gateway', 'open', true), [DIALER_KEY, HOST_KEY]);
  assert.deepEqual(await keysOf('guest', 'granted', true), [DIALER_KEY, HOST_KEY]);
});

test('a dialer gets the key in the answer of the host, which another process may have taken over since', async () => {
  await start();
  const later = Uint8Array.of(8);
  router.send(world.dialFrame('guest', 'granted', { hasKey: true }));
  await router.route({ peerData: new Map([[PUBLIC_KEY, later]]) });
  const created = decodeCircuitCreated(await router.frame(contentType.createCircuitV2Response));
  assert.deepEqual(new Uint8Array(created.peerData.get(PUBLIC_KEY)!), later);
});

test('a dial without a key is refused with that reason where the host has one', async () => {
  await start();
  router.send(world.dialFrame('guest', 'granted', { hasKey: false }));
  const refusal = decodeEdgeRefusal(await router.frame(contentType.error));
  assert.equal(refusal.code, EdgeErrorCode.encryptionDataMissing);
  assert.match(refusal.text, /requires end-to-end encryption, and the dialer sent no key/);
});

test('a gateway of an earlier version, which has no key, gets a circuit in clear', async () => {
  await start();
  assert.deepEqual(await keysOf('gateway', 'open', false), [undefined, undefined]);
});

test('a host of an earlier version, which has no key, gets circuits in clear from all dialers', async () => {
  await start(false);
  assert.deepEqual(await keysOf('gateway', 'open', true), [DIALER_KEY, undefined]);
  assert.deepEqual(await keysOf('guest', 'granted', false), [undefined, undefined]);
  assert.equal(world.controller.hasKeylessHost('granted'), true);
});

test('for ten minutes after a host came with a key, dialers that know nothing of it get circuits in clear', async () => {
  await start();
  await world.addService('new', 'host', { openTo: 'grants', grants: ['guest'] });
  await world.bind(router, 'host', 'new', 'at-new');
  assert.equal(world.controller.hasKeylessHost('new'), false);
  await router.route();
  await router.next('unroute');
  assert.deepEqual(await keysOf('guest', 'new', false), [undefined, undefined]);
});

test('circuits between a gateway and the only router, in one process, are in clear if our agent hosts', async () => {
  await start(true, { access: { localEnds: () => ({ gatewayId: 'gateway', routerId: 'r1' }) } });
  assert.deepEqual(await keysOf('gateway', 'open', true), [DIALER_KEY, HOST_KEY]);
  world.model.setIdentity({ ...world.model.identity('host')!, agentVersion: '1.0.0' });
  assert.deepEqual(await keysOf('gateway', 'open', true), [undefined, undefined]);
  assert.deepEqual(await keysOf('guest', 'granted', true), [DIALER_KEY, HOST_KEY]);
});

test('a gateway in the process of another router than the one of its circuit encrypts', async () => {
  await start(true, { access: { localEnds: () => ({ gatewayId: 'gateway', routerId: 'r2' }) } });
  world.model.setIdentity({ ...world.model.identity('host')!, agentVersion: '1.0.0' });
  assert.deepEqual(await keysOf('gateway', 'open', true), [DIALER_KEY, HOST_KEY]);
});
