// Routers of OpenZiti at our control plane, beside one of Frontdoor: enrolled by their own command, linked both ways,
// circuits that begin, pass and end at either make. ZITI_BIN names OpenZiti's `ziti` (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import type { AddressInfo, Server } from 'node:net';
import { after, afterEach, before, test } from 'node:test';
import { FabricMesh, type MeshRouter } from '../support/fabric-mesh.ts';
import { until } from '../support/deadline.ts';
import { exchange, startEcho } from '../support/echo-service.ts';
import { zitiBinary } from '../support/ziti-command.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const BODY_BYTES = 100 * 1024 * 1024;

let mesh: FabricMesh;
let echo: Server;
let ours: MeshRouter;
let goDials: string;
let goListens: string;
const ports = { dialing: 0, listening: 0, goDoor: 0, ourDoor: 0 };

before(async () => {
  if (BINARY === undefined) return;
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await FabricMesh.freePort();
  echo = await startEcho();
  mesh = await FabricMesh.start();
  goListens = await mesh.goRouter(BINARY, 'go-listens', {
    linkListener: { port: ports.listening, groups: ['go'] },
  });
  ours = await mesh.router('ours', {
    linkListener: { port: ports.dialing, groups: ['ours'] },
    dialGroups: ['go'],
    proxy: { port: ports.ourDoor, service: 'behind-go' },
  });
  goDials = await mesh.goRouter(BINARY, 'go-dials', {
    dialGroups: ['ours'],
    proxy: { port: ports.goDoor, service: 'behind-go' },
  });
  const { port } = echo.address() as AddressInfo;
  await mesh.service('behind-go', goListens, `tcp:127.0.0.1:${port}`);
});
afterEach((context) => {
  if ('passed' in context && context.passed === false) console.error(mesh?.output.slice(-6_000));
});
after(async () => {
  await mesh?.stop();
  echo?.close();
});

test(
  'Go routers enroll at our control plane, come online, and link with ours in both dial directions',
  { skip },
  async () => {
    const [dialed] = await mesh.untilLinked(ours, goListens);
    assert.equal(dialed!['sourceRouterId'], ours.id);
    const [accepted] = await mesh.untilLinked(goDials, ours);
    assert.equal(accepted!['sourceRouterId'], goDials);
  },
);

test('a circuit between two Go routers through ours carries 100 MB each way intact', { skip }, async () => {
  await mesh.untilLinked(ours, goListens);
  await mesh.untilLinked(goDials, ours);
  let paths: unknown[] = [];
  const { sent, received } = await exchange(ports.goDoor, BODY_BYTES, async () => {
    const { value } = await until(
      'the circuit',
      () => mesh.list('circuits'),
      (rows) => rows.length > 0,
    );
    paths = value.map((row) => row['routerIds']);
  });
  assert.equal(received, sent);
  assert.deepEqual(paths, [[goDials, ours.id, goListens]]);
});

test('a circuit from ours to a Go router carries 100 MB each way intact', { skip }, async () => {
  await mesh.untilLinked(ours, goListens);
  const { sent, received } = await exchange(ports.ourDoor, BODY_BYTES);
  assert.equal(received, sent);
});
