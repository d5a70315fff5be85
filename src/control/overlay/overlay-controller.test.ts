import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { fingerprintOf } from '#net/channel';
import { contentType, hasCapability, headerId, HeaderWriter, makeFrame, textOfBody, type Frame } from '#wire';
import {
  ctrlMessages,
  decodeControllerHello,
  encodeRouterHello,
  FaultSubject,
  type CtrlInit,
} from '#wire/ctrl';
import { channelOf, frameOfHex, loadRecordedFrames } from '../../../test/support/recorded-frames.ts';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { effort } from '../../../test/support/test-part.ts';
import { OverlayWorld, tokenOf, VERSION_TEXT } from './testing/overlay-world.ts';

let world: OverlayWorld;

beforeEach(async () => {
  world = await OverlayWorld.open();
  await world.addIdentity('env1', 'environment');
  await world.addIdentity('gw1', 'gateway');
});
afterEach(() => world.close());

test('a router connects, announces its address for SDKs, and gets sessions and keys', async () => {
  for (let i = 0; i < 248; i += 1) {
    world.sessions.add({
      id: `s${i}`,
      token: `t${i}`,
      identityId: 'gw1',
      fingerprints: ['fp'],
      isSigned: false,
    });
  }
  await world.start();
  const router = await world.router('r1', 3099);
  assert.equal(router.channel.peer.id, 'ctrl1');
  const hello = decodeControllerHello(makeFrame(2, { headers: router.channel.peer.hello }));
  assert.equal(hasCapability(hello?.capabilities, 6), true);
  assert.equal(hasCapability(hello?.capabilities, 5), false);
  const seen = new Set<string>();
  for (let sequence = 0; sequence < 3; sequence += 1) {
    const frame = await router.frame(contentType.apiSessionAdded);
    const state = JSON.parse(frame.headers.text(headerId.apiSessions.state)!) as Record<string, unknown>;
    assert.deepEqual([state.sequence, state.isLast], [sequence, sequence === 2]);
    const body = ctrlMessages.apiSessionAdded.decode(frame.body);
    assert.equal(body.isFullState, true);
    assert.ok(body.apiSessions.length <= 100);
    for (const { token } of body.apiSessions) seen.add(token);
  }
  assert.equal(seen.size, 250);
  const keys = await router.next('dataStateChangeSet');
  assert.equal(keys.isSynthetic, true);
  assert.equal(keys.changes[0]?.model.case, 'publicKey');
  assert.deepEqual(world.controller.routers(), [
    { id: 'r1', name: 'name-r1', hostname: 'localhost', port: 3099, isOnline: true },
  ]);
});

test('clients get the address of a router’s tls listener, and none of its other listeners', async () => {
  await world.start();
  for (const [id, protocols, port] of [
    ['r1', ['wss', 'tls'], 4_001],
    ['r2', ['wss'], undefined],
  ] as const) {
    const router = await world.dial(id, await world.identityOf(id));
    await world.sayHello(router, 4_000, protocols);
    const found = world.controller.routers().find((one) => one.id === id);
    assert.equal(found?.port, port, id);
  }
});

test('sessions that come and go are pushed, tokens in use are touched, a resync sends all again', async () => {
  await world.start();
  const router = await world.router('r1');
  await router.frame(contentType.apiSessionAdded);
  world.sessions.add({ id: 'sx', token: 'tx', identityId: 'gw1', fingerprints: ['fx'], isSigned: false });
  const added = await router.next('apiSessionAdded');
  assert.equal(added.isFullState, false);
  assert.deepEqual(
    added.apiSessions.map(({ token, certFingerprints }) => [token, certFingerprints]),
    [['tx', ['fx']]],
  );
  world.sessions.remove('tx');
  assert.deepEqual((await router.next('apiSessionRemoved')).tokens, ['tx']);
  router.send(ctrlMessages.apiSessionHeartbeat.frame({ tokens: ['token-gw1'] }));
  router.send(ctrlMessages.requestClientReSync.frame({ reason: 'test' }));
  await router.settle();
  assert.deepEqual(world.sessions.touched, ['token-gw1']);
  world.advance(1_100);
  assert.equal((await router.next('apiSessionAdded')).isFullState, true);
});

test('only the enrolled certificate of that very router gets in', async () => {
  await world.start();
  const r1 = await world.router('r1');
  const unknown = await world.certificate('r2');
  await assert.rejects(world.dial('r2', unknown), /refused/);
  await assert.rejects(world.dial('r1', unknown), /refused/);
  const client = await world.clientCertificate('env1');
  await assert.rejects(world.dial('env1', client), /refused/);
  // An enrolled router under another router's name.
  await world.addIdentity('r3', 'router', ['fp-r3']);
  const third = await world.certificate('r3');
  const fingerprint = fingerprintOf(new X509Certificate(third.cert));
  world.model.setIdentity({ ...world.model.identity('r3')!, fingerprints: [fingerprint] });
  await assert.rejects(world.dial('r4', third), /refused/);
  // Another router's certificate behind the own one proves nothing.
  const filler = await world.certificate('r1');
  await assert.rejects(world.dial('r1', { ...unknown, cert: unknown.cert + filler.cert }), /refused/);
  const headers = new HeaderWriter()
    .text(headerId.channel.type, 'ctrl.default')
    .bool(headerId.channel.isGrouped, true);
  await assert.rejects(world.dial('r1', client, headers.build()), /refused/);
  assert.equal(r1.closeReason, undefined);
  assert.equal(world.logLines.filter((line) => line.includes('channel refused')).length, 6);
});

test('a second channel of a connected router is refused for a minute, and replaces the first after it', async () => {
  await world.start();
  const first = await world.router('r1');
  await assert.rejects(world.router('r1'), /refused/);
  assert.equal(first.closeReason, undefined);
  world.advance(60_000);
  const second = await world.router('r1');
  await first.closed();
  assert.equal(second.closeReason, undefined);
  assert.equal(world.controller.routers()[0]?.isOnline, true);
});

test('a grouped hello of a 2.x router is answered with group and secret', async () => {
  await world.start();
  const headers = new HeaderWriter()
    .text(headerId.channel.helloVersion, VERSION_TEXT)
    .text(headerId.channel.type, 'ctrl.default')
    .bool(headerId.channel.isGrouped, true)
    .bool(headerId.channel.isFirstGroupConnection, true)
    .bytes(headerId.ctrlHello.capabilities, Uint8Array.of(2));
  const identity = await world.certificate('r9');
  await world.addIdentity('r9', 'router', [fingerprintOf(new X509Certificate(identity.cert))]);
  const router = await world.dial('r9', identity, headers.build());
  assert.equal(router.channel.peer.hello.bool(headerId.channel.isGrouped), true);
  assert.equal(router.channel.peer.hello.bytes(headerId.channel.groupSecret)?.length, 16);
  await world.sayHello(router);
});

test('routers are notified of each other, and of one that leaves', async () => {
  await world.start();
  const r1 = await world.router('r1');
  const r2 = await world.router('r2');
  assert.deepEqual(
    (await r1.next('peerStateChanges')).changes.map(({ id, state }) => [id, state]),
    [['r2', 0]],
  );
  assert.deepEqual(
    (await r2.next('peerStateChanges')).changes.map(({ id }) => id),
    ['r1'],
  );
  r2.channel.close('bye');
  assert.deepEqual(
    (await r1.next('peerStateChanges')).changes.map(({ id, state }) => [id, state]),
    [['r2', 1]],
  );
  world.model.removeIdentity('r1');
  await r1.closed();
});

test('a malformed body closes that channel alone; unknown types and absent fields close nothing', async () => {
  await world.start();
  await world.addService('svc1', 'env1');
  const r1 = await world.router('r1');
  const r2 = await world.router('r2');
  r2.send(makeFrame(4_242, { body: 'what' }));
  for (const type of Object.values(contentType)) {
    if (type === contentType.hello || type === contentType.routeResult) continue;
    r2.send(makeFrame(type));
  }
  await r2.settle();
  assert.equal(r2.closeReason, undefined);
  r1.send(makeFrame(contentType.fault, { body: Uint8Array.of(0x12, 0xff, 0xff, 0xff, 0xff, 0x0f) }));
  await r1.closed();
  await r2.settle();
  assert.equal(world.logLines.filter((line) => line.includes('malformed message')).length, 1);
});

test('routers verify each other by the leaf of an enrolled router', async () => {
  await world.start();
  const r1 = await world.router('r1');
  const r2 = await world.router('r2');
  const known = world.model.identity('r2')!.fingerprints[0]!;
  const ask = async (routerId: string, fingerprints: string[]): Promise<boolean> => {
    const answer = await r1.channel.request(
      ctrlMessages.verifyRouter.frame({ routerId, fingerprints }),
      5_000,
    );
    return answer.headers.bool(headerId.channel.resultSuccess);
  };
  assert.equal(await ask('r2', [known]), true);
  assert.equal(await ask('r2', ['00', known]), false);
  assert.equal(await ask('env1', ['fp-env1']), false);
  assert.equal(await ask('r2', []), false);
  assert.equal(r2.closeReason, undefined);
});

test('terminators: created, idempotent, listed after a restart, removed', async () => {
  await world.start();
  await world.addService('svc1', 'env1');
  const router = await world.router('r1');
  assert.equal((await world.bind(router, 'env1', 'svc1', 'term1')).result, 0);
  assert.equal((await world.bind(router, 'env1', 'svc1', 'term1')).result, 0);
  const rows = () => world.store.db.selectFrom('terminator').selectAll().execute();
  assert.deepEqual(
    (await rows()).map(({ id, peer_data }) => [id, peer_data]),
    [['term1', '{"1003":"CQ=="}']],
  );

  await world.controller.close();
  await router.closed();
  await world.start();
  const again = await world.router('r1');
  const asked = await again.next('validateTerminatorsV2');
  assert.deepEqual(
    asked.terminators.map(({ id, binding, address }) => [id, binding, address]),
    [['term1', 'edge', 'term1']],
  );
  again.send(ctrlMessages.removeTerminators.frame({ terminatorIds: ['term1', 'unknown'] }));
  assert.equal((await again.frame(contentType.result)).headers.bool(2), true);
  assert.deepEqual(await rows(), []);
});

test('a terminator is refused without the right session, policy or owner', async () => {
  await world.start();
  await world.addIdentity('env2', 'environment');
  await world.addService('svc1', 'env1');
  const r1 = await world.router('r1');
  const r2 = await world.router('r2');
  const wrongHost = await world.bind(r1, 'env2', 'svc1', 'term1');
  assert.deepEqual([wrongHost.result, wrongHost.errorCode, wrongHost.retryHint], [2, 3, 2]);
  const dialToken = {
    sessionToken: tokenOf('Dial', 'svc1', 'env1'),
    apiSessionToken: 'token-env1',
    fingerprints: ['fp-env1'],
  };
  r1.send(ctrlMessages.createTerminatorV2.frame({ address: 'term1', ...dialToken }));
  assert.equal((await r1.next('createTerminatorV2Response')).errorCode, 4);
  r1.send(
    ctrlMessages.createTerminatorV2.frame({
      ...dialToken,
      address: 'term1',
      fingerprints: ['other', 'fp-env1'],
    }),
  );
  assert.equal((await r1.next('createTerminatorV2Response')).errorCode, 2);
  assert.equal((await world.bind(r1, 'env1', 'svc1', '')).result, 2);
  assert.equal((await world.bind(r1, 'env1', 'svc1', 'term1')).result, 0);
  // The other router can neither take nor remove it.
  assert.equal((await world.bind(r2, 'env1', 'svc1', 'term1')).result, 2);
  r2.send(ctrlMessages.removeTerminators.frame({ terminatorIds: ['term1'] }));
  await r2.frame(contentType.result);
  assert.equal((await world.store.db.selectFrom('terminator').selectAll().execute()).length, 1);
});

test('a new terminator is validated after some seconds, and removed when its router does not have it', async () => {
  await world.start();
  await world.addService('svc1', 'env1');
  const router = await world.router('r1');
  await world.bind(router, 'env1', 'svc1', 'term1');
  await world.bind(router, 'env1', 'svc1', 'term2');
  world.advance(4_000);
  await router.settle();
  assert.equal(router.waiting(contentType.validateTerminatorsV2), 0);
  world.advance(3_000);
  const frame = await router.frame(contentType.validateTerminatorsV2);
  const { terminators, fixInvalid } = ctrlMessages.validateTerminatorsV2.decode(frame.body);
  assert.equal(fixInvalid, true);
  const states: NonNullable<CtrlInit<'validateTerminatorsV2Response'>['states']> = {};
  for (const { id, marker } of terminators) states[id] = { valid: id === 'term1', marker };
  // An answer with another marker speaks of another terminator.
  router.send(
    ctrlMessages.validateTerminatorsV2Response.frame({ states: { term1: { valid: false, marker: 999n } } }),
  );
  router.channel.reply(frame, ctrlMessages.validateTerminatorsV2Response.frame({ states }));
  await router.settle();
  const rows = await world.store.db.selectFrom('terminator').select('id').execute();
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['term1'],
  );
});

test('a resource that is deleted from the model is removed from the overlay', async () => {
  await world.start();
  await world.addService('svc1', 'env1');
  await world.addService('svc2', 'env1');
  const router = await world.router('r1');
  await world.bind(router, 'env1', 'svc1', 'term1');
  await world.bind(router, 'env1', 'svc2', 'term2');
  for (let probes = 0; probes < 2; probes += 1) {
    await router.route();
    await router.next('unroute');
  }
  for (const serviceId of ['svc1', 'svc2']) {
    router.send(world.dialFrame('gw1', serviceId));
    await router.route();
    await router.frame(contentType.createCircuitV2Response);
  }
  assert.equal(world.controller.circuitCount, 2);
  world.model.removeHostedService('svc1');
  const unroute = await router.next('unroute');
  assert.equal(unroute.now, true);
  assert.equal(world.controller.circuitCount, 1);
  world.sessions.remove('token-gw1');
  assert.equal((await router.next('unroute')).now, true);
  assert.equal(world.controller.circuitCount, 0);
  world.model.removeIdentity('env1');
  router.send(world.dialFrame('gw1', 'svc2'));
  await router.frame(contentType.error);
  const rows = await world.store.db.selectFrom('terminator').select('id').execute();
  assert.deepEqual(rows, []);
});

test('a connection shows in the environment, and ends with the router', async () => {
  await world.start();
  const router = await world.router('r1');
  assert.equal(world.controller.status.isConnected('env1'), false);
  const notified: string[] = [];
  world.controller.status.onMeasured((kind, id) => void notified.push(`${kind} ${id}`));
  const events = [
    { identityId: 'env1', isConnected: true },
    { identityId: 'nobody', isConnected: true },
  ];
  router.send(ctrlMessages.connectEvents.frame({ events }));
  await router.settle();
  assert.equal(world.controller.status.isConnected('env1'), true);
  assert.equal(world.controller.status.isConnected('nobody'), false);
  // Listeners keep something for each id, so ids that a router made up are not passed on.
  assert.deepEqual(notified, ['identity env1']);
  router.send(ctrlMessages.connectEvents.frame({ fullState: true }));
  await router.settle();
  assert.equal(world.controller.status.isConnected('env1'), false);
  router.send(ctrlMessages.connectEvents.frame({ events }));
  await router.settle();
  router.channel.close('bye');
  const other = await world.router('r2');
  await other.settle();
  assert.equal(world.controller.status.isConnected('env1'), false);
});

test('unknown idle circuits are unrouted, and pings and diagnostics answered', async () => {
  await world.start();
  const router = await world.router('r1');
  router.send(ctrlMessages.circuitConfirmation.frame({ circuitIds: ['c1', 'c2'] }));
  assert.deepEqual(
    [(await router.next('unroute')).circuitId, (await router.next('unroute')).circuitId],
    ['c1', 'c2'],
  );
  router.send(ctrlMessages.fault.frame({ subject: FaultSubject.FORWARD_FAULT, id: 'c3 c4' }));
  assert.deepEqual(
    [(await router.next('unroute')).now, (await router.next('unroute')).circuitId],
    [true, 'c4'],
  );
  const ping = await router.channel.request(makeFrame(contentType.ping), 5_000);
  assert.equal(textOfBody(ping), 'ok');
  const interfaces = await router.channel.request(ctrlMessages.updateRouterInterfaces.frame({}), 5_000);
  assert.equal(interfaces.headers.bool(2), true);
});

test('recorded router frames, whole and damaged, end at most their own channel', async () => {
  await world.start();
  await world.addService('svc1', 'env1');
  const other = await world.router('r2');
  const identity = await world.certificate('r1');
  await world.addIdentity('r1', 'router', [fingerprintOf(new X509Certificate(identity.cert))]);
  const random = new SeededRandom(7);
  let router = await dialRetrying(identity);
  for (const recorded of loadRecordedFrames()) {
    if (recorded.frame === undefined || channelOf(recorded) !== 'ctrl' || recorded.from === 'controller')
      continue;
    if (recorded.type === contentType.hello) continue;
    for (let round = 0; round < 5; round += 1) {
      if (router.closeReason !== undefined) router = await dialRetrying(identity);
      router.send(round === 0 ? frameOfHex(recorded.frame) : damaged(frameOfHex(recorded.frame), random));
      await router.settle().catch(() => router.closed());
    }
  }
  await other.settle();
  assert.equal(other.closeReason, undefined);
  assert.deepEqual(
    world.logLines.filter((line) => line.startsWith('error')),
    [],
  );
});

test('reconnects leave no channel, timer or listener behind', async () => {
  await world.start();
  const router = await world.router('r1');
  const identity = await world.certificate('r1');
  const own = world.model.identity('r1')!;
  const fingerprint = fingerprintOf(new X509Certificate(identity.cert));
  world.model.setIdentity({ ...own, fingerprints: [...own.fingerprints, fingerprint] });
  router.channel.close('start');
  const handlesBefore = process.getActiveResourcesInfo().length;
  const rounds = effort(250);
  for (let round = 0; round < rounds; round += 1) {
    const channel = await dialRetrying(identity);
    channel.channel.close('again');
  }
  const last = await dialRetrying(identity);
  await world.sayHello(last);
  const handlesAfter = process.getActiveResourcesInfo().length;
  assert.ok(handlesAfter - handlesBefore < Math.min(30, rounds), `${handlesBefore} → ${handlesAfter}`);
  assert.equal(world.logLines.filter((line) => line.startsWith('error')).length, 0);
});

async function dialRetrying(identity: Parameters<OverlayWorld['dial']>[1]) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await world.dial('r1', identity, encodeRouterHello(VERSION_TEXT, []));
    } catch (error) {
      // The end of the last connection may still be on its way.
      if (attempt === 50) throw error;
    }
  }
}

/** Some bytes of body and header values changed, the body maybe cut; the framing itself stays whole. */
function damaged(frame: Frame, random: SeededRandom): Frame {
  const body = new Uint8Array(frame.body);
  for (let i = 0; i < 3 && body.length > 0; i += 1) body[random.int(body.length)] = random.int(256);
  const headers = new HeaderWriter();
  for (const [id, value] of frame.headers.entries()) {
    const copy = new Uint8Array(value);
    if (copy.length > 0 && random.int(2) === 0) copy[random.int(copy.length)] = random.int(256);
    if (random.int(10) > 0) headers.bytes(id, random.int(5) > 0 ? copy : copy.subarray(1));
  }
  const end = random.int(2) === 0 ? body.length : random.int(body.length);
  return makeFrame(frame.contentType, { headers, body: body.subarray(0, end) });
}
