// Links of a running mesh break: by a reset, for a while, for good; `mesh-reroute.test.ts` has the link that falls silent.
// Short timers; `npm run chaos -- fabric` has the long ones, and more circuits.
import { after, afterEach, before, test } from 'node:test';
import { QUICK_TIMERS, startTwoWays } from '../chaos/fabric/fault-row.ts';
import { halfOpenLink } from '../chaos/fabric/half-open.ts';
import { cutForAWhile, cutForGood, loseOneOfTwo } from '../chaos/fabric/lost-link.ts';
import { assertGood } from '../chaos/fabric/undisturbed-fault.ts';
import type { FaultMesh } from '../support/fault-mesh.ts';
import { relayNetwork } from '../support/fault-relay.ts';

const { linkCloseMs, idleCircuitMs, idleTxMs } = QUICK_TIMERS;
const context = { network: relayNetwork, circuits: 40, say: () => {} };
let mesh: FaultMesh;

before(async () => {
  mesh = await startTwoWays(relayNetwork, QUICK_TIMERS);
});
afterEach((test) => {
  if ('passed' in test && test.passed === false) console.error(mesh?.mesh.output.slice(-8_000));
});
after(() => mesh?.stop());

test('circuits over a link that is reset take another way within 2 s of its loss, no byte lost or doubled', async () =>
  assertGood(mesh, () => loseOneOfTwo(context, mesh, 'reset', 2_000)));

// A link may have been silent since its last heartbeat, a quarter of the time before the cut.
test('circuits whose only way is cut for less than closeUnresponsiveTimeout continue intact', async () =>
  assertGood(mesh, () => cutForAWhile(context, mesh, linkCloseMs / 2)));

test('circuits whose only path stays cut end with an error at both sides, and no part keeps any', async () =>
  assertGood(mesh, () =>
    cutForGood(context, mesh, 2 * linkCloseMs + 3_000, idleCircuitMs + idleTxMs + 2_000),
  ));

test('half-open links are noticed at both ends in time, again and again; one link follows each, and no socket stays', async () =>
  assertGood(mesh, () => halfOpenLink(mesh, ['cut', 'cut', 'cut', 'reset'], linkCloseMs)));
