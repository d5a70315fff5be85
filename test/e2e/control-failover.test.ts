// Two control planes over one PostgreSQL, without a load balancer. Gateway, agent and router have enrolled at A and know
// B from its lists. A is killed: they continue at B, also after a restart, and use A again when B is killed.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { until } from '../support/deadline.ts';
import { startIdentityWorld, type IdentityWorld, type SecureReady } from '../support/identity-world.ts';
import type { PartProcess } from '../support/part-process.ts';
import { resume, suspend } from '../support/process-faults.ts';
import { postgresSkip, sharedPostgres } from '../support/postgres.ts';
import { portOf, type ControlReady } from '../support/separate.ts';
import { SESSION_COOKIE, Visitor } from '../support/visitor.ts';

const WAIT_MS = 45_000;
const REQUESTS = 40;
/** For noticing the silence, and a circuit at the other one. */
const LEFT_MS = 5_000;

describe('clients of two control planes', { skip: postgresSkip }, () => {
  let world: IdentityWorld;
  let b: PartProcess<ControlReady>;
  let open: string;
  let guarded: string;
  let session: string;
  before(async () => {
    world = await startIdentityWorld({ database: await (await sharedPostgres()).createDatabase() });
    b = await world.startControl('b');
    open = await world.share('open', []);
    guarded = await world.share('guarded', [await world.addProvider('OIDC', 'staff')]);
    const ann = world.visitor();
    await ann.logIn(guarded, '/', 'ann');
    session = ann.cookie(guarded)!;
    // They get the list when they log in, and then every 30 s: `learn the new address` waits for that.
    const { agent, gateway } = world.parts;
    await Promise.all([agent, gateway].map((part) => part.stop()));
    await Promise.all([agent, gateway].map((part) => part.start()));
    await served(open);
  });
  afterEach((context) => {
    if (!('passed' in context) || context.passed !== false) return;
    const { control, router, gateway, agent } = world.parts;
    for (const part of [control, b, router, gateway, agent])
      console.error(`--- ${part.name}\n${part.output.slice(-4_000)}`);
  });
  after(() => world?.close());

  const keptBy = (name: 'gateway' | 'agent'): string => join(world.parts.folder, name, 'control-planes.json');
  const visitor = (): Visitor => {
    const { gatewayUrl, securePort } = world.parts.gateway.ready as SecureReady;
    return new Visitor({ ca: world.ca, plainPort: Number(portOf(gatewayUrl)), securePort });
  };
  const statusOf = async (host: string): Promise<number> => {
    const someone = visitor();
    if (host === guarded) someone.setCookie(host, SESSION_COOKIE, session);
    const ask = { plain: host !== guarded, navigates: false };
    return (await someone.ask(host, '/ready', ask)).status;
  };
  const served = (host: string): Promise<unknown> =>
    until(
      `${host} answers`,
      () => statusOf(host).catch(() => 0),
      (status) => status === 200,
      WAIT_MS,
    );

  test('get the addresses of both, and keep them for their owner alone', async () => {
    const both = [world.parts.control, b].map(({ ready }) => ready.edgeApiUrl);
    for (const name of ['gateway', 'agent'] as const) {
      const kept = (): unknown =>
        (JSON.parse(readFileSync(keptBy(name), 'utf8')) as { apiUrls: string[] }).apiUrls;
      const isWhole = (urls: unknown): boolean => JSON.stringify(urls) === JSON.stringify(both);
      await until(
        `${name} keeps both`,
        () =>
          Promise.resolve()
            .then(kept)
            .catch(() => []),
        isWhole,
        WAIT_MS,
      );
      assert.equal(statSync(keptBy(name)).mode & 0o777, 0o600);
    }
    const endpoints = join(world.parts.folder, 'endpoints.yml');
    const knowsB = (text: string): boolean => text.includes(portOf(b.ready.ctrlAddress));
    await until('the router knows B', () => readFileSync(endpoints, 'utf8'), knowsB, WAIT_MS);
  });

  test('continue at the other when theirs is killed', async () => {
    const turned = until(
      'the gateway uses B',
      () => world.parts.gateway.output,
      (text) => text.includes('using another control plane'),
      WAIT_MS,
    );
    await world.parts.control.kill();
    for (let request = 0; request < REQUESTS; request += 1) {
      assert.equal(await statusOf(open), 200);
      assert.equal(await statusOf(guarded), 200);
    }
    await turned;
    const bob = visitor();
    await bob.logIn(guarded, '/', 'ann');
    assert.ok(bob.cookie(guarded));
    assert.equal(await statusOf(await world.share('made-at-b', [])), 200);
  });

  test('start while theirs is away, from the lists that they kept', async () => {
    await world.parts.agent.stop();
    await world.parts.agent.start();
    await served(open);
    await world.parts.gateway.stop();
    await world.parts.gateway.start();
    await served(open);
    await served(guarded);
    assert.equal(await statusOf(await world.share('made-after-restart', [])), 200);
  });

  test('use theirs again when it is back and the other is killed', async () => {
    await world.parts.control.start();
    await b.kill();
    await served(open);
    await served(guarded);
    assert.equal(await statusOf(await world.share('made-at-a', [])), 200);
    const ann = visitor();
    await ann.logIn(guarded, '/', 'ann');
    assert.ok(ann.cookie(guarded));
  });

  test('learn the new address of one that moved', async () => {
    const { edgeApiUrl: former } = b.ready;
    await b.start();
    assert.notEqual(b.ready.edgeApiUrl, former);
    for (const name of ['gateway', 'agent'] as const)
      await until(
        `${name} keeps the new address`,
        () => readFileSync(keptBy(name), 'utf8'),
        (text) => text.includes(b.ready.edgeApiUrl),
        2 * WAIT_MS,
      );
  });

  test('continue at the other when theirs stops responding', async (t) => {
    const { control } = world.parts;
    suspend(control);
    t.after(() => resume(control));
    let longestMs = 0;
    for (let request = 0; request < REQUESTS; request += 1)
      for (const host of [open, guarded]) {
        const startedMs = performance.now();
        assert.equal(await statusOf(host), 200);
        longestMs = Math.max(longestMs, performance.now() - startedMs);
      }
    t.diagnostic(`the longest answer took ${Math.round(longestMs)} ms`);
    assert.ok(longestMs < LEFT_MS, `${longestMs} ms`);
  });
});
