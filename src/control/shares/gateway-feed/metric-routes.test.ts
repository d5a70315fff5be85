import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FORMAT_HEADER } from '#base/shapes';
import { TRAFFIC_SPAN_MS, type TrafficReport } from '#domain/gateway-shapes';
import {
  openEdgeFixture,
  rawRequest,
  type EdgeFixture,
  type Enrolled,
} from '../../ziti/client-api/edge-api-fixture.ts';

let fixture: EdgeFixture;
let environment: Enrolled;
let gateway: Enrolled;
let shareId: string;

before(async () => {
  fixture = await openEdgeFixture();
  environment = await fixture.enroll('one');
  gateway = await fixture.enroll('gateway', 'gateway');
  shareId = (await fixture.share({ environmentId: environment.id, shareMode: 'public', name: 'app' })).id;
});
after(() => fixture.close());

function reportOf(batch: number, source = 'process-1'): TrafficReport {
  const nowMs = fixture.clock.nowMs();
  const sample = {
    startsAt: nowMs - (nowMs % TRAFFIC_SPAN_MS),
    shareId,
    environmentId: environment.id,
    frontdoorId: fixture.frontdoorIds[0],
    requests: 2,
    errors: 1,
    byClass: [1, 0, 0, 1],
    bytesIn: 10,
    bytesOut: 20,
    latency: [10, 2],
  };
  return { source, batch, samples: [sample] };
}

async function requestsOfFrontdoor(): Promise<number> {
  const rows = await fixture.store.db
    .selectFrom('metric_rollup')
    .select('requests')
    .where('scope_id', '=', fixture.frontdoorIds[0])
    .where('resolution_ms', '=', 86_400_000)
    .execute();
  return rows.reduce((sum, { requests }) => sum + requests, 0);
}

async function post(body: string, caller?: Enrolled): Promise<{ status: number; text: string }> {
  return rawRequest(fixture, {
    method: 'POST',
    path: '/gateway/v1/metrics',
    body,
    cert: caller?.identity.certPem,
    key: caller?.identity.keyPem,
  });
}

test("a gateway's report counts once, in the name of the gateway and its process", async () => {
  await gateway.gatewayApi.reportTraffic(reportOf(1));
  await gateway.gatewayApi.reportTraffic(reportOf(1));
  assert.equal(await requestsOfFrontdoor(), 2);
  await gateway.gatewayApi.reportTraffic(reportOf(1, 'process-2'));
  const second = await fixture.enroll('second gateway', 'gateway');
  await second.gatewayApi.reportTraffic(reportOf(1));
  assert.equal(await requestsOfFrontdoor(), 6);
  assert.ok(
    fixture.logged.some((line) => line.includes('duplicate traffic report') && line.includes(gateway.id)),
  );
});

test('missing reports, and traffic of missing shares, are logged', async () => {
  await gateway.gatewayApi.reportTraffic(reportOf(4));
  assert.ok(fixture.logged.some((line) => line.includes('"missing":2')));
  const { samples, ...report } = reportOf(5);
  await gateway.gatewayApi.reportTraffic({
    ...report,
    samples: [{ ...samples[0]!, environmentId: 'nobody' }],
  });
  assert.ok(fixture.logged.some((line) => line.includes('"samples":1') && line.includes('does not exist')));
});

test('only gateways report, and only what has the form of a report', async () => {
  const before = await requestsOfFrontdoor();
  const good = JSON.stringify(reportOf(6));
  assert.equal((await post(good)).status, 401);
  assert.equal((await post(good, environment)).status, 403);
  for (const body of [
    '',
    '[]',
    '{',
    '{"source":"process-1"}',
    JSON.stringify({ ...reportOf(6), samples: [] }),
  ]) {
    assert.equal((await post(body, gateway)).status, 400, body);
  }
  assert.equal(
    (await post(JSON.stringify({ ...reportOf(6), more: 'x'.repeat(1_048_576) }), gateway)).status,
    413,
  );
  assert.equal(await requestsOfFrontdoor(), before);
  assert.equal((await post(good, gateway)).status, 204);
  assert.equal(await requestsOfFrontdoor(), before + 2);
});

test('a report of a newer format is refused with what to upgrade; one without a number has the first format', async () => {
  const { certPem: cert, keyPem: key } = gateway.identity;
  const request = {
    method: 'POST',
    path: '/gateway/v1/metrics',
    body: JSON.stringify(reportOf(20)),
    cert,
    key,
  };
  const newer = await rawRequest(fixture, { ...request, headers: { [FORMAT_HEADER]: '2' } });
  assert.equal(newer.status, 400);
  assert.match(newer.text, /traffic report: it has format 2, .* up to 1: upgrade the control plane/);
  assert.equal((await rawRequest(fixture, request)).status, 204);
  const path = '/gateway/v1/sessions/find';
  const found = await rawRequest(fixture, { ...request, path, body: '{"token":"none"}' });
  assert.equal(found.headers[FORMAT_HEADER], '1');
});

test('a sample that cannot be read loses itself, and the others count', async () => {
  const before = await requestsOfFrontdoor();
  const { samples, ...report } = reportOf(21);
  const bad = { ...samples[0], requests: -1 };
  assert.equal((await post(JSON.stringify({ ...report, samples: [bad, ...samples] }), gateway)).status, 204);
  assert.equal(await requestsOfFrontdoor(), before + 2);
  assert.ok(fixture.logged.some((line) => line.includes('"lost":1,"field":"samples.0.requests"')));
});
