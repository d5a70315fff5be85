import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { fingerprintOf, type TlsIdentity } from '#net/channel';
import { makeRequestFor } from '#sdk';
import { contentType, type Frame } from '#wire';
import { ctrlMessages, type CtrlBody, type CtrlInit } from '#wire/ctrl';
import { until } from '../../../../test/support/deadline.ts';
import { attachModel } from '../model/model-loader.ts';
import { OverlayWorld } from '../testing/overlay-world.ts';
import type { ScriptedRouter } from '../testing/scripted-router.ts';

const WAIT_MS = 30_000;
const DAY_MS = 86_400_000;

let world: OverlayWorld;
let identity: TlsIdentity;

beforeEach(async () => {
  world = await OverlayWorld.open();
  identity = await world.certificate('r1');
  await world.addIdentity('r1', 'router', [fingerprint(identity.cert)]);
  const leaf = new X509Certificate(identity.cert);
  await world.store.db
    .insertInto('certificate')
    .values({
      fingerprint: fingerprint(identity.cert),
      identity_id: 'r1',
      spki_sha256: '',
      not_after: Date.parse(leaf.validTo),
      created_at: Date.parse(leaf.validFrom) + DAY_MS,
    })
    .execute();
  await attachModel(world.store, world.model);
  await world.start();
});
afterEach(() => world.close());

function fingerprint(pem: string): string {
  return fingerprintOf(new X509Certificate(pem));
}

function known(): string[] {
  return [...world.model.identity('r1')!.fingerprints];
}

async function connect(tls = identity): Promise<ScriptedRouter> {
  const router = await world.dial('r1', tls);
  await world.sayHello(router);
  return router;
}

async function requestFrame(id = 'r1', more: CtrlInit<'enrollmentExtendRouter'> = {}): Promise<Frame> {
  const csr = await makeRequestFor(identity.key, id, { hosts: ['localhost'] });
  const body = { clientCertCsr: csr, serverCertCsr: csr, requireVerification: true, ...more };
  return ctrlMessages.enrollmentExtendRouter.frame(body);
}

/** New certificates, as a router gets them. */
async function renew(router: ScriptedRouter): Promise<CtrlBody<'enrollmentCertsResponse'>> {
  router.send(await requestFrame());
  return router.next('enrollmentCertsResponse');
}

/** The controller's answer to a request or a verification: '' is a yes. */
async function answerTo(router: ScriptedRouter, frame: Frame): Promise<string> {
  const answer = await router.channel.request(frame, WAIT_MS);
  assert.equal(answer.contentType, contentType.error);
  return ctrlMessages.enrollmentVerified.decode(answer.body).code;
}

function verify(router: ScriptedRouter, clientCertPem: string): Promise<string> {
  return answerTo(router, ctrlMessages.enrollmentExtendRouterVerify.frame({ clientCertPem }));
}

test('a router gets certificates for its own key; old and new count until it shows the new one, then that alone', async () => {
  const router = await connect();
  const old = fingerprint(identity.cert);
  const { clientCertPem, serverCertPem, caCertsPem } = await renew(router);
  const leaf = new X509Certificate(clientCertPem);
  assert.equal(leaf.subject, 'CN=r1');
  assert.deepEqual(leaf.publicKey.export({ type: 'spki', format: 'der' }), publicKeyOf(identity.cert));
  assert.equal(Math.round((Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)) / DAY_MS), 30 + 1);
  assert.equal(new X509Certificate(serverCertPem).checkHost('localhost'), 'localhost');
  assert.equal(caCertsPem, world.pki.caBundlePem);
  assert.deepEqual(known(), [old, fingerprint(clientCertPem)]);
  assert.equal(await verify(router, clientCertPem), '');
  assert.deepEqual(known(), [fingerprint(clientCertPem)]);
  router.channel.close('again');
  await assert.rejects(connect(), /refused/);
  await connect({ ...identity, cert: clientCertPem });
});

test('a new channel with the new certificate proves it too', async () => {
  const router = await connect();
  const { clientCertPem } = await renew(router);
  router.channel.close('crashed before it said so');
  world.advance(60_000);
  await connect({ ...identity, cert: clientCertPem });
  // The old one is dropped beside the connection, which does not wait for it.
  const wanted = fingerprint(clientCertPem);
  await until('the new one alone', known, (them) => them.join() === wanted);
});

test('a renewal that was never finished is replaced by the next; the certificate in use stays', async () => {
  const router = await connect();
  const first = await renew(router);
  world.advance(35_000);
  const second = await renew(router);
  assert.deepEqual(known(), [fingerprint(identity.cert), fingerprint(second.clientCertPem)]);
  assert.equal(await verify(router, first.clientCertPem), 'INVALID_CERTIFICATE');
  assert.equal(await verify(router, second.clientCertPem), '');
});

test('a channel outlives the certificate that it was opened with, and renews what it has shown since', async () => {
  const router = await connect();
  const first = await renew(router);
  assert.equal(await verify(router, first.clientCertPem), '');
  world.advance(20 * DAY_MS);
  const second = await renew(router);
  assert.deepEqual(known(), [fingerprint(first.clientCertPem), fingerprint(second.clientCertPem)]);
});

test('a certificate of another router, or an invalid one, is refused', async () => {
  const router = await connect();
  await renew(router);
  const before = known();
  const other = await world.certificate('r2');
  const stranger = await world.certificate('r1');
  for (const pem of [other.cert, stranger.cert, identity.key, '', 'x'.repeat(70_000)]) {
    assert.equal(await verify(router, pem), 'INVALID_CERTIFICATE');
  }
  assert.deepEqual(known(), before);
});

test('requests that are malformed, for another router or too many are refused and change nothing', async () => {
  const router = await connect();
  const before = known();
  assert.equal(await answerTo(router, await requestFrame('r2')), 'COULD_NOT_PROCESS_CSR');
  assert.equal(await answerTo(router, await requestFrame()), 'TOO_MANY_REQUESTS');
  world.advance(10_000);
  assert.equal(
    await answerTo(router, await requestFrame('r1', { serverCertCsr: 'nonsense' })),
    'COULD_NOT_PROCESS_CSR',
  );
  assert.deepEqual(known(), before);
  router.send({ ...(await requestFrame()), body: Uint8Array.of(0x0a, 0xff) });
  await router.closed();
});

test('a certificate that has expired renews nothing, though its channel stands', async () => {
  const router = await connect();
  world.advance(31 * DAY_MS);
  assert.equal(await answerTo(router, await requestFrame()), 'UNAUTHORIZED');
});

test('a certificate that was taken away renews nothing, though its channel stands', async () => {
  const router = await connect();
  await world.store.transaction(async (trx, touch) => {
    await trx.deleteFrom('certificate').where('identity_id', '=', 'r1').execute();
    touch('identity', 'r1');
  });
  assert.equal(await answerTo(router, await requestFrame()), 'UNAUTHORIZED');
  assert.deepEqual(known(), []);
});

function publicKeyOf(pem: string): Buffer {
  return new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
}

test('a renewal and the end of the replaced certificate are recorded in the audit trail', async () => {
  const router = await connect();
  const { clientCertPem } = await renew(router);
  assert.equal(await verify(router, clientCertPem), '');
  const events = await world.store.db
    .selectFrom('audit_event')
    .selectAll()
    .where('organization_id', '=', '')
    .orderBy('sequence')
    .execute();
  assert.deepEqual(
    events.map((event) => [event.actor_kind, event.actor_id, event.action, event.target_id, event.address]),
    [
      ['router', 'r1', 'renewCertificate', 'r1', '127.0.0.1'],
      ['system', null, 'dropReplacedCertificates', 'r1', null],
    ],
  );
});
