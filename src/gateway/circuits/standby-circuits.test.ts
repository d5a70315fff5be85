// Circuits for the time in which no control plane answers: who gets them, and when they are used.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { CircuitError } from '#sdk';
import { get, GatewayWorld, statusOf } from '../testing/gateway-world.ts';

const AWAY = new CircuitError('control-away', 'control', 'no control plane answers');

describe('standby circuits', async () => {
  const world = await GatewayWorld.start({
    limits: { standbyPerShare: 2, maxStandbyCircuits: 4, controlAwayHoldMs: 0 },
  });
  after(() => world.close());
  let isSilent = false;
  const once = (name: string): Promise<unknown> =>
    world.serve(name, (_request, response) => {
      if (!isSilent) response.setHeader('connection', 'close').end('here');
    });
  const ask = async (name: string): Promise<number> => statusOf(await world.ask(get(name)));
  const { dialer, gateway } = world;

  it('are not dialed again for a host that ends them unused', async () => {
    let isFirst = true;
    await world.serveRaw('foreign', (socket) => {
      if (isFirst)
        socket.on('data', () =>
          socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'),
        );
      else socket.end();
      isFirst = false;
    });
    assert.equal(await ask('foreign'), 200);
    await world.eventually(() => dialer.dials >= 2, 'a standby circuit');
    await world.eventually(() => gateway.stats().openCircuits === 0, 'its end');
    const { dials } = dialer;
    await once('own');
    assert.equal(await ask('own'), 200);
    await world.eventually(() => gateway.stats().openCircuits === 2, 'those of another share');
    assert.equal(dialer.dials, dials + 3);
  });

  it('carry requests when a dial fails since no control plane answers, and are not replaced in the meantime', async () => {
    dialer.refuse = AWAY;
    const { dials } = dialer;
    assert.deepEqual([await ask('own'), await ask('own'), await ask('own')], [200, 200, 503]);
    assert.equal(dialer.dials, dials + 3);
    dialer.refuse = undefined;
    assert.equal(await ask('own'), 200);
    await world.eventually(() => gateway.stats().openCircuits === 2, 'new ones');
  });

  it('are no more than a number in all, and go with their share or when their way ends', async () => {
    for (const name of ['second', 'third']) {
      await once(name);
      assert.equal(await ask(name), 200);
    }
    await world.eventually(() => gateway.stats().openCircuits > 0, 'circuits');
    assert.ok(gateway.stats().openCircuits <= 4);
    const before = dialer.circuits.length;
    for (const circuit of dialer.circuits) Object.assign(circuit, { isLeaving: true });
    await world.eventually(() => dialer.circuits.length >= before + 2, 'others in their place');
    assert.ok(gateway.stats().openCircuits <= 4 + 4);
    gateway.table.replaceAll([]);
    await world.eventually(() => gateway.stats().openCircuits === 0, 'none');
  });

  it('carry requests whose dial has no answer after a second and a half, as from a control plane that is frozen', async (t) => {
    await once('late');
    assert.equal(await ask('late'), 200);
    await world.eventually(() => gateway.stats().openCircuits === 2, 'standby circuits');
    const frozen = Promise.withResolvers<void>();
    dialer.gate = frozen.promise;
    t.after(() => frozen.resolve());
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { dials } = dialer;
    const asked = ask('late');
    await world.eventually(() => dialer.dials === dials + 1, 'the dial');
    t.mock.timers.tick(1_499);
    assert.equal(gateway.stats().openCircuits, 2);
    t.mock.timers.tick(1);
    assert.equal(await asked, 200);
    // The next one fails with its dial: the agent does not answer either.
    isSilent = true;
    t.after(() => (isSilent = false));
    dialer.refuse = new CircuitError('service-timeout', 'agent', 'the host did not answer');
    const unanswered = ask('late');
    await world.eventually(() => dialer.dials === dials + 2, 'its dial');
    t.mock.timers.tick(1_500);
    frozen.resolve();
    assert.equal(await unanswered, 504);
    dialer.gate = undefined;
    dialer.refuse = undefined;
  });
});
