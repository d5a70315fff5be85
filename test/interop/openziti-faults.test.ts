// Faults in a mesh of OpenZiti's routers and ours at OpenZiti's controller: dropped connections of links, dropped links,
// killed routers; and the output of the controller's own tools about ours. ZITI_BIN names `ziti` (1.7.2).
import assert from 'node:assert/strict';
import type { AddressInfo, Server } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/deadline.ts';
import { EchoSocket, startEcho } from '../support/echo-service.ts';
import type { PartProcess } from '../support/part-process.ts';
import { startSteadyCircuits, type SteadyCircuits } from '../support/steady-circuits.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { startZitiLines } from '../support/ziti-lines.ts';
import { LinkRelay } from './link-relay.ts';
import { OpenZitiMesh, type GoRouter, type MeshLink } from './openziti-mesh.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const WAIT_MS = 40_000;
const CONNECTIONS = ['link.ack', 'link.default', 'link.default', 'link.default'];

let mesh: OpenZitiMesh;
let echo: Server;
let goListens: GoRouter;
let ours: PartProcess<unknown>;
/** To `ours`, dialed by `go-dials`; to `go-listens`, dialed by `ours`. */
let toOurs: LinkRelay;
let toGo: LinkRelay;
let door = 0;
let listening = 0;
let steady: SteadyCircuits | undefined;

before(async () => {
  if (BINARY === undefined) return;
  const accepting = await freePort();
  listening = await freePort();
  door = await freePort();
  echo = await startEcho();
  toOurs = await LinkRelay.open(accepting);
  toGo = await LinkRelay.open(listening);
  mesh = await OpenZitiMesh.start(BINARY);
  goListens = await mesh.goRouter('go-listens', {
    linkListener: { port: listening, groups: ['go'], advertisedPort: toGo.port },
  });
  ours = await mesh.ourRouter('ours', {
    linkListener: { port: accepting, groups: ['ours'], advertisedPort: toOurs.port },
    dialGroups: ['go'],
  });
  await mesh.goRouter('go-dials', { dialGroups: ['ours'], proxy: { port: door, service: 'echo' } });
  await mesh.service('echo', 'go-listens', (echo.address() as AddressInfo).port);
  await untilComplete();
});
afterEach(async (context) => {
  await steady?.stop();
  steady = undefined;
  if ('passed' in context && context.passed === false) console.error(mesh?.ourOutput.slice(-8_000));
});
after(async () => {
  await mesh?.stop();
  await Promise.all([toOurs, toGo].map((relay) => relay?.close()));
  echo?.close();
});

/** Both links, as their dialers (ours and Go) reported them to the controller. */
async function untilComplete(): Promise<void> {
  const isComplete = (links: readonly MeshLink[]): boolean =>
    [
      ['go-dials', 'ours'],
      ['ours', 'go-listens'],
    ].every(([source, destination]) =>
      links.some(
        ({ sourceRouter, destRouter, connections }) =>
          sourceRouter === source && destRouter === destination && connections.join() === CONNECTIONS.join(),
      ),
    );
  await until('all connections of both links', () => mesh.links(), isComplete, WAIT_MS);
}

async function untilPath(...names: string[]): Promise<void> {
  const isIt = (path: readonly string[]): boolean => path.join() === names.join();
  await until(
    `circuits through ${names.join(', ')}`,
    () => mesh.paths(),
    (paths) => paths.some(isIt),
    WAIT_MS,
  );
}

test(
  'a connection of a link that drops is dialed again by its dialer, ours or Go, and circuits stand',
  { skip },
  async () => {
    const socket = await EchoSocket.open(door);
    await socket.echo('before');
    for (const relay of [toGo, toOurs]) {
      // OpenZiti's router gives a link up when a write fails on any of its connections: nothing is written now.
      for (const which of [0, 2]) {
        relay.cut(which);
        assert.equal(relay.count, CONNECTIONS.length - 1);
        await until(
          'another connection',
          () => relay.count,
          (count) => count === CONNECTIONS.length,
          WAIT_MS,
        );
        await untilComplete();
        await socket.echo(`after connection ${which}`);
      }
    }
    const iterations = (await mesh.links()).map(({ iteration }) => iteration);
    assert.deepEqual(iterations, [1, 1], 'the links are the first ones');
    socket.close();
  },
);

test(
  '`ziti fabric inspect` reads links, circuits, controllers, metrics and configuration of our router',
  { skip },
  async () => {
    steady = await startSteadyCircuits(door, 1);
    const inspect = async (line: string): Promise<string> =>
      mesh.network.run(`fabric inspect ${line} --format json`);
    const links = await inspect('links ours');
    for (const text of ['link.default', 'link.ack', '"destinations"', 'established'])
      assert.ok(links.includes(text), links);
    assert.match(await inspect('router-circuits ours'), /"circuitId"|"destinations"|circuits/);
    assert.match(await inspect('router-controllers ours'), /"connected": *true/);
    assert.match(await inspect('config ours'), /link/);
    assert.match(await inspect('metrics ours'), /link\./);
    const [circuit] = await mesh.circuitIds();
    // All three routers on its path list it.
    assert.match(await inspect(`circuit ${circuit!}`), /^Results: \(3\)/m);
  },
);
test(
  '`ziti fabric stream traces` shows channels of our router, once the controller has toggled their traces',
  { skip },
  async () => {
    const links = await mesh.links();
    const { id } = links.find(({ sourceRouter }) => sourceRouter === 'ours')!;
    const stream = startZitiLines(BINARY!, mesh.folder, ['fabric', 'stream', 'traces']);
    try {
      const routerId = await mesh.routerId('ours');
      const toggle = (isOn: 'on' | 'off'): Promise<string> =>
        mesh.network.run(`fabric stream traces toggle pipe ${isOn} ^${routerId}$ ^(ctrl|l/.*)$`);
      const answer = await toggle('on');
      assert.match(answer, /tracing enabled successfully/);
      assert.match(answer, new RegExp(`Link ${routerId}\\.ctrl matched\\? true.* New trace state: true`));
      assert.match(answer, new RegExp(`Link ${routerId}\\.l/${id} matched\\? true`));
      // The controller asks, so that the router answers over its control channel.
      await mesh.network.run('fabric inspect links ours');
      steady = await startSteadyCircuits(door, 1);
      const seen = (pattern: RegExp) =>
        until(String(pattern), () => stream.lines.some((line) => pattern.test(line)), Boolean, WAIT_MS);
      await seen(new RegExp(`${routerId} +ctrl +<- .*InspectRequest`));
      await seen(new RegExp(`${routerId} +ctrl +-> .*InspectResponse`));
      await seen(new RegExp(`${routerId} +l/${id} .*data +Payload.*circuitId=\\[`));
      await steady.goOn(2);
      assert.deepEqual(steady.errors, []);
      assert.match(await toggle('off'), /New trace state: false/);
    } finally {
      await stream.stop();
    }
  },
);

test(
  '`ziti fabric validate router-links` finds the links of our router valid, and so `validate circuits`',
  { skip },
  async () => {
    steady = await startSteadyCircuits(door, 1);
    const links = await mesh.network.run('fabric validate router-links', 'true', '--include-valid-links');
    assert.match(links, /routerName: ours, links: 2, validation successful/);
    assert.equal(links.match(/ctrlState: LinkEstablished, routerState: LinkEstablished/g)?.length, 4, links);
    assert.match(links, /\b0 errors found/);
    // Only our router is inspected: this controller crashes on a router of its own without an edge listener.
    const circuits = await mesh.network.run('fabric validate circuits', 'name="ours"');
    assert.match(circuits, /\b0 errors found/);
  },
);

test('a Go router that is killed and comes back has its link with ours again', { skip }, async () => {
  await goListens.kill();
  await mesh.untilOnline('go-listens', false);
  await until(
    'no connection left',
    () => toGo.count,
    (count) => count === 0,
    WAIT_MS,
  );
  await goListens.start();
  await untilComplete();
  steady = await startSteadyCircuits(door, 2);
  await steady.goOn(3);
  assert.deepEqual(steady.errors, []);
});

test(
  'circuits of Go routers move to our other router when a link of Frontdoor drops, and when ours dies',
  { skip },
  async () => {
    const port = await freePort();
    steady = await startSteadyCircuits(door, 4);
    await untilPath('go-dials', 'ours', 'go-listens');
    const other = await mesh.ourRouter('other', {
      linkListener: { port, groups: ['ours'] },
      dialGroups: ['go'],
    });
    const names = async (): Promise<string[]> =>
      (await mesh.links()).map(({ sourceRouter, destRouter }) => `${sourceRouter} ${destRouter}`).sort();
    await until(
      'links of both',
      names,
      (all) => ['go-dials other', 'other go-listens'].every((one) => all.includes(one)),
      WAIT_MS,
    );
    await steady.goOn(3);
    while (toOurs.count > 0) toOurs.cut(0);
    await untilPath('go-dials', 'other', 'go-listens');
    await steady.goOn(3);
    assert.deepEqual(steady.errors, []);
    await untilComplete();

    await other.kill();
    await untilPath('go-dials', 'ours', 'go-listens');
    await steady.goOn(3);
    assert.deepEqual(steady.errors, []);
    assert.ok(ours.isRunning);
  },
);
