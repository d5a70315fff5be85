// Routers in a mesh at several control planes over one PostgreSQL, all of them processes: which addresses they
// announce, circuits made at either, a control plane that is killed and comes back, and one that joins and leaves.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { until } from '../support/deadline.ts';
import { EchoSocket, exchange, startEcho } from '../support/echo-service.ts';
import { FabricMesh, type MeshRouter } from '../support/fabric-mesh.ts';
import { postgresSkip } from '../support/postgres.ts';
import { ReplicatedMesh, type Replica } from '../support/replicated-mesh.ts';

const BODY_BYTES = 1024 * 1024;

describe('routers in a mesh at several control planes', { skip: postgresSkip }, () => {
  let mesh: ReplicatedMesh;
  let echo: Server;
  let a: Replica;
  let b: Replica;
  let c: Replica;
  let west: MeshRouter;
  let east: MeshRouter;
  let door = 0;
  let standing: EchoSocket;

  before(async () => {
    echo = await startEcho();
    door = await FabricMesh.freePort();
    mesh = await ReplicatedMesh.start();
    a = await mesh.replica('a');
    b = await mesh.replica('b');
    const port = await FabricMesh.freePort();
    east = await mesh.router(b, 'east', { linkListener: { port, groups: ['default'] } });
    west = await mesh.router(a, 'west', {
      dialGroups: ['default'],
      proxy: { port: door, service: 'echo' },
    });
    await mesh.run(b, 'fabric', 'service', 'create', 'echo');
    const address = `tcp:127.0.0.1:${(echo.address() as AddressInfo).port}`;
    await mesh.run(a, 'fabric', 'terminator', 'create', 'echo', '--router', east.id, '--address', address);
  });
  afterEach((context) => {
    if ('passed' in context && context.passed === false) console.error(mesh?.output);
  });
  after(async () => {
    standing?.close();
    await mesh?.stop();
    echo?.close();
  });

  const madeAt = async (at: Replica): Promise<unknown[]> =>
    (await mesh.list(at, 'circuits')).map((row) => row['id']);

  test('a router whose file names one of them receives the addresses of both, dials both, and stores them readable by its owner only', async () => {
    for (const router of [west, east]) assert.equal(await mesh.untilRemembered(router, [a, b]), 0o600);
    for (const at of [a, b]) await mesh.untilMeshed(at, 1);
    // The control plane that started first leads, whichever of them routers connected to first.
    const leader = readFileSync(join(mesh.folder, 'a', 'controller-id'), 'utf8').trim();
    for (const { name, process } of [west, east])
      await until(
        `${name} reports the leader`,
        // The latest record counts, because each may take itself for the leader until it is connected to the other.
        () =>
          [
            ...process.output.matchAll(/"controllerId":"([^"]+)","msg":"this controller is the leader now"/g),
          ].at(-1)?.[1],
        (id) => id === leader,
      );
  });

  test('the leader makes a circuit over routers that enrolled at different control planes, and only the leader lists it', async () => {
    standing = await EchoSocket.open(door);
    await standing.echo('first');
    assert.equal((await madeAt(a)).length, 1);
    assert.equal((await madeAt(b)).length, 0);
  });

  test('when the one that made it is killed the circuit continues, and new ones are made at the other', async () => {
    await a.kill();
    await standing.echo('while a is dead');
    const { sent, received } = await exchange(door, BODY_BYTES);
    assert.equal(received, sent);
    const another = await EchoSocket.open(door);
    await another.echo('made at b');
    assert.ok((await madeAt(b)).length >= 1);
    another.close();
    for (const router of [west, east]) await mesh.untilRemembered(router, [a, b]);
  });

  test('when it is back routers come to it again, and circuits continue at both', async () => {
    await a.start();
    for (const at of [a, b]) await mesh.untilMeshed(at, 1);
    await standing.echo('a is back');
    const { sent, received } = await exchange(door, BODY_BYTES);
    assert.equal(received, sent);
  });

  test('a control plane that joins is announced to routers under a higher index, and they disconnect from one that leaves', async () => {
    // Lists of each control plane come, also ones that are older than what is known.
    const highest = (): number =>
      Math.max(0, ...[...west.process.output.matchAll(/"index":"(\d+)"/g)].map(([, text]) => Number(text)));
    const above = (index: number): Promise<{ readonly value: number }> =>
      until(`an index above ${index}`, highest, (now) => now > index);
    const before = highest();
    c = await mesh.replica('c');
    for (const router of [west, east]) await mesh.untilRemembered(router, [a, b, c]);
    await mesh.untilMeshed(c, 1);
    const { value: joined } = await above(before);
    assert.equal(await c.stop('SIGINT'), 0);
    for (const router of [west, east]) await mesh.untilRemembered(router, [a, b]);
    await above(joined);
    for (const at of [a, b]) await mesh.untilMeshed(at, 1);
    await standing.echo('c has left');
  });

  test('a restarted router dials the control planes that it stored, though the one in its file is down', async () => {
    await a.kill();
    await west.process.stop();
    await west.process.start();
    await mesh.untilMeshed(b, 1);
    const { sent, received } = await exchange(door, BODY_BYTES);
    assert.equal(received, sent);
  });
});
