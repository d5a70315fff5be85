import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLog } from '#base';
import { loadIdentityFile, saveIdentityFile } from '#net/files';
import { enrollRouter, IdentityRenewal, makeKeyRequest } from '#sdk';
import { openEdgeFixture, rawRequest, type EdgeFixture, type Enrolled } from './edge-api-fixture.ts';

let fixture: EdgeFixture;
before(async () => {
  fixture = await openEdgeFixture();
});
after(() => fixture.close());

function fingerprint(certPem: string): string {
  return new X509Certificate(certPem).fingerprint.replaceAll(':', '').toLowerCase();
}

/** The replaced certificate is removed after the response, so this waits for the model. */
async function fingerprintsBecome(enrolled: Enrolled, expected: readonly string[]): Promise<void> {
  const present = (): string => fixture.model.identity(enrolled.id)?.fingerprints.join() ?? '';
  if (present() === expected.join()) return;
  const reached = Promise.withResolvers<void>();
  fixture.model.onChange(() => {
    if (present() === expected.join()) reached.resolve();
  });
  const deadline = setTimeout(() => reached.reject(new Error(`fingerprints are ${present()}`)), 30_000);
  await reached.promise;
  clearTimeout(deadline);
}

test('at two thirds of its life an identity gets a new key and certificate; the old one goes once that was used', async () => {
  const agent = await fixture.enroll('agent');
  const path = join(fixture.folder, 'identity.json');
  await saveIdentityFile(path, agent.identity);
  const { clock } = fixture;
  const renewal = new IdentityRenewal({ client: agent.client, path, log: silentLog, clock });
  const old = agent.identity;
  const { token } = await agent.client.session();
  assert.equal(await renewal.check(), false);
  fixture.clock.offsetMs = 21 * 86_400_000;
  assert.equal(await renewal.check(), true);
  fixture.clock.offsetMs = 0;
  const kept = await loadIdentityFile(path);
  assert.equal(kept.certPem, agent.client.identity.certPem);
  assert.notEqual(kept.keyPem, old.keyPem);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await fingerprintsBecome(agent, [fingerprint(kept.certPem)]);
  // Channels that stand with the old certificate keep their session; new calls with it are refused.
  assert.ok(
    fixture.sessions.byToken(token) === undefined ||
      fixture.sessions.byToken(token)!.fingerprints.length === 2,
  );
  const refused = await rawRequest(fixture, {
    method: 'POST',
    path: '/authenticate?method=cert',
    cert: old.certPem,
    key: old.keyPem,
  });
  assert.equal(refused.status, 401);
  renewal.close();
});

test('until the new certificate is used the old one serves, and an unfinished renewal leaves nothing behind', async () => {
  const agent = await fixture.enroll('agent');
  const own = fingerprint(agent.identity.certPem);
  const first = await agent.client.extendIdentity((await makeKeyRequest(agent.id)).csrPem);
  assert.deepEqual(fixture.model.identity(agent.id)?.fingerprints, [own, fingerprint(first)]);
  await agent.client.services();
  const second = await agent.client.extendIdentity((await makeKeyRequest(agent.id)).csrPem);
  await fingerprintsBecome(agent, [own, fingerprint(second)]);
  const leaf = new X509Certificate(second);
  assert.equal(Math.round((Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)) / 86_400_000), 30 + 1);
});

test('a router renews both certificates over its own', async () => {
  const { jwt, id } = await fixture.enrollment('router');
  const router = await enrollRouter({ jwt, name: 'r', hosts: ['localhost'] });
  const { csrPem } = await makeKeyRequest(id, { hosts: ['localhost', 'new.example'] });
  const answer = await rawRequest(fixture, {
    method: 'POST',
    path: '/edge/client/v1/enroll/extend/router',
    cert: router.certPem,
    key: router.keyPem,
    body: JSON.stringify({ certCsr: csrPem, serverCertCsr: csrPem }),
  });
  assert.equal(answer.status, 200);
  const { cert, serverCert, ca } = (answer.json as { data: Record<string, string> }).data;
  assert.ok(new X509Certificate(serverCert!).checkHost('new.example'));
  assert.equal(ca, fixture.pki.caBundlePem);
  assert.equal(fixture.model.identityByFingerprint(fingerprint(cert!))?.id, id);
});

test('strangers renew nothing, and a bad request costs nothing', async () => {
  const { csrPem } = await makeKeyRequest('x');
  const body = JSON.stringify({ csr: csrPem });
  const path = '/edge/client/v1/enroll/extend/identity';
  assert.equal((await rawRequest(fixture, { method: 'POST', path, body })).status, 401);
  const agent = await fixture.enroll('agent');
  await assert.rejects(agent.client.extendIdentity('nonsense'), { code: 'COULD_NOT_PROCESS_CSR' });
  assert.equal(fixture.model.identity(agent.id)?.fingerprints.length, 1);
});
