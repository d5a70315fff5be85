// OpenZiti's Java SDK dials a share that the library hosts, and hosts one that the library dials, at our control plane.
// Skipped without the jars that `java-peer.ts` needs.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { enroll, openOverlay, type Overlay } from '#sdk/library';
import { openWorld, type World } from '../../support/world.ts';
import { javaSkip as skip, JavaPeer } from './java-peer.ts';

let world: World;
let library: Overlay;
let java: JavaPeer;

before(async () => {
  if (skip !== false) return;
  world = await openWorld();
  const javaFile = join(world.dataDir, 'java.json');
  const other = await enroll({ token: await world.enrollmentJwt(), identityFile: javaFile });
  const identityFile = join(world.dataDir, 'library.json');
  const own = await enroll({ token: await world.enrollmentJwt(), identityFile });
  await share('by-library', own.id, other.id);
  await share('by-java', other.id, own.id);
  library = await openOverlay({ identityFile });
  java = await JavaPeer.compile(world.dataDir, javaFile);
});
afterEach((context) => {
  if ('passed' in context && context.passed === false) console.error(java?.output);
});
after(async () => {
  java?.stop();
  await library?.close();
  await world?.close();
});

async function share(name: string, environmentId: string, guestId: string): Promise<void> {
  const created = await world.call('POST', '/shares', {
    environmentId,
    name,
    shareMode: 'private',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:9',
    grants: [guestId],
  });
  assert.ok(created.status < 300, created.text);
}

test('the Java SDK dials what the library hosts: 100 MB both ways, 100 short connections', { skip }, () =>
  java.proveDials(library, 'by-library'),
);

test('the library dials what the Java SDK hosts: 100 MB both ways, 50 short connections', { skip }, () =>
  java.proveHosts(library, 'by-java'),
);
