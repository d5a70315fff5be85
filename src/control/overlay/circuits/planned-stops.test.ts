// Routers are notified when a far end, a router or the controller itself is about to stop.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { contentType, makeFrame, textOfBody, versionHeader } from '#wire';
import { ctrlMessages, encodeRouterHello, TerminatorPrecedence } from '#wire/ctrl';
import { until } from '../../../../test/support/deadline.ts';
import { OverlayWorld, tokenOf } from '../testing/overlay-world.ts';
import type { ScriptedRouter } from '../testing/scripted-router.ts';

const OWN_HELLO = encodeRouterHello(versionHeader('linux', 'x64'), []);

let world: OverlayWorld;
let router: ScriptedRouter;

beforeEach(async () => {
  world = await OverlayWorld.open();
  await world.addIdentity('env1', 'environment');
  await world.addIdentity('gw1', 'gateway');
  await world.addService('svc1', 'env1');
  await world.start();
});
afterEach(() => world.close());

async function connect(hello = OWN_HELLO): Promise<ScriptedRouter> {
  const connected = await world.dial('r1', await world.identityOf('r1'), hello);
  await world.sayHello(connected);
  return connected;
}

/** A circuit of gw1 to svc1, which `router` hosts. */
async function circuit(): Promise<string> {
  assert.equal((await world.bind(router, 'env1', 'svc1', 'term1')).result, 0);
  await router.route();
  await router.next('unroute');
  router.send(world.dialFrame('gw1', 'svc1'));
  const { circuitId } = await router.route();
  await router.frame(contentType.createCircuitV2Response);
  return circuitId;
}

async function lower(): Promise<void> {
  const frame = ctrlMessages.updateEdgeTerminator.frame({
    sessionToken: tokenOf('Bind', 'svc1', 'env1'),
    apiSessionToken: 'token-env1',
    fingerprints: ['fp-env1'],
    terminatorId: 'term1',
    updatePrecedence: true,
    precedence: TerminatorPrecedence.FAILED,
  });
  router.send(frame);
  await router.frame(contentType.updateEdgeTerminatorResponse);
}

test('a host that is about to stop: its circuits are named to the ingress router, and once more when it has gone', async () => {
  router = await connect();
  const circuitId = await circuit();
  await lower();
  assert.equal(textOfBody(await router.frame(contentType.circuitsLeaving)), circuitId);
  router.send(ctrlMessages.removeTerminators.frame({ terminatorIds: ['term1'] }));
  assert.equal(textOfBody(await router.frame(contentType.circuitsLeaving)), circuitId);
  assert.equal(world.controller.circuitCount, 1, 'the circuit continues');
});

test('a router of another make is not sent that, nor the stop of the controller', async () => {
  router = await connect(undefined);
  const foreign = await world.router('r2');
  router.channel.close('replaced');
  router = foreign;
  await circuit();
  await lower();
  await world.controller.leave(0, undefined);
  // The circuits of what has gone are looked up together, in a moment.
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, 30);
  await promise;
  await router.settle();
  assert.equal(router.waiting(contentType.circuitsLeaving) + router.waiting(contentType.stopping), 0);
});

test('a router that asked for no new circuits is an ordinary one again after its restart', async () => {
  await world.addService('svc2', 'env1');
  router = await connect();
  router.send(makeFrame(contentType.quiesceRouter));
  await router.settle();
  const isQuiesced = (): boolean | undefined =>
    world.logLines.some((line) => line.includes('router quiesced')) || undefined;
  assert.equal(isQuiesced(), true);
  const other = await world.router('r2');
  assert.equal((await world.bind(other, 'env1', 'svc1', 'term2')).result, 0);
  await other.route();
  await other.next('unroute');
  router.channel.close('restarted');
  await until(
    'it is gone',
    () => world.controller.routers().find(({ id }) => id === 'r1')?.isOnline,
    (isOnline) => isOnline === false,
  );
  router = await connect();
  assert.equal((await world.bind(router, 'env1', 'svc1', 'term1')).result, 0);
  // Both host it; the nearer one is taken unless it is quiesced.
  router.send(world.dialFrame('gw1', 'svc1'));
  const { egress } = await router.route();
  assert.equal(egress?.destination, 'term1');
});

test('a controller that stops announces that first, and stays until every router has connected to another', async () => {
  router = await connect();
  const elsewhere = new Set<string>();
  let hasLeft = false;
  const left = world.controller.leave(30_000, (id) => elsewhere.has(id)).then(() => (hasLeft = true));
  await router.frame(contentType.stopping);
  await router.settle();
  assert.equal(hasLeft, false);
  elsewhere.add('r1');
  await until(
    'it leaves',
    () => hasLeft,
    (value) => value,
  );
  await left;
});
