// Cost, traversal and use of routers, as an administrator of the edge management API sets them.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { until } from '../../../../test/support/deadline.ts';
import { ScriptedMesh } from '../testing/scripted-mesh.ts';

let mesh: ScriptedMesh;
afterEach(() => mesh.close());

/** The cheapest way from a to c is over b. */
async function open(): Promise<void> {
  mesh = await ScriptedMesh.open(['a', 'b', 'c', 'd']);
  await mesh.links({ 'a-b': 1, 'b-c': 1, 'a-d': 10, 'd-c': 10 });
  mesh.service('svc');
  mesh.terminator('t', 'c');
}

const set = (id: string, traits: Record<string, unknown>): Promise<void> =>
  mesh.world.setEntity('edge-router', id, traits);
const paths = () => mesh.world.controller.fabric.circuits().map(({ routerIds }) => routerIds.join(''));

test('a cost that is set for a router leads circuits past it', async () => {
  await open();
  await mesh.circuit(['a', 'b', 'c']);
  await set('b', { cost: 100 });
  await mesh.circuit(['a', 'd', 'c']);
  await set('b', { cost: 0 });
  await mesh.circuit(['a', 'b', 'c']);
  const costs = mesh.world.controller.fabric.circuits().map(({ cost }) => cost);
  await set('c', { cost: 500 });
  const dearer = mesh.world.controller.fabric.circuits().map(({ cost }) => cost);
  assert.deepEqual(
    dearer,
    costs.map((cost) => cost + 490),
  );
});

test('circuits leave a router that loses traversal and keep off it, while it may be their end', async () => {
  await open();
  mesh.service('other');
  mesh.terminator('u', 'b', { serviceId: 'other' });
  await mesh.circuit(['a', 'b', 'c']);
  await mesh.circuit(['a', 'b'], 'other');
  await set('b', { noTraversal: true });
  for (const id of ['a', 'd', 'c']) await mesh.router(id).route();
  await mesh.router('b').next('unroute');
  assert.deepEqual(paths().toSorted(), ['ab', 'adc']);
  await mesh.circuit(['a', 'd', 'c']);
  await mesh.circuit(['a', 'b'], 'other');
});

test('circuits stay at a router without traversal while there is no other way, and no new ones come', async () => {
  mesh = await ScriptedMesh.open(['a', 'b', 'c']);
  await mesh.links({ 'a-b': 1, 'b-c': 1 });
  mesh.service('svc');
  mesh.terminator('t', 'c');
  await mesh.circuit(['a', 'b', 'c']);
  await set('b', { noTraversal: true });
  assert.deepEqual(paths(), ['abc']);
  mesh.dial('a');
  assert.match(await mesh.refusal('a'), /hosted at router c, which router a cannot reach/);
});

test('a router that is disabled is cut off with its circuits and refused, until it is enabled', async () => {
  await open();
  mesh.service('other');
  mesh.terminator('u', 'b', { serviceId: 'other' });
  await mesh.circuit(['a', 'b', 'c']);
  await mesh.circuit(['a', 'b'], 'other');
  const disabled = mesh.router('b');
  await set('b', { disabled: true });
  assert.equal((await disabled.next('unroute')).now, true);
  await until(
    'the end of the channel',
    () => disabled.channel.isClosed,
    (isClosed) => isClosed,
  );
  for (const id of ['a', 'd', 'c']) await mesh.router(id).route();
  assert.deepEqual(paths(), ['adc']);
  await assert.rejects(mesh.connect('b'), /the router is disabled/);
  await set('b', { disabled: false });
  await mesh.connect('b');
});
