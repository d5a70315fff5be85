// Programs of a running mesh are suspended, or stopped by SIGTERM while circuits are under way.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { drain } from '../chaos/fabric/drained-router.ts';
import { QUICK_TIMERS, startTwoWays } from '../chaos/fabric/fault-row.ts';
import { stopControlPlane, stopRouter } from '../chaos/fabric/stopped-process.ts';
import { assertGood } from '../chaos/fabric/undisturbed-fault.ts';
import { until } from '../support/deadline.ts';
import type { FaultMesh } from '../support/fault-mesh.ts';
import { relayNetwork } from '../support/fault-relay.ts';
import { LogWatch, type LoggedRecord } from '../support/log-watch.ts';

const context = { network: relayNetwork, circuits: 40, say: () => {} };
let mesh: FaultMesh;

before(async () => {
  mesh = await startTwoWays(relayNetwork, QUICK_TIMERS);
});
afterEach((test) => {
  if ('passed' in test && test.passed === false) console.error(mesh?.mesh.output.slice(-8_000));
});
after(() => mesh?.stop());

test('circuits run on while the control plane stands still for longer than the routers wait; then all is as before', async () =>
  assertGood(mesh, () => stopControlPlane(context, mesh, QUICK_TIMERS, 0)));

test('a router that stands still is dropped by routers and control plane in time, and is back once when it continues', async () =>
  assertGood(mesh, () => stopRouter(mesh, 'via', QUICK_TIMERS, 0)));

for (const [name, where] of [
  ['in', 'where circuits begin waits until they end, and refuses new ones'],
  ['out', 'where circuits end waits until they end, and serves circuits that have no other path'],
] as const) {
  test(`SIGTERM at the router ${where}`, async () => assertGood(mesh, () => drain(context, mesh, name, 500)));
}

test('a router that is deleted loses its channel and its links, and is refused everywhere', async () => {
  const { process: part, id } = mesh.router('via');
  const neighbours = ['in', 'out'].map((name) => new LogWatch(mesh.router(name).process));
  const control = new LogWatch(mesh.mesh.control);
  // Records of this router alone, because other routers may lose a link on a busy machine.
  const recordsOf = (log: LogWatch, msg: string): LoggedRecord[] =>
    log.records.filter(
      ({ msg: logged, fields }) => logged === msg && [fields['routerId'], fields['router']].includes(id),
    );
  const first = async (log: LogWatch, msg: string): Promise<LoggedRecord> => {
    const { value } = await until(
      msg,
      () => recordsOf(log, msg),
      ({ length }) => length > 0,
      5_000,
    );
    return value[0]!;
  };
  await mesh.mesh.run('fabric', 'router', 'delete', id);
  const { atMs: deletedAtMs } = await first(control, 'router disconnected');
  for (const log of neighbours) await first(log, 'link closed');
  await control.first('channel refused', 20_000);
  const left = await until(
    'one link',
    () => mesh.links(),
    ({ size }) => size === 1,
  );
  assert.deepEqual([...left.value.keys()], ['in-out']);
  assert.ok(part.isRunning, 'its process was not stopped');
  for (const log of neighbours) {
    const later = recordsOf(log, 'link is established').filter(({ atMs }) => atMs > deletedAtMs);
    assert.deepEqual(later, []);
  }
});
