import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import * as tls from 'node:tls';
import { after, before, test } from 'node:test';
import { enrollIdentity, enrollRouter } from '#sdk';
import { openEdgeFixture, rawRequest, type EdgeFixture } from './edge-api-fixture.ts';

let fixture: EdgeFixture;
before(async () => {
  fixture = await openEdgeFixture({ enroll: { perSecond: 1_000, burst: 10_000 } });
});
after(() => fixture.close());

function csr(subject = '/CN=x', ...more: string[]): string {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '/dev/null'];
  return execFileSync('openssl', ['req', '-new', '-subj', subject, ...key, ...more], {
    stdio: ['ignore', 'pipe', 'ignore'],
  }).toString();
}

function enroll(
  jti: string,
  body: string,
  path = `/enroll?method=ott&token=${jti}`,
): ReturnType<typeof rawRequest> {
  return rawRequest(fixture, { method: 'POST', path, headers: { 'content-type': 'text/plain' }, body });
}

/** Without the request id, which differs each time. */
function refusal(answer: { status: number; json: unknown }): unknown {
  const { error } = answer.json as { error: { code: string; message: string; requestId: string } };
  return [answer.status, error.code, error.message];
}

const INVALID = [400, 'INVALID_ENROLLMENT_TOKEN', 'The supplied token is not valid'];

test('an agent enrolls with its name: 30 days, and its environment stands in the store', async () => {
  const { jwt, id } = await fixture.enrollment();
  const enrolled = await enrollIdentity({ jwt, name: 'Büro 1' });
  assert.equal(enrolled.id, id);
  const leaf = new X509Certificate(enrolled.identity.certPem);
  assert.equal(leaf.subjectAltName, `URI:spiffe://test.frontdoor/identity/${id}`);
  assert.equal(Math.round((Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)) / 86_400_000), 30 + 1);
  const row = await fixture.store.db
    .selectFrom('identity')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  assert.deepEqual(
    [row.kind, row.name, row.frontdoor_id],
    ['environment', 'Büro 1', fixture.frontdoorIds[0]],
  );
  assert.deepEqual(fixture.model.identity(id)?.fingerprints, [
    leaf.fingerprint.replaceAll(':', '').toLowerCase(),
  ]);
});

test('a foreign client is called by its id and gets a year', async () => {
  const { jti, id } = await fixture.enrollment();
  const answer = await enroll(jti, csr());
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(answer.headers['ziti-instance-id'], fixture.api.instanceId);
  assert.equal(Number(answer.headers['content-length']), Buffer.byteLength(answer.text));
  const { data } = answer.json as { data: { cert: string } };
  assert.equal(data.cert.match(/BEGIN CERTIFICATE/g)?.length, 2);
  const leaf = new X509Certificate(data.cert);
  assert.equal(Math.round((Date.parse(leaf.validTo) - Date.parse(leaf.validFrom)) / 86_400_000), 365 + 1);
  assert.equal(fixture.model.identity(id)?.name, id);
});

test('both forms of the call, at the root and below the edge path, enroll', async () => {
  const below = await fixture.enrollment();
  assert.equal(
    (await enroll(below.jti, csr(), `/edge/client/v1/enroll?method=ott&token=${below.jti}`)).status,
    200,
  );
  const json = await fixture.enrollment();
  const body = JSON.stringify({ clientCsr: csr(), token: json.jti });
  assert.equal((await enroll('', body, '/edge/client/v1/enroll/ott')).status, 200);
});

test('a hundred clients race for one code: one certificate, ninety-nine equal refusals', async () => {
  const { jti, id } = await fixture.enrollment();
  const requests = [csr('/CN=a'), csr('/CN=b')];
  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => enroll(jti, requests[n % 2]!)));
  assert.equal(answers.filter((answer) => answer.status === 200).length, 1);
  for (const answer of answers) if (answer.status !== 200) assert.deepEqual(refusal(answer), INVALID);
  const certificates = await fixture.store.db
    .selectFrom('certificate')
    .selectAll()
    .where('identity_id', '=', id)
    .execute();
  assert.equal(certificates.length, 1);
});

test('unknown, used, expired, foreign and wrongly used tokens get one refusal', async () => {
  const used = await fixture.enrollment();
  await enroll(used.jti, csr());
  const expired = await fixture.enrollment();
  const router = await fixture.enrollment('router');
  const request = csr();
  for (const jti of [used.jti, 'x'.repeat(54), '', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', router.jti]) {
    assert.deepEqual(refusal(await enroll(jti, request)), INVALID);
  }
  for (const method of ['ottca', 'updb', 'erottx', '__proto__']) {
    const path = `/enroll?method=${method}&token=${used.jti}`;
    assert.deepEqual(refusal(await enroll('', request, path)), INVALID);
  }
  fixture.clock.offsetMs = 901_000;
  assert.deepEqual(refusal(await enroll(expired.jti, request)), INVALID);
  fixture.clock.offsetMs = 0;
});

test('four bad requests may be followed by a good one, five kill the code', async () => {
  const four = await fixture.enrollment();
  const five = await fixture.enrollment();
  for (let n = 0; n < 5; n += 1) {
    const answer = await enroll(five.jti, 'nonsense');
    assert.deepEqual(
      [answer.status, (answer.json as { error: { code: string } }).error.code],
      [400, 'COULD_NOT_PROCESS_CSR'],
    );
    if (n < 4) await enroll(four.jti, 'nonsense');
  }
  assert.equal((await enroll(four.jti, csr())).status, 200);
  assert.deepEqual(refusal(await enroll(five.jti, csr())), INVALID);
});

test('a deleted frontdoor takes its enrollments along', async () => {
  const { jti } = await fixture.enrollment('environment', 1);
  await fixture.store.transaction(async (trx, touch) => {
    await trx.deleteFrom('frontdoor').where('id', '=', fixture.frontdoorIds[1]).execute();
    touch('frontdoor', fixture.frontdoorIds[1]);
  });
  assert.deepEqual(refusal(await enroll(jti, csr())), INVALID);
});

test('a router enrolls with two certificates for its names, and is no client of the edge API', async () => {
  const { jwt, id } = await fixture.enrollment('router');
  const router = await enrollRouter({ jwt, name: 'router one', hosts: ['router.example', '127.0.0.1'] });
  assert.equal(router.id, id);
  assert.deepEqual(router.controlAddresses, ['tls:localhost:6262']);
  assert.equal(router.caPem, fixture.pki.caBundlePem);
  assert.ok(new X509Certificate(router.serverCertPem).checkHost('router.example'));
  assert.deepEqual(fixture.model.identity(id)?.kind, 'router');
  const answer = await rawRequest(fixture, {
    method: 'POST',
    path: '/authenticate?method=cert',
    cert: router.certPem,
    key: router.keyPem,
    body: '{}',
  });
  assert.equal(answer.status, 401);
});

test('a router request under another name is refused', async () => {
  const { jti } = await fixture.enrollment('router');
  const body = JSON.stringify({ certCsr: csr('/CN=other'), serverCertCsr: csr('/CN=other') });
  const answer = await enroll('', body, `/edge/client/v1/enroll?method=erott&token=${jti}`);
  assert.match(answer.text, /COULD_NOT_PROCESS_CSR.*router id/);
});

test('the SDK refuses a token that the server at its issuer did not sign, and an expired one with another error', async () => {
  const { jwt } = await fixture.enrollment();
  const [header, body, signature] = jwt.split('.');
  const flipped = `${header}.${body}.${signature!.startsWith('A') ? 'B' : 'A'}${signature!.slice(1)}`;
  await assert.rejects(enrollIdentity({ jwt: flipped }), { code: 'enrollment-token-unproven' });
  await assert.rejects(enrollIdentity({ jwt: 'a.b.c' }), { code: 'enrollment-token-unreadable' });
  const expired = fixture.pki.mintEnrollmentJwt({
    issuer: fixture.apiUrl,
    subject: 'x',
    jti: 'x',
    method: 'ott',
    expiresAtMs: Date.now() - 120_000,
    controlAddresses: [],
  });
  await assert.rejects(enrollIdentity({ jwt: expired }), {
    code: 'enrollment-token-expired',
    message: /has expired \(it was valid until .*, and the clock of this machine says .*or set the clock/,
  });
  const router = await fixture.enrollment('router');
  await assert.rejects(enrollIdentity({ jwt: router.jwt }), { code: 'enrollment-token-of-other-kind' });
});

test('a large body of a peer without a certificate is refused before its last byte, with a length and without', async () => {
  for (const [path, stated, unstated] of [
    ['/enroll?method=ott&token=x', 413, 413],
    ['/authenticate?method=password', 413, 413],
    ['/sessions', 413, 401],
    ['/nowhere', 413, 404],
    ['/agent/v1/shares', 413, 401],
    ['/gateway/v1/usage', 413, 401],
  ] as const) {
    for (const [framing, status] of [
      ['content-length: 65537', stated],
      ['transfer-encoding: chunked', unstated],
    ] as const) {
      const socket = tls.connect({
        host: 'localhost',
        port: Number(new URL(fixture.apiUrl).port),
        ca: fixture.pki.caBundlePem,
      });
      socket.on('error', () => {});
      socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\n${framing}\r\n\r\n`);
      // The last byte (or the last chunk) never comes.
      if (framing.startsWith('transfer')) socket.write(`10001\r\n${'x'.repeat(65_537)}\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      assert.equal(Number(answer.toString().slice(9, 12)), status, `${path} ${framing}`);
      assert.match(answer.toString(), /ziti-instance-id: /i);
      assert.match(answer.toString(), /connection: close/i);
      socket.destroy();
    }
  }
});

test('attempts are limited per address', async () => {
  const strict = await openEdgeFixture({ enroll: { perSecond: 1, burst: 3 } });
  try {
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const answer = await rawRequest(strict, {
        method: 'POST',
        path: '/enroll?method=ott&token=x',
        body: 'x',
      });
      statuses.push(answer.status);
      if (answer.status === 429) assert.equal(answer.headers['retry-after'], '1');
    }
    assert.deepEqual(statuses, [400, 400, 400, 429, 429]);
    assert.equal((await rawRequest(strict, { path: '/version' })).status, 200);
  } finally {
    await strict.close();
  }
});

test('no one-time token stands in the log', async () => {
  const { jti, jwt } = await fixture.enrollment();
  await enroll(jti, 'nonsense');
  await enroll(jti, csr());
  await enroll(jti, csr());
  const log = fixture.logged.join('\n');
  assert.match(log, /enrollment refused/);
  assert.ok(!log.includes(jti) && !log.includes(jwt.split('.')[2]!));
});
