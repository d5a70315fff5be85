// Certificates are renewed over the control channel in both mixtures: by a router of Frontdoor at OpenZiti's controller
// when two thirds of their life are over (its clock is set forward, the controller's is not), and by OpenZiti's
// router, on request, at our control plane. ZITI_BIN names `ziti` (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLog, type Clock } from '#base';
import { loadRunnableRouterConfig, Router } from '#router';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/deadline.ts';
import { FabricMesh } from '../support/fabric-mesh.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const WAIT_MS = 30_000;

let mesh: OpenZitiMesh;
let ourMesh: FabricMesh | undefined;
let router: Router | undefined;
before(async () => {
  if (BINARY !== undefined) mesh = await OpenZitiMesh.start(BINARY);
});
after(async () => {
  await router?.close();
  await mesh?.stop();
  await ourMesh?.stop();
});

test(
  'our router gets new certificates from a real controller, and is taken with them there and by its routers',
  { skip },
  async () => {
    const port = await freePort();
    await mesh.goRouter('go', { linkListener: { port, groups: ['default'] } });
    const file = await mesh.prepareOurs('ours', { dialGroups: ['default'] });
    const certificate = (name: string): X509Certificate =>
      new X509Certificate(readFileSync(join(dirname(file), name)));
    const names = ['cert.pem', 'server.pem'];
    const old = names.map(certificate);
    const livesMs = old[0]!.validToDate.getTime() - Date.now();
    const aheadMs = 0.8 * livesMs;
    const clock: Clock = {
      nowMs: () => Date.now() + aheadMs,
      monotonicMs: () => performance.now() + aheadMs,
    };

    const config = loadRunnableRouterConfig(file);
    router = await Router.start({ config, log: silentLog, clock });
    await until(
      'both certificates renewed',
      () => names.map(certificate).map(({ fingerprint }) => fingerprint),
      (now) => now.every((fingerprint, index) => fingerprint !== old[index]!.fingerprint),
      WAIT_MS,
    );
    for (const [index, name] of names.entries()) {
      const renewed = certificate(name);
      assert.equal(renewed.subject, old[index]!.subject);
      assert.equal(renewed.subjectAltName, old[index]!.subjectAltName);
      assert.ok(renewed.publicKey.equals(old[index]!.publicKey));
      assert.ok(renewed.validFromDate >= old[index]!.validFromDate);
    }
    assert.equal(router.isConnected, true);

    await router.close();
    await mesh.untilOnline('ours', false);
    router = await Router.start({ config, log: silentLog });
    await mesh.untilOnline('ours');
    // The Go router asks the controller whether these are the certificates of `ours`.
    await until(
      'a link with the new certificates',
      () => mesh.links(),
      (links) => links.some(({ sourceRouter, destRouter }) => sourceRouter === 'ours' && destRouter === 'go'),
      WAIT_MS,
    );
    assert.equal(await router.renewCertificates(), false, 'nothing is due');
  },
);

test('a real router gets new certificates from our control plane', { skip }, async () => {
  ourMesh = await FabricMesh.start();
  const port = await freePort();
  const go = await ourMesh.goRouter(BINARY!, 'go', { linkListener: { port, groups: ['default'] } });
  const id = await ourMesh.goRouter(BINARY!, 'extending', { dialGroups: ['default'] }, ['--extend']);
  const log = (): string[] =>
    ourMesh!.control.output.split('\n').filter((line) => line.includes(`"router":"${id}"`));
  await until(
    'the old certificate no longer counts',
    log,
    (lines) => lines.some((line) => line.includes('older ones were removed')),
    WAIT_MS,
  );
  assert.ok(log().some((line) => line.includes('"msg":"certificates renewed"')));
  await ourMesh.untilLinked(id, go);
});
