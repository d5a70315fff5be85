import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { silentLog } from '#base';
import { certificatesOfPem } from '#net';
import { openMemoryChannel, type Channel } from '#net/channel';
import { contentType, encodeTrustBundle, FrameHeaders, headerId, makeFrame, type Frame } from '#wire';
import { ctrlMessages, type CtrlInit } from '#wire/ctrl';
import {
  makeTestAuthority,
  type TestAuthority,
  type TestIdentity,
} from '../../../test/support/certificates.ts';
import { loadRouterIdentity, type RouterIdentity } from '../identity/router-identity.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { routerConfigFixture } from '../testing/router-config-fixture.ts';
import type { CtrlHandler } from '../ctrl/controllers.ts';
import { CertificateRenewal } from './certificate-renewal.ts';

const DAY_MS = 86_400_000;
/** Certificates of the test authority are valid from a day ago to seven days from now, so they are due in 4⅓ days. */
const DUE_MS = 5 * DAY_MS;
const csr = { subject: {}, hosts: ['localhost'], uris: [], emails: [] };

let folder: string;
let authority: TestAuthority;
let first: TestIdentity;
let identity: RouterIdentity;
let config: RouterConfig;
let controller: Channel | undefined;
let router: Channel;
let offsetMs: number;
let renewal: CertificateRenewal;
/** Frames that the controller received, oldest first. */
let requests: Frame[];

type Answers = (frame: Frame, channel: Channel) => Promise<void> | void;

function open(answers: Answers): void {
  const peer = { id: 'x', hello: FrameHeaders.empty, fingerprint: '', address: 'memory' };
  const [ours, theirs] = openMemoryChannel(
    { id: 'c', log: silentLog, peer },
    { id: 'c', log: silentLog, peer },
  );
  router = ours;
  controller = theirs;
  const from = { channel: ours } as Parameters<CtrlHandler>[1];
  router.handle({ onFrame: (frame) => renewal.handlers().get(frame.contentType)?.(frame, from) });
  controller.handle({
    onFrame: (frame, channel) => {
      requests.push(frame);
      void answers(frame, channel);
    },
  });
}

const fingerprintOf = (pem: string): string => new X509Certificate(pem).fingerprint256;

function assertSame(actual: string, expected: string): void {
  assert.equal(fingerprintOf(actual), fingerprintOf(expected));
}

function start(
  more: { connected?: () => boolean; answerMs?: number; config?: RouterConfig } = {},
): CertificateRenewal {
  const connected = more.connected ?? ((): boolean => true);
  return new CertificateRenewal({
    config: more.config ?? config,
    identity: () => identity,
    controller: () => (connected() ? router : undefined),
    use: (it) => {
      identity = it;
    },
    clock: { nowMs: () => Date.now() + offsetMs, monotonicMs: () => performance.now() + offsetMs },
    log: silentLog,
    answerMs: more.answerMs ?? 30_000,
  });
}

async function certificates(request: Frame, by = authority): Promise<Frame> {
  const { clientCertCsr, serverCertCsr } = ctrlMessages.enrollmentExtendRouter.decode(request.body);
  return ctrlMessages.enrollmentCertsResponse.frame({
    clientCertPem: await by.certify(clientCertCsr),
    serverCertPem: await by.certify(serverCertCsr),
    caCertsPem: by.ca,
  });
}

/** A controller that issues the requested certificates and answers the verification with `verdict`. */
function certifying(verdict: CtrlInit<'enrollmentVerified'>): Answers {
  return async (frame, channel) => {
    if (frame.contentType === contentType.enrollmentExtendRouter) channel.send(await certificates(frame));
    else channel.reply(frame, ctrlMessages.enrollmentVerified.frame(verdict));
  };
}

function file(name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-renewal-'));
  authority = await makeTestAuthority();
  first = await authority.issue('r1');
  const path = (name: string): string => join(folder, name);
  for (const name of ['cert.pem', 'server.pem']) writeFileSync(path(name), first.cert, { mode: 0o600 });
  writeFileSync(path('key.pem'), first.key);
  writeFileSync(path('ca.pem'), first.ca);
  config = routerConfigFixture(folder, { csr });
  config = { ...config, identity: { ...config.identity, serverCert: path('server.pem') } };
  identity = loadRouterIdentity(config.identity);
  offsetMs = DUE_MS;
  requests = [];
});
afterEach(() => {
  renewal.close();
  router?.close('test over');
  rmSync(folder, { recursive: true });
});

test('at two thirds of their life both certificates are renewed with the same key, written, used and confirmed', async () => {
  open(certifying({}));
  renewal = start();
  offsetMs = 4 * DAY_MS;
  assert.equal(await renewal.check(), false);
  assert.equal(requests.length, 0);
  offsetMs = DUE_MS;
  assert.equal(await renewal.check(), true);
  assert.deepEqual(
    requests.map((frame) => frame.contentType),
    [contentType.enrollmentExtendRouter, contentType.enrollmentExtendRouterVerify],
  );
  assert.equal(ctrlMessages.enrollmentExtendRouter.decode(requests[0]!.body).requireVerification, true);
  const told = ctrlMessages.enrollmentExtendRouterVerify.decode(requests[1]!.body).clientCertPem;
  assert.equal(told, file('cert.pem'));
  assert.notEqual(file('cert.pem'), first.cert);
  assert.notEqual(file('server.pem'), first.cert);
  assert.equal(file('key.pem'), first.key);
  assert.equal(statSync(join(folder, 'cert.pem')).mode & 0o777, 0o600);
  assertSame(identity.client.cert, file('cert.pem'));
  assertSame(identity.server.default.cert, file('server.pem'));
  assert.deepEqual(loadRouterIdentity(config.identity), identity);
});

test('certificates that the controller takes back are not kept', async () => {
  open(certifying({ code: 'INVALID', message: 'no' }));
  renewal = start();
  await assert.rejects(renewal.check(), /refused its own certificates: INVALID no/);
  assert.equal(file('cert.pem'), first.cert);
  assert.equal(file('server.pem'), first.cert);
  assertSame(identity.client.cert, first.cert);
});

test('without a confirmation the new certificates stay: the controller takes both', async () => {
  open(async (frame, channel) => {
    if (frame.contentType === contentType.enrollmentExtendRouter) channel.send(await certificates(frame));
    else channel.close('gone');
  });
  renewal = start();
  assert.equal(await renewal.check(), true);
  assert.notEqual(file('cert.pem'), first.cert);
  assertSame(identity.client.cert, file('cert.pem'));
});

test('a refusal, no answer, and certificates for another key, name or authority change nothing', async () => {
  const stranger = await authority.issue('r1');
  const other = await makeTestAuthority('another CA');
  const cases: readonly (readonly [Answers, RegExp, answerMs?: number])[] = [
    [
      (frame, channel) =>
        void channel.reply(frame, ctrlMessages.enrollmentVerified.frame({ code: 'BUSY', message: 'later' })),
      /refused: BUSY later/,
    ],
    [() => {}, /no response/, 200],
    [
      (_frame, channel) => {
        const pems = { clientCertPem: stranger.cert, serverCertPem: stranger.cert };
        channel.send(ctrlMessages.enrollmentCertsResponse.frame(pems));
      },
      /for another key/,
    ],
    [
      (_frame, channel) =>
        void channel.send(
          ctrlMessages.enrollmentCertsResponse.frame({ clientCertPem: 'x', serverCertPem: 'y' }),
        ),
      /are none/,
    ],
    [async (frame, channel) => void channel.send(await certificates(frame, other)), /not of our authority/],
  ];
  for (const [answers, expected, answerMs] of cases) {
    open(answers);
    renewal = start(answerMs === undefined ? {} : { answerMs });
    await assert.rejects(renewal.check(), expected);
    assert.equal(requests.at(-1)?.contentType, contentType.enrollmentExtendRouter);
    assert.equal(file('cert.pem'), first.cert);
    assert.equal(file('server.pem'), first.cert);
    assertSame(identity.client.cert, first.cert);
    renewal.close();
    router.close('next case');
  }
});

test('a renewal that found no controller is done when one connects', async () => {
  let isConnected = false;
  open(certifying({}));
  renewal = start({ connected: () => isConnected });
  await assert.rejects(renewal.check(), { code: 'no-controller' });
  isConnected = true;
  renewal.onControllerConnected();
  assert.equal(await renewal.check(), true);
  assert.notEqual(fingerprintOf(identity.client.cert), fingerprintOf(first.cert));
});

test('certificates that stand in the file itself are not renewed, and the error names them', async () => {
  open(certifying({}));
  renewal = start({ config: { ...config, identity: { ...config.identity, cert: `pem:${first.cert}` } } });
  await assert.rejects(renewal.check(), /identity\.cert stand as PEM in .*router\.yml/);
  assert.equal(requests.length, 0);
});

test('without a csr section no certificate is requested, and the error has the reason', async () => {
  open(certifying({}));
  renewal = start({ config: { ...config, csr: undefined } });
  await assert.rejects(renewal.check(), { code: 'no-csr' });
  assert.equal(requests.length, 0);
});

/** Resolves to whether the router saved the bundle, and its words if it did not. */
async function announced(trustedPem: string, endedPem = ''): Promise<readonly [boolean | undefined, string]> {
  const body = encodeTrustBundle({ trustedPem, endedPem });
  const answer = await controller!.request(makeFrame(contentType.trustBundle, { body }), 30_000);
  return [answer.headers.bool(headerId.channel.resultSuccess), new TextDecoder().decode(answer.body)];
}

test('authorities that the controller trusts come into the ca file, those that ended go, and what the operator added stays', async () => {
  const [next, added] = [await makeTestAuthority('next CA'), await makeTestAuthority('of the operator')];
  writeFileSync(join(folder, 'ca.pem'), first.ca + added.ca);
  identity = loadRouterIdentity(config.identity);
  open(async (frame, channel) => {
    if (frame.contentType === contentType.enrollmentExtendRouter)
      channel.send(await certificates(frame, next));
    else channel.reply(frame, ctrlMessages.enrollmentVerified.frame({}));
  });
  offsetMs = 0;
  renewal = start();
  const anchors = (): string[] => certificatesOfPem(identity.client.ca).map((one) => one.fingerprint256);
  assert.deepEqual(await announced(first.ca + next.ca), [true, '']);
  assert.deepEqual(anchors(), [first.ca, added.ca, next.ca].map(fingerprintOf));
  assert.equal(identity.server.default.ca, identity.client.ca);
  assert.deepEqual(loadRouterIdentity(config.identity), identity);
  assert.equal(await renewal.check(), false, 'the first of the list issued the certificate in use');
  assert.deepEqual(await announced(next.ca + first.ca), [true, '']);
  assert.equal(await renewal.check(), true, 'another authority issues');
  assert.equal(await renewal.check(), false);
  assert.deepEqual(await announced(next.ca, first.ca), [true, '']);
  assert.deepEqual(anchors(), [added.ca, next.ca].map(fingerprintOf));
});

test('a list of authorities that cannot be saved is refused, and changes nothing', async () => {
  const next = await makeTestAuthority('next CA');
  open(certifying({}));
  config = { ...config, identity: { ...config.identity, ca: `pem:${first.ca}` } };
  renewal = start({ config });
  const [isSaved, why] = await announced(first.ca + next.ca);
  assert.deepEqual([isSaved, /identity\.ca stands as PEM/.test(why)], [false, true]);
  const [isRead] = await announced('nonsense');
  assert.equal(isRead, false);
  assert.equal(fingerprintOf(identity.client.ca), fingerprintOf(first.ca));
});
