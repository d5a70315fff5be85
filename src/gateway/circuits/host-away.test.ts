// Circuits whose way ends soon, and requests to a share whose only agent is away for a moment.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { CircuitError } from '#sdk';
import { DEFAULT_GATEWAY_LIMITS } from '../limits/gateway-limits.ts';
import { get, GatewayWorld, statusOf } from '../testing/gateway-world.ts';

/** After 8 s of silence, at the next look, which is one a second. */
const AGENT_NOTICES_MS = 9_000;
const AGENT_RETURNS_MS = 2_000;
/** More than a dial may take without an answer until its host counts as silent. */
const NOTICED_AS_SILENT_MS = 1_600;
const SWEEP_MS = 250;
const AWAY = new CircuitError('no-terminator', 'agent', 'no agent hosts it');

describe('a share whose only agent is away', async () => {
  const world = await GatewayWorld.start({ limits: { absenceHoldMs: 60_000 } });
  after(() => world.close());

  it('fails at once when it was never hosted since the gateway began to serve it', async () => {
    await world.serve('never', (_request, response) => response.end('here'));
    world.dialer.refuse = AWAY;
    assert.equal(statusOf(await world.ask(get('never'))), 503);
    world.dialer.refuse = undefined;
  });

  it('has its requests wait until the agent is back, by one dial at a time', async () => {
    await world.serve('held', (_request, response) => response.setHeader('connection', 'close').end('here'));
    assert.equal(statusOf(await world.ask(get('held'))), 200);
    world.dialer.refuse = AWAY;
    const before = world.dialer.dials;
    const answers = Array.from({ length: 20 }, () => world.ask(get('held')));
    await world.eventually(() => world.dialer.dials >= before + 22, 'two dials after the first of each');
    world.dialer.refuse = undefined;
    for (const answer of await Promise.all(answers)) assert.equal(statusOf(answer), 200);
  });

  it('fails after the hold, and at once from then on, until it is back', async () => {
    const short = await GatewayWorld.start({ limits: { absenceHoldMs: 600 } });
    try {
      await short.serve('gone', (_request, response) =>
        response.setHeader('connection', 'close').end('here'),
      );
      assert.equal(statusOf(await short.ask(get('gone'))), 200);
      short.dialer.refuse = AWAY;
      assert.equal(statusOf(await short.ask(get('gone'))), 503);
      const before = short.dialer.dials;
      assert.equal(statusOf(await short.ask(get('gone'))), 503);
      assert.equal(short.dialer.dials, before + 1);
      short.dialer.refuse = undefined;
      assert.equal(statusOf(await short.ask(get('gone'))), 200);
    } finally {
      await short.close();
    }
  });

  it('has its requests wait for longer than a dial may take, and than an agent needs to notice that it was lost', async () => {
    assert.ok(DEFAULT_GATEWAY_LIMITS.absenceHoldMs >= AGENT_NOTICES_MS + AGENT_RETURNS_MS);
    const patient = await GatewayWorld.start({ limits: { absenceHoldMs: 1_600, dialTimeoutMs: 100 } });
    try {
      await patient.serve('lost', (_request, response) =>
        response.setHeader('connection', 'close').end('here'),
      );
      assert.equal(statusOf(await patient.ask(get('lost'))), 200);
      patient.dialer.refuse = AWAY;
      const startedMs = performance.now();
      assert.equal(statusOf(await patient.ask(get('lost'))), 503);
      assert.ok(performance.now() - startedMs >= 1_500);
    } finally {
      await patient.close();
    }
  });

  it('has its requests wait for a second when no control plane is there, because a router may be connecting to it', async () => {
    await world.serve('back', (_request, response) => response.setHeader('connection', 'close').end('here'));
    world.dialer.refuse = new CircuitError('control-away', 'control', 'the router has no controller now');
    const { dials } = world.dialer;
    const waiting = [world.ask(get('back')), world.ask(get('back'))];
    await world.eventually(() => world.dialer.dials >= dials + 3, 'another dial');
    world.dialer.refuse = undefined;
    for (const answer of await Promise.all(waiting)) assert.equal(statusOf(answer), 200);
    world.dialer.refuse = new CircuitError('control-away', 'control', 'the router has no controller now');
    assert.equal(statusOf(await world.ask(get('back'))), 503);
    world.dialer.refuse = undefined;
  });

  it('has its requests wait for less long in all when an agent answers nothing, which may be frozen', async () => {
    const limits = { absenceHoldMs: 60_000, silenceHoldMs: 3_500 };
    const patient = await GatewayWorld.start({ limits });
    try {
      await patient.serve('mute', (_request, response) =>
        response.setHeader('connection', 'close').end('here'),
      );
      assert.equal(statusOf(await patient.ask(get('mute'))), 200);
      const { dialer } = patient;
      const askSilent = async (): Promise<{ readonly answer: Promise<string> }> => {
        const frozen = Promise.withResolvers<void>();
        dialer.refuse = new CircuitError('service-timeout', 'agent', 'the host did not answer');
        dialer.gate = frozen.promise;
        const { dials } = dialer;
        const answer = patient.ask(get('mute'));
        await patient.eventually(() => dialer.dials > dials, 'a dial');
        dialer.gate = undefined;
        setTimeout(frozen.resolve, NOTICED_AS_SILENT_MS);
        await frozen.promise;
        return { answer };
      };
      const startedMs = performance.now();
      const failed = await askSilent();
      dialer.refuse = AWAY;
      assert.equal(statusOf(await failed.answer), 503);
      assert.ok(performance.now() - startedMs >= limits.silenceHoldMs - SWEEP_MS);
      const served = await askSilent();
      dialer.refuse = undefined;
      assert.equal(statusOf(await served.answer), 200);
    } finally {
      await patient.close();
    }
  });

  it('never keeps a circuit for another request when its way ends soon', async () => {
    await world.serve('kept', (_request, response) => response.end('here'));
    assert.equal(statusOf(await world.ask(get('kept'))), 200);
    const [kept] = world.dialer.circuits.slice(-1);
    const dials = world.dialer.dials;
    Object.assign(kept!, { isLeaving: true });
    assert.equal(statusOf(await world.ask(get('kept'))), 200);
    assert.equal(world.dialer.dials, dials + 1);
  });
});

describe('a circuit that is old', async () => {
  const world = await GatewayWorld.start({ limits: { circuitAgeMs: 300 } });
  after(() => world.close());
  const ports: number[] = [];
  const askUntil = async (isDone: () => boolean): Promise<void> => {
    const deadlineMs = performance.now() + 30_000;
    while (!isDone()) {
      assert.ok(performance.now() < deadlineMs, 'not in time');
      assert.equal(statusOf(await world.ask(get('busy'))), 200);
    }
  };

  it('is replaced, and no request waits for that', async () => {
    await world.serve('busy', (request, response) => {
      ports.push(request.socket.remotePort!);
      response.end('here');
    });
    await askUntil(() => new Set(ports).size >= 3);
  });

  it('is kept while no control plane answers, and replaced as soon as one does', async () => {
    world.dialer.refuse = new CircuitError('control-away', 'control', 'no control plane answers');
    const { failedDials } = world.gateway.stats();
    await askUntil(() => world.gateway.stats().failedDials >= failedDials + 2);
    const [old] = ports.slice(-1);
    assert.equal(world.dialer.circuits.length, new Set(ports).size);
    world.dialer.refuse = undefined;
    await askUntil(() => ports.at(-1) !== old);
  });
});

describe('a request over a kept circuit whose agent acknowledges nothing', async () => {
  const world = await GatewayWorld.start({ limits: { silenceHoldMs: 2_000 } });
  after(() => world.close());

  async function freeze(name: string): Promise<void> {
    let kept: Socket | undefined;
    await world.serve(name, (request, response) => {
      if (request.socket === kept) return;
      kept ??= request.socket;
      response.end('here');
    });
    assert.equal(statusOf(await world.ask(get(name))), 200);
    Object.assign(world.dialer.circuits.at(-1)!, { heard: 3 });
  }

  it('is sent over another one when a dial shows that an agent answers', async () => {
    await freeze('elsewhere');
    assert.equal(statusOf(await world.ask(get('elsewhere'))), 200);
    assert.equal(world.gateway.stats().retries, 1);
  });

  it('fails in time when no agent answers, or when it must not be sent twice', async () => {
    await freeze('frozen');
    const { dials } = world.dialer;
    world.dialer.refuse = new CircuitError('service-timeout', 'agent', 'the host did not answer');
    assert.equal(statusOf(await world.ask(get('frozen'))), 504);
    assert.ok(world.dialer.dials > dials);
    world.dialer.refuse = undefined;
    await freeze('posted');
    const text =
      'POST / HTTP/1.1\r\nHost: posted.share.localhost\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx';
    assert.equal(statusOf(await world.ask(text)), 504);
    assert.equal(world.gateway.stats().retries, 1);
  });
});
