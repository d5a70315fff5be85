import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { bytesOfHex, textOf } from '#base';
import { certificatesOfPem } from '#net';
import { fingerprintOf } from '#net/channel';
import { contentType, HeaderWriter, makeFrame } from '#wire';
import {
  decodeCircuitCreated,
  decodeEdgeRefusal,
  encodeCreateCircuitV2,
  encodeRouteResult,
  RetryHint,
  RouteErrorCode,
  peerDataOfEntries,
} from '#wire/circuits';
import { ctrlMessages, DestType, FaultSubject, type CtrlInit } from '#wire/ctrl';
import { ATTEMPT_TIMEOUT_MS, FIRST_HOST_MS } from './circuit-builder.ts';
import { OverlayWorld, tokenOf } from '../testing/overlay-world.ts';
import type { ScriptedRouter } from '../testing/scripted-router.ts';

let world: OverlayWorld;
let router: ScriptedRouter;

beforeEach(async () => {
  world = await OverlayWorld.open();
  await world.addIdentity('env1', 'environment');
  await world.addIdentity('gw1', 'gateway');
  await world.addService('svc1', 'env1');
});
afterEach(() => world.close());

/** One router that hosts svc1; its first probe is answered. */
async function hosted(): Promise<void> {
  await world.start();
  router = await world.router('r1');
  assert.equal((await world.bind(router, 'env1', 'svc1', 'term1')).result, 0);
  await router.route();
  await router.next('unroute');
}

/** `env2` dials the private share `svc2` of `env1`, which is granted to it. */
async function dialPrivateShare(): Promise<void> {
  await world.addIdentity('env2', 'environment');
  await hosted();
  await world.addService('svc2', 'env1', { openTo: 'grants', grants: ['env2'] });
  await world.bind(router, 'env1', 'svc2', 'term2');
  await router.route();
  await router.next('unroute');
  router.send(world.dialFrame('env2', 'svc2'));
}

async function refusal() {
  return decodeEdgeRefusal(await router.frame(contentType.error));
}

test('a gateway dials a public share: Route with egress, answer with the host data, proven caller', async () => {
  await hosted();
  const request = world.dialFrame('gw1', 'svc1');
  router.send(request);
  const route = await router.route({
    peerData: new Map([
      [1110, Uint8Array.of(1)],
      [1027, Uint8Array.of(2)],
    ]),
  });
  assert.match(route.circuitId, /^[0-9A-Za-z]{25}$/);
  assert.equal(route.attempt, 0);
  assert.equal(route.timeout, 10_000_000_000n);
  const { egress, forwards } = route;
  assert.deepEqual([egress?.binding, egress?.destination], ['edge', 'term1']);
  const [there, back] = forwards;
  assert.deepEqual([there?.dstType, back?.dstType], [DestType.END, DestType.START]);
  assert.deepEqual([there?.dstAddress, back?.srcAddress], [egress?.address, egress?.address]);
  // The caller claims to be "x"; the host receives its real name.
  assert.equal(textOf(peerDataOfEntries(egress!.peerData).get(1008)!), 'name-gw1');
  assert.equal(textOf(peerDataOfEntries(egress!.peerData).get(1115)!), 'gw1');
  assert.deepEqual(route.tags, { serviceId: 'svc1', clientId: 'gw1', hostId: 'env1' });

  const answer = await router.frame(contentType.createCircuitV2Response);
  assert.equal(answer.headers.i32(1), request.sequence);
  const created = decodeCircuitCreated(answer);
  assert.equal(created.circuitId, route.circuitId);
  assert.equal(created.address, there?.srcAddress);
  assert.deepEqual(
    [...created.peerData].map(([key, value]) => [key, ...value]),
    [
      [1003, 9],
      [1027, 2],
    ],
  );
  assert.equal(world.controller.circuitCount, 1);
});

test('either end reports a fault: the circuit ends once it is idle, doubles do no harm', async () => {
  await hosted();
  router.send(world.dialFrame('gw1', 'svc1'));
  const { circuitId } = await router.route();
  await router.frame(contentType.createCircuitV2Response);
  router.send(ctrlMessages.circuitConfirmation.frame({ circuitIds: [circuitId] }));
  await router.settle();
  assert.equal(router.waiting(contentType.unroute), 0);
  for (const subject of [FaultSubject.INGRESS_FAULT, FaultSubject.EGRESS_FAULT]) {
    router.send(ctrlMessages.fault.frame({ subject, id: circuitId }));
    const unroute = await router.next('unroute');
    assert.deepEqual([unroute.circuitId, unroute.now], [circuitId, false]);
  }
  assert.equal(world.controller.circuitCount, 0);
});

test("another router's fault never ends a circuit", async () => {
  await hosted();
  const stranger = await world.router('r2');
  router.send(world.dialFrame('gw1', 'svc1'));
  const { circuitId } = await router.route();
  await router.frame(contentType.createCircuitV2Response);
  for (const subject of [FaultSubject.INGRESS_FAULT, FaultSubject.FORWARD_FAULT]) {
    stranger.send(ctrlMessages.fault.frame({ subject, id: circuitId }));
    await stranger.next('unroute');
  }
  assert.equal(world.controller.circuitCount, 1);
  assert.equal(router.waiting(contentType.unroute), 0);
});

test('a refused dial is tried twice, then refused with the reason and its kind', async () => {
  await hosted();
  router.send(world.dialFrame('gw1', 'svc1'));
  const failure = {
    isSuccess: false,
    error: 'connection refused by target',
    errorCode: RouteErrorCode.connectionRefused,
  };
  const first = await router.route(failure);
  const second = await router.route(failure);
  assert.equal(second.circuitId, first.circuitId);
  assert.deepEqual([first.attempt, second.attempt], [0, 1]);
  assert.notEqual(first.egress?.address, second.egress?.address);
  const error = await refusal();
  assert.match(error.text, /share-svc1 after 2 attempts: connection refused by target/);
  assert.equal(error.routeErrorCode, RouteErrorCode.connectionRefused);
  assert.equal(error.circuitId, first.circuitId);
  assert.equal(world.controller.circuitCount, 0);
});

test('only a gateway gets the words of the host, which name the private target', async () => {
  await dialPrivateShare();
  for (let attempt = 0; attempt < 2; attempt += 1)
    await router.route({
      isSuccess: false,
      error: 'connection refused by 10.0.0.7:5432',
      errorCode: RouteErrorCode.connectionRefused,
    });
  const error = await refusal();
  assert.equal(error.text, 'no circuit to service share-svc2 after 2 attempts: it refused the connection');
  assert.equal(error.routeErrorCode, RouteErrorCode.connectionRefused);
});

test('the second attempt prefers another terminator; an unknown one is deleted when its router confirms it', async () => {
  await hosted();
  await world.bind(router, 'env1', 'svc1', 'term2');
  await router.route();
  await router.next('unroute');
  router.send(world.dialFrame('gw1', 'svc1'));
  const first = await router.route({
    isSuccess: false,
    error: 'gone',
    errorCode: RouteErrorCode.invalidTerminator,
  });
  const second = await router.route();
  await router.frame(contentType.createCircuitV2Response);
  const ids = [first, second].map(({ egress }) => egress?.destination);
  assert.deepEqual(new Set(ids), new Set(['term1', 'term2']));
  const [asked] = (await router.validate({ [ids[0]!]: false })).terminators;
  assert.equal(asked?.id, ids[0]);
  await router.settle();
  assert.deepEqual(await terminatorIds(), [ids[1]]);
});

async function terminatorIds(): Promise<string[]> {
  const rows = await world.store.db.selectFrom('terminator').select('id').execute();
  return rows.map(({ id }) => id);
}

const UNKNOWN = { isSuccess: false, error: 'gone', errorCode: RouteErrorCode.invalidTerminator };

test('a dial to a channel that is gone changes nothing once the host has bound the terminator again', async () => {
  await hosted();
  router.send(world.dialFrame('gw1', 'svc1'));
  const lost = await router.frame(contentType.route);
  await world.bind(router, 'env1', 'svc1', 'term1');
  // The probe of the new bind.
  await router.route();
  await router.next('unroute');
  const { circuitId, attempt } = ctrlMessages.route.decode(lost.body);
  router.send(encodeRouteResult(lost, { ...UNKNOWN, circuitId, attempt, peerData: new Map() }));
  assert.equal((await router.route()).egress?.destination, 'term1');
  await router.frame(contentType.createCircuitV2Response);
  await router.settle();
  assert.equal(router.waiting(contentType.validateTerminatorsV2), 0);
  assert.deepEqual(await terminatorIds(), ['term1']);
  assert.equal(world.controller.status.service('svc1').state, 'DEPLOYED');
});

test('a bind between the question to the router and its answer outlives the answer', async () => {
  await hosted();
  router.send(world.dialFrame('gw1', 'svc1'));
  for (let attempt = 0; attempt < 2; attempt += 1) await router.route(UNKNOWN);
  await router.frame(contentType.error);
  const question = await router.frame(contentType.validateTerminatorsV2);
  await world.bind(router, 'env1', 'svc1', 'term1');
  router.answerValidation(question, { term1: false });
  await router.settle();
  assert.deepEqual(await terminatorIds(), ['term1']);
});

test('a terminator that was removed although its router hosts it is added again within two seconds', async () => {
  await hosted();
  const row = await world.store.db.selectFrom('terminator').selectAll().executeTakeFirstOrThrow();
  await world.store.transaction(async (trx, touch) => {
    await trx.deleteFrom('terminator').execute();
    touch('terminator', row.id);
  });
  world.advance(1_000);
  await router.validate({ term1: true });
  await router.route();
  await router.next('unroute');
  assert.deepEqual(await terminatorIds(), ['term1']);
  router.send(world.dialFrame('gw1', 'svc1'));
  await router.route();
  await router.frame(contentType.createCircuitV2Response);
  world.advance(3_000);
  assert.equal(world.controller.status.service('svc1').state, 'DEPLOYED');
});

test('a host that does not answer is not dialed a second time while it is the only one, and has less time beside another', async () => {
  await hosted();
  const silent = {
    isSuccess: false,
    error: 'the host did not answer within 5000 ms',
    errorCode: RouteErrorCode.dialTimeout,
  };
  router.send(world.dialFrame('gw1', 'svc1'));
  await router.route(silent);
  const { text, routeErrorCode } = await refusal();
  assert.match(text, /after 1 attempt: the host did not answer/);
  assert.equal(routeErrorCode, RouteErrorCode.dialTimeout);
  // The probe that the failure caused is due a second later.
  await world.bind(router, 'env1', 'svc1', 'term2');
  await router.route();
  await router.next('unroute');
  router.send(world.dialFrame('gw1', 'svc1'));
  const first = await router.route(silent);
  const second = await router.route();
  await router.frame(contentType.createCircuitV2Response);
  assert.notEqual(second.egress?.destination, first.egress?.destination);
  assert.deepEqual(
    [first, second].map(({ timeout }) => Number(timeout / 1_000_000n)),
    [FIRST_HOST_MS, ATTEMPT_TIMEOUT_MS],
  );
});

test('required goes before cheaper, and cheaper before dear', async () => {
  await hosted();
  await world.bind(router, 'env1', 'svc1', 'term2');
  await router.route();
  await router.next('unroute');
  const update = async (terminatorId: string, change: CtrlInit<'updateEdgeTerminator'>): Promise<void> => {
    const session = { sessionToken: tokenOf('Bind', 'svc1', 'env1'), apiSessionToken: 'token-env1' };
    const body = {
      ...session,
      fingerprints: ['fp-env1'],
      terminatorId,
      ...change,
    } as CtrlInit<'updateEdgeTerminator'>;
    router.send(ctrlMessages.updateEdgeTerminator.frame(body));
    await router.frame(contentType.updateEdgeTerminatorResponse);
  };
  const dialed = async (): Promise<string | undefined> => {
    router.send(world.dialFrame('gw1', 'svc1'));
    const { egress } = await router.route();
    await router.frame(contentType.createCircuitV2Response);
    return egress?.destination;
  };
  await update('term1', { updateCost: true, cost: 100 });
  for (let i = 0; i < 5; i += 1) assert.equal(await dialed(), 'term2');
  await update('term1', { updatePrecedence: true, precedence: 1 });
  for (let i = 0; i < 5; i += 1) assert.equal(await dialed(), 'term1');
  await update('term1', { updatePrecedence: true, precedence: 2 });
  assert.equal(await dialed(), 'term2');
});

test('a cost out of range and a foreign terminator are refused', async () => {
  await hosted();
  const session = {
    sessionToken: tokenOf('Bind', 'svc1', 'env1'),
    apiSessionToken: 'token-env1',
    fingerprints: ['fp-env1'],
  };
  const ask = async (terminatorId: string, cost: number): Promise<number> => {
    router.send(
      ctrlMessages.updateEdgeTerminator.frame({ ...session, terminatorId, updateCost: true, cost }),
    );
    return (await refusal()).code;
  };
  assert.equal(await ask('term1', 65_536), 10);
  assert.equal(await ask('nope', 1), 8);
  const removal = ctrlMessages.removeEdgeTerminator.frame({ ...session, terminatorId: 'term1' });
  router.send(removal);
  await router.frame(contentType.removeEdgeTerminatorResponse);
  router.send(world.dialFrame('gw1', 'svc1'));
  assert.equal((await refusal()).code, 8);
});

test('a router that does not answer: two attempts of ten seconds, then a refusal; a late success is unrouted', async () => {
  await hosted();
  router.send(world.dialFrame('gw1', 'svc1'));
  await router.frame(contentType.route);
  world.advance(9_900);
  await router.settle();
  assert.equal(router.waiting(contentType.route), 0);
  world.advance(200);
  const frame = await router.frame(contentType.route);
  const { circuitId, attempt } = ctrlMessages.route.decode(frame.body);
  assert.equal(attempt, 1);
  world.advance(10_100);
  const error = await refusal();
  assert.match(error.text, /no answer from router r1 in time/);
  assert.equal(error.routeErrorCode, RouteErrorCode.dialTimeout);
  router.send(
    encodeRouteResult(frame, {
      circuitId,
      attempt,
      isSuccess: true,
      error: '',
      errorCode: 0,
      peerData: new Map(),
    }),
  );
  const unroute = await router.next('unroute');
  assert.deepEqual([unroute.circuitId, unroute.now], [circuitId, true]);
});

test('a dial is accepted with the client’s whole chain in any order, as OpenZiti’s routers send it', async () => {
  await hosted();
  const authorities = certificatesOfPem(world.pki.caBundlePem).map(fingerprintOf);
  assert.ok(authorities.length > 0);
  for (const fingerprints of [
    ['fp-gw1', ...authorities],
    [...authorities, 'fp-gw1'],
  ]) {
    router.send(world.dialFrame('gw1', 'svc1', { fingerprints }));
    await router.route();
    await router.frame(contentType.createCircuitV2Response);
  }
});

test('dials are refused without log-in, leaf, policy or host', async () => {
  await world.addService('svc2', 'env1', { openTo: 'grants', grants: [] });
  await hosted();
  const cases: [ReturnType<typeof world.dialFrame>, number, number][] = [
    [world.dialFrame('gw1', 'svc1', { token: 'forged' }), 2, RetryHint.startOver],
    [world.dialFrame('gw1', 'svc1', { fingerprints: ['other', 'fp-gw1'] }), 2, RetryHint.startOver],
    [world.dialFrame('gw1', 'svc1', { fingerprints: ['fp-gw1', 'other'] }), 2, RetryHint.startOver],
    [world.dialFrame('gw1', 'svc1', { fingerprints: [] }), 2, RetryHint.startOver],
    [
      world.dialFrame('gw1', 'svc1', { token: 'token-env1', fingerprints: ['fp-env1'] }),
      3,
      RetryHint.startOver,
    ],
    [world.dialFrame('gw1', 'svc2'), 3, RetryHint.startOver],
    [world.dialFrame('env1', 'svc1'), 3, RetryHint.startOver],
    [world.dialFrame('gw1', 'nope'), 6, RetryHint.notRetriable],
  ];
  for (const [frame, code, retryHint] of cases) {
    router.send(frame);
    const error = await refusal();
    assert.deepEqual([error.code, error.retryHint], [code, retryHint]);
    assert.notEqual(error.text, '');
  }
  router.send(ctrlMessages.removeTerminators.frame({ terminatorIds: ['term1'] }));
  router.send(world.dialFrame('gw1', 'svc1'));
  const error = await refusal();
  assert.deepEqual(
    [error.code, error.text],
    [8, 'service share-svc1 has no terminators: no agent hosts it now'],
  );
});

test('a bind session does not dial, and an empty request closes nothing', async () => {
  await hosted();
  router.send(
    encodeCreateCircuitV2({
      sessionToken: tokenOf('Bind', 'svc1', 'env1'),
      apiSessionToken: 'token-env1',
      fingerprints: ['fp-env1'],
      terminatorInstanceId: '',
      peerData: new Map(),
    }),
  );
  assert.equal((await refusal()).code, 4);
  router.send(makeFrame(contentType.createCircuitV2));
  assert.equal((await refusal()).code, 2);
  router.send(makeFrame(contentType.createCircuitV3));
  assert.equal((await refusal()).code, 2);
  router.send(
    makeFrame(contentType.createCircuitV2, { headers: new HeaderWriter().bytes(12, bytesOfHex('ffffffff')) }),
  );
  await router.closed();
});

test('a granted environment dials a private share; without the grant its circuits end', async () => {
  await dialPrivateShare();
  const { circuitId } = await router.route();
  await router.frame(contentType.createCircuitV2Response);
  world.model.setHostedService({ ...world.model.hostedService('svc2')!, grants: [] });
  const unroute = await router.next('unroute');
  assert.deepEqual([unroute.circuitId, unroute.now], [circuitId, true]);
  router.send(world.dialFrame('env2', 'svc2'));
  assert.equal((await refusal()).code, 3);
});

test('the host at another router: refused without a link, through the link once there is one', async () => {
  await hosted();
  const ingress = await world.router('r2');
  ingress.send(world.dialFrame('gw1', 'svc1'));
  const error = decodeEdgeRefusal(await ingress.frame(contentType.error));
  assert.match(error.text, /hosted at router r1, which router r2 cannot reach/);

  router.send(
    ctrlMessages.routerLinks.frame({
      links: [{ id: 'link1', destRouterId: 'r2', iteration: 1 }],
      fullRefresh: true,
    }),
  );
  await router.settle();
  ingress.send(world.dialFrame('gw1', 'svc1'));
  const near = await ingress.route();
  const far = await router.route();
  assert.equal(near.egress, undefined);
  assert.equal(far.egress?.destination, 'term1');
  assert.deepEqual(near.forwards.map(({ dstAddress, dstType }) => [dstAddress, dstType])[0], [
    'link1',
    DestType.LINK,
  ]);
  assert.deepEqual(far.forwards.map(({ srcAddress, dstType }) => [srcAddress, dstType])[1], [
    'link1',
    DestType.END,
  ]);
  await ingress.frame(contentType.createCircuitV2Response);

  ingress.send(ctrlMessages.fault.frame({ subject: FaultSubject.LINK_FAULT, id: 'link1', iteration: 1 }));
  assert.equal((await ingress.next('unroute')).circuitId, near.circuitId);
  assert.equal((await router.next('unroute')).circuitId, near.circuitId);
  assert.equal((await router.next('fault')).id, 'link1');
});

test('one of two routers fails: the other one is cleaned up', async () => {
  await hosted();
  const ingress = await world.router('r2');
  router.send(ctrlMessages.routerLinks.frame({ links: [{ id: 'link1', destRouterId: 'r2', iteration: 1 }] }));
  await router.settle();
  ingress.send(world.dialFrame('gw1', 'svc1'));
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await ingress.route();
    await ingress.settle();
    await router.route({ isSuccess: false, error: 'no', errorCode: 0 });
  }
  decodeEdgeRefusal(await ingress.frame(contentType.error));
  assert.equal((await ingress.next('unroute')).now, true);
  await router.settle();
  assert.equal(router.waiting(contentType.unroute), 0);
});

test('a router that only the first attempt used gets an Unroute', async () => {
  await hosted();
  const ingress = await world.router('r2');
  const second = await world.router('r3');
  await world.bind(second, 'env1', 'svc1', 'term3');
  for (const [host, id] of [
    [router, 'link1'],
    [second, 'link3'],
  ] as const) {
    host.send(ctrlMessages.routerLinks.frame({ links: [{ id, destRouterId: 'r2', iteration: 1 }] }));
    await host.settle();
  }
  // Probes are not part of this test.
  for (const host of [router, second])
    while (host.waiting(contentType.route) > 0) await host.frame(contentType.route);
  ingress.send(world.dialFrame('gw1', 'svc1'));
  const failing = await ingress.frame(contentType.route);
  const { circuitId, forwards } = ctrlMessages.route.decode(failing.body);
  const [used, other] = forwards[0]?.dstAddress === 'link1' ? [router, second] : [second, router];
  await used.route();
  await used.settle();
  const failure = {
    circuitId,
    attempt: 0,
    isSuccess: false,
    error: 'no link',
    errorCode: 8,
    peerData: new Map(),
  };
  ingress.send(encodeRouteResult(failing, failure));
  await ingress.route();
  await other.route();
  await ingress.frame(contentType.createCircuitV2Response);
  const unroute = await used.next('unroute');
  assert.deepEqual([unroute.circuitId, unroute.now], [circuitId, true]);
});

test('the hosting router goes while a dial waits: refused at once, not after the deadline', async () => {
  await hosted();
  const ingress = await world.router('r2');
  router.send(ctrlMessages.routerLinks.frame({ links: [{ id: 'link1', destRouterId: 'r2', iteration: 1 }] }));
  await router.settle();
  ingress.send(world.dialFrame('gw1', 'svc1'));
  await ingress.route();
  await router.frame(contentType.route);
  router.channel.close('killed');
  const error = decodeEdgeRefusal(await ingress.frame(contentType.error));
  assert.match(error.text, /cannot reach/);
  assert.equal((await ingress.next('unroute')).now, true);
});

test('too many dials in progress are refused with a hint to wait, and room comes back', async () => {
  await world.start({ tuning: { pendingLimits: { maxPendingPerRouter: 3, maxPendingPerIdentity: 2 } } });
  router = await world.router('r1');
  await world.bind(router, 'env1', 'svc1', 'term1');
  await router.route();
  await router.next('unroute');
  for (let i = 0; i < 3; i += 1) router.send(world.dialFrame('gw1', 'svc1'));
  const error = await refusal();
  assert.deepEqual(
    [error.retryHint, error.text],
    [RetryHint.tooBusy, 'this identity has too many dials in progress'],
  );
  await router.route();
  await router.route();
  await router.frame(contentType.createCircuitV2Response);
  await router.frame(contentType.createCircuitV2Response);
  router.send(world.dialFrame('gw1', 'svc1'));
  await router.route();
  await router.frame(contentType.createCircuitV2Response);
});

test('circuits are bounded; those of a router that was away make room first', async () => {
  await world.start({ tuning: { circuitLimits: { maxCircuits: 2, maxCircuitsPerIdentity: 10 } } });
  router = await world.router('r1');
  await world.bind(router, 'env1', 'svc1', 'term1');
  await router.route();
  await router.next('unroute');
  const dial = async (): Promise<string> => {
    router.send(world.dialFrame('gw1', 'svc1'));
    const { circuitId } = await router.route();
    await router.frame(contentType.createCircuitV2Response);
    return circuitId;
  };
  const first = await dial();
  await dial();
  router.send(world.dialFrame('gw1', 'svc1'));
  assert.equal((await refusal()).retryHint, RetryHint.tooBusy);
  router.channel.close('away');
  await router.closed();
  world.clock.advance(61_000);
  router = await world.router('r1');
  await router.route();
  await router.next('unroute');
  await dial();
  assert.equal((await router.next('unroute')).circuitId, first);
  assert.equal(world.controller.circuitCount, 2);
});
