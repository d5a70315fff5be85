// Circuits that grew old, and those that come for them: when they are dialed, what leaves, and who waits.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { CircuitError } from '#sdk';
import { get, GatewayWorld, statusOf } from '../testing/gateway-world.ts';
import { ManualTime } from '../testing/manual-time.ts';

const CIRCUITS = 16;
const AGE_MS = 10_000;
const AT_ONCE = 8;
/** The circuits of a share are replaced within a quarter of their age. */
const PACE_MS = (AT_ONCE * AGE_MS) / 4 / CIRCUITS;

/** A share whose origin answers sixteen requests when it has them all, so that each takes a circuit of its own. */
async function startBurst(test: TestContext) {
  const time = new ManualTime();
  const world = await GatewayWorld.start({ time, limits: { circuitAgeMs: AGE_MS } });
  test.after(() => world.close());
  const pending: ServerResponse[] = [];
  let ports: number[] = [];
  await world.serve('burst', (request, response) => {
    ports.push(request.socket.remotePort!);
    if (pending.push(response) === CIRCUITS) for (const each of pending.splice(0)) each.end('here');
  });
  /** Sixteen requests at once. Returns the ports that their circuits have at the origin. */
  const round = async (): Promise<ReadonlySet<number>> => {
    ports = [];
    const answers = await Promise.all(Array.from({ length: CIRCUITS }, () => world.ask(get('burst'))));
    for (const answer of answers) assert.equal(statusOf(answer), 200);
    return new Set(ports);
  };
  const { gateway, dialer } = world;
  const settled = (count: number): Promise<void> =>
    world.eventually(() => gateway.stats().openCircuits === count, `${count} circuits`);
  return { time, dialer, round, settled };
}

describe('circuits that grew old together', () => {
  it('are used on while others are dialed, a few at a time', async (test) => {
    const { time, dialer, round } = await startBurst(test);
    const first = await round();
    assert.equal(first.size, CIRCUITS);
    time.advance(AGE_MS);
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    dialer.gate = gate;
    assert.deepEqual(await round(), first);
    assert.deepEqual(await round(), first, 'nothing waits for a dial');
    assert.equal(dialer.dials, CIRCUITS + AT_ONCE);
    time.advance(PACE_MS);
    assert.deepEqual(await round(), first);
    assert.equal(dialer.dials, CIRCUITS + AT_ONCE, 'as long as these are under way, no others begin');
    open();
  });

  it('leave one for one, all within a quarter of their age', async (test) => {
    const { time, dialer, round, settled } = await startBurst(test);
    const first = await round();
    time.advance(AGE_MS);
    for (let replaced = AT_ONCE; replaced <= CIRCUITS; replaced += AT_ONCE) {
      time.advance(PACE_MS);
      await round();
      assert.equal(dialer.dials, CIRCUITS + replaced);
      // An old circuit that was in use leaves at the end of its next request.
      await round();
      await settled(CIRCUITS);
    }
    const last = await round();
    assert.equal([...first].filter((port) => last.has(port)).length, 0);
  });

  it('stay at any age while no control plane answers', async (test) => {
    const { time, dialer, round } = await startBurst(test);
    const first = await round();
    dialer.refuse = new CircuitError('control-away', 'control', 'no control plane answers');
    for (let i = 0; i < 6; i += 1) {
      time.advance(AGE_MS);
      assert.deepEqual(await round(), first);
    }
    assert.ok(dialer.dials <= CIRCUITS + AT_ONCE + 6, `${dialer.dials} dials`);
  });

  it('begin one dial a second when dials are not answered in time', async (test) => {
    const { time, dialer, round } = await startBurst(test);
    const first = await round();
    time.advance(AGE_MS);
    dialer.refuse = new CircuitError('timeout', 'control', 'no answer in time');
    assert.deepEqual(await round(), first);
    const { dials } = dialer;
    for (let second = 1; second <= 3; second += 1) {
      time.advance(1_000);
      assert.deepEqual(await round(), first);
      assert.equal(dialer.dials, dials + second);
    }
    dialer.refuse = undefined;
    time.advance(1_000);
    await round();
    time.advance(PACE_MS);
    await round();
    assert.ok(dialer.dials > dials + 4 + 1, 'and several again once one is answered');
  });

  it('leave although no others come when the control plane refuses them', async (test) => {
    const { time, dialer, round, settled } = await startBurst(test);
    await round();
    time.advance(AGE_MS);
    dialer.refuse = new CircuitError('not-authorized', 'control', 'the share was withdrawn');
    await round();
    await settled(CIRCUITS - AT_ONCE);
  });
});
