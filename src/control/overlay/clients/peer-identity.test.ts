import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLog } from '#base';
import { enrollRouter, makeKeyRequest } from '#sdk';
import { openPki } from '../../pki/mod.ts';
import {
  openEdgeFixture,
  rawRequest,
  type EdgeFixture,
  type Enrolled,
} from '../../ziti/client-api/edge-api-fixture.ts';
import { openEmbedded } from '../../store/engine/migrated-copy-fixture.ts';

const DAY_MS = 86_400_000;
let fixture: EdgeFixture;
let one: Enrolled;
let two: Enrolled;

before(async () => {
  fixture = await openEdgeFixture();
  one = await fixture.enroll('one');
  two = await fixture.enroll('two');
});
after(() => fixture.close());

/** Resolves with the id of the identity that the server derives from a certificate, or the status of its refusal. */
async function seenAs(cert: string | undefined, key: string | undefined): Promise<string | number> {
  const answer = await rawRequest(fixture, {
    method: 'POST',
    path: '/authenticate?method=cert',
    cert,
    key,
  });
  if (answer.status !== 200) {
    assert.equal((answer.json as { error: { code: string } }).error.code, 'INVALID_AUTH');
    return answer.status;
  }
  return (answer.json as { data: { identityId: string } }).data.identityId;
}

test('the bearer of an enrolled certificate is its identity, without one nobody', async () => {
  assert.equal(await seenAs(one.identity.certPem, one.identity.keyPem), one.id);
  assert.equal(await seenAs(undefined, undefined), 401);
});

test('another certificate in the chain changes nothing', async () => {
  const filled = one.identity.certPem + two.identity.certPem;
  assert.equal(await seenAs(filled, one.identity.keyPem), one.id);
});

test('a certificate of another authority is refused, with our certificates as filler too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-rogue-'));
  const store = await openEmbedded();
  const rogue = await openPki({
    dataDir: folder,
    db: store.db,
    secrets: fixture.secrets,
    trustDomain: 'test.frontdoor',
    hosts: [],
    clock: fixture.clock,
    log: silentLog,
  });
  const { keyPem, csrPem } = await makeKeyRequest(one.id);
  const answer = await rogue.issueClient(csrPem, { id: one.id, lifetimeDays: 30 });
  assert.ok('issued' in answer);
  const { chainPem } = answer.issued;
  assert.equal(await seenAs(chainPem, keyPem), 401);
  assert.equal(await seenAs(chainPem + one.identity.certPem + fixture.pki.caBundlePem, keyPem), 401);
  rogue.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

test('a certificate of Frontdoor that no identity holds is refused', async () => {
  const { keyPem, csrPem } = await makeKeyRequest(one.id);
  const answer = await fixture.pki.issueClient(csrPem, { id: one.id, lifetimeDays: 30 });
  assert.ok('issued' in answer);
  assert.equal(await seenAs(answer.issued.chainPem, keyPem), 401);
});

test('a certificate that names one identity and is filed under another is refused', async () => {
  const { keyPem, csrPem } = await makeKeyRequest(one.id);
  const answer = await fixture.pki.issueClient(csrPem, { id: two.id, lifetimeDays: 30 });
  assert.ok('issued' in answer);
  const { fingerprint, spkiSha256, notAfterMs, chainPem } = answer.issued;
  await fixture.store.transaction(async (trx, touch) => {
    const row = {
      fingerprint,
      identity_id: one.id,
      spki_sha256: spkiSha256,
      not_after: notAfterMs,
      created_at: 1,
    };
    await trx.insertInto('certificate').values(row).execute();
    touch('identity', one.id);
  });
  assert.equal(fixture.model.identityByFingerprint(fingerprint)?.id, one.id);
  assert.equal(await seenAs(chainPem, keyPem), 401);
});

test('router and client certificates are not interchangeable', async () => {
  const { jwt } = await fixture.enrollment('router');
  const router = await enrollRouter({ jwt, hosts: ['localhost'] });
  assert.equal(await seenAs(router.certPem, router.keyPem), 401);
  assert.equal(await seenAs(router.serverCertPem, router.keyPem), 401);
  const renewal = { method: 'POST', path: '/edge/client/v1/enroll/extend/router', body: '{}' };
  const asClient = await rawRequest(fixture, {
    ...renewal,
    cert: one.identity.certPem,
    key: one.identity.keyPem,
  });
  assert.equal(asClient.status, 403);
});

test('a certificate counts from its first to its last day', async () => {
  fixture.clock.offsetMs = 31 * DAY_MS;
  assert.equal(await seenAs(one.identity.certPem, one.identity.keyPem), 401);
  fixture.clock.offsetMs = -2 * DAY_MS;
  assert.equal(await seenAs(one.identity.certPem, one.identity.keyPem), 401);
  fixture.clock.offsetMs = 0;
});

test('a TLS session is never resumed: each connection shows its certificate', async () => {
  const { connect } = await import('node:tls');
  const { once } = await import('node:events');
  const options = {
    host: 'localhost',
    port: Number(new URL(fixture.apiUrl).port),
    ca: fixture.pki.caBundlePem,
    cert: one.identity.certPem,
    key: one.identity.keyPem,
  };
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const sessions: Buffer[] = [];
    const first = connect({ ...options, maxVersion });
    first.on('session', (session: Buffer) => sessions.push(session));
    await once(first, 'secureConnect');
    first.write('GET /version HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(first, 'data');
    const offered = sessions.at(-1) ?? first.getSession();
    first.destroy();
    const second = connect({
      ...options,
      maxVersion,
      session: offered,
    });
    await once(second, 'secureConnect');
    assert.equal(second.isSessionReused(), false, maxVersion);
    second.destroy();
  }
});

test('a removed identity is nobody at once, on a connection that stands too', async () => {
  const gone = await fixture.enroll('gone');
  const { token } = await gone.client.session();
  assert.equal(fixture.sessions.byToken(token)?.identityId, gone.id);
  await fixture.store.transaction(async (trx, touch) => {
    await trx.deleteFrom('identity').where('id', '=', gone.id).execute();
    touch('identity', gone.id);
  });
  assert.equal(fixture.sessions.byToken(token), undefined);
  await assert.rejects(gone.client.services(), { kind: 'unauthenticated' });
});
