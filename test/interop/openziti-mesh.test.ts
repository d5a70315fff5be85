// Our router in a mesh of OpenZiti: its controller, its routers, links in both directions, circuits through, from and
// to ours. ZITI_BIN names OpenZiti's `ziti` (1.7.2 is what this was made with); without it the tests are skipped.
import assert from 'node:assert/strict';
import type { AddressInfo, Server } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/deadline.ts';
import { exchange, startEcho } from '../support/echo-service.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh, type MeshLink } from './openziti-mesh.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const BODY_BYTES = 100 * 1024 * 1024;
const WAIT_MS = 30_000;

let mesh: OpenZitiMesh;
let echo: Server;
const ports = { dialing: 0, listening: 0, goDoor: 0, ourDoor: 0, backDoor: 0 };

/** Routers: `go-dials` dials ours, ours dials `go-listens`; those two have no link with each other. */
before(async () => {
  if (BINARY === undefined) return;
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await freePort();
  echo = await startEcho();
  mesh = await OpenZitiMesh.start(BINARY);
  await mesh.goRouter('go-listens', {
    linkListener: { port: ports.listening, groups: ['go'] },
    proxy: { port: ports.backDoor, service: 'behind-ours' },
  });
  await mesh.ourRouter('ours', {
    linkListener: { port: ports.dialing, groups: ['ours'] },
    dialGroups: ['go'],
    proxy: { port: ports.ourDoor, service: 'behind-go' },
  });
  await mesh.goRouter('go-dials', {
    dialGroups: ['ours'],
    proxy: { port: ports.goDoor, service: 'behind-go' },
  });
  const { port } = echo.address() as AddressInfo;
  await mesh.service('behind-go', 'go-listens', port);
  await mesh.service('behind-ours', 'ours', port);
});
afterEach((context) => {
  if ('passed' in context && context.passed === false) console.error(mesh?.ourOutput.slice(-6_000));
});
after(async () => {
  await mesh?.stop();
  echo?.close();
});

async function untilLinked(source: string, destination: string): Promise<MeshLink> {
  const isIt = (link: MeshLink): boolean => link.sourceRouter === source && link.destRouter === destination;
  const { value } = await until(
    `a link from ${source} to ${destination}`,
    () => mesh.links(),
    (links) => links.some(isIt),
    WAIT_MS,
  );
  return value.find(isIt)!;
}

test('a real controller lists our router as online', { skip }, async () => {
  await mesh.untilOnline('ours');
});

test('our router dials a Go router, and a Go router dials ours', { skip }, async () => {
  await untilLinked('ours', 'go-listens');
  await untilLinked('go-dials', 'ours');
});

test('a circuit between two Go routers goes through ours, 100 MB each way intact', { skip }, async () => {
  await untilLinked('ours', 'go-listens');
  await untilLinked('go-dials', 'ours');
  let paths: string[][] = [];
  const { sent, received } = await exchange(ports.goDoor, BODY_BYTES, async () => {
    ({ value: paths } = await until(
      'the circuit',
      () => mesh.paths(),
      (all) => all.length > 0,
    ));
  });
  assert.equal(received, sent);
  assert.deepEqual(paths, [['go-dials', 'ours', 'go-listens']]);
});

test('a circuit begins at our router, 100 MB each way intact', { skip }, async () => {
  const { sent, received } = await exchange(ports.ourDoor, BODY_BYTES);
  assert.equal(received, sent);
});

test('a circuit ends at our router, 100 MB each way intact', { skip }, async () => {
  await untilLinked('ours', 'go-listens');
  const { sent, received } = await exchange(ports.backDoor, BODY_BYTES);
  assert.equal(received, sent);
});
