// The journey of a mesh in the quick tier: circuits take another way when their link falls silent. `mesh-faults.test.ts` has
// the other faults of links.
import { after, afterEach, before, test } from 'node:test';
import { QUICK_TIMERS, startTwoWays } from '../chaos/fabric/fault-row.ts';
import { loseOneOfTwo } from '../chaos/fabric/lost-link.ts';
import { assertGood } from '../chaos/fabric/undisturbed-fault.ts';
import type { FaultMesh } from '../support/fault-mesh.ts';
import { relayNetwork } from '../support/fault-relay.ts';

const context = { network: relayNetwork, circuits: 40, say: () => {} };
let mesh: FaultMesh;

before(async () => {
  mesh = await startTwoWays(relayNetwork, QUICK_TIMERS);
});
afterEach((test) => {
  if ('passed' in test && test.passed === false) console.error(mesh?.mesh.output.slice(-8_000));
});
after(() => mesh?.stop());

test('circuits over a link that falls silent take another way within 2 s of its loss, no byte lost or doubled', async () =>
  assertGood(mesh, () => loseOneOfTwo(context, mesh, 'cut', QUICK_TIMERS.linkCloseMs + 2_000)));
