import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { within } from '../../../../test/support/deadline.ts';
import {
  NO_SHARE,
  type GatewayReplay,
  type InspectedRequest,
  type RequestFailure,
} from '#domain/gateway-shapes';
import { findUnroutedFailure } from '../records/unrouted-failure-store.ts';
import { resourceChangeOf } from '../../store/mod.ts';
import {
  openEdgeFixture,
  rawRequest,
  type EdgeFixture,
  type Enrolled,
} from '../../ziti/client-api/edge-api-fixture.ts';

let fixture: EdgeFixture;
let gateway: Enrolled;
let shareId: string;
before(async () => {
  fixture = await openEdgeFixture();
  gateway = await fixture.enroll('gateway', 'gateway');
  const host = await fixture.enroll('host');
  ({ id: shareId } = await fixture.share({ environmentId: host.id, shareMode: 'public' }));
});
after(() => fixture.close());

const timings = { decidedMs: 0.1, circuitMs: null, firstByteMs: null, doneMs: 3 };
const failureOf = (id: string, more: Partial<RequestFailure> = {}): RequestFailure => ({
  id,
  at: 1_700_000_000_000,
  shareId,
  frontdoorId: 'forged',
  status: 502,
  code: 'no-answer',
  hop: 'service',
  cause: 'a cause',
  method: 'GET',
  host: 'app',
  path: '/',
  client: '127.0.0.1',
  identity: null,
  decision: 'open',
  traceId: null,
  timings,
  ...more,
});
const message = { headers: [], body: '', bodyBytes: 0, isTruncated: false };
const inspectedOf = (id: string, more: Partial<InspectedRequest> = {}): InspectedRequest => ({
  id,
  replayOf: null,
  at: 1_700_000_000_000,
  shareId,
  frontdoorId: 'forged',
  method: 'GET',
  host: 'app',
  target: '/',
  client: '127.0.0.1',
  identity: null,
  decision: 'open',
  status: 200,
  failure: null,
  traceId: null,
  timings,
  request: message,
  answer: message,
  ...more,
});

const stored = (table: 'request_failure' | 'inspected_request') =>
  fixture.store.db.selectFrom(table).select(['id', 'frontdoor_id', 'share_id']).execute();

test('a record of a gateway is stored once, under the frontdoor that owns the share', async () => {
  const failures = [failureOf('failure-1'), failureOf('failure-2', { shareId: 'unknown' })];
  for (let i = 0; i < 2; i += 1) {
    await gateway.gatewayApi.reportFailures(failures);
    await gateway.gatewayApi.reportInspections([inspectedOf('inspected-1')]);
  }
  const frontdoor_id = fixture.frontdoorIds[0];
  assert.deepEqual(await stored('request_failure'), [{ id: 'failure-1', frontdoor_id, share_id: shareId }]);
  assert.deepEqual(await stored('inspected_request'), [
    { id: 'inspected-1', frontdoor_id, share_id: shareId },
  ]);
});

test('a report is announced with the token of each share that has new records, and nothing else', async () => {
  const announced: unknown[] = [];
  fixture.store.onChange((changes) => {
    announced.push(...changes.map(resourceChangeOf).filter((change) => change !== undefined));
  });
  await gateway.gatewayApi.reportFailures([failureOf('failure-8'), failureOf('failure-9')]);
  await gateway.gatewayApi.reportFailures([failureOf('failure-10', { shareId: 'unknown' })]);
  await gateway.gatewayApi.reportInspections([inspectedOf('inspected-8')]);
  const share = { ownerId: fixture.frontdoorIds[0], id: fixture.catalog.get(shareId)!.token };
  assert.deepEqual(announced, [
    { ...share, kind: 'failure' },
    { ...share, kind: 'request' },
  ]);
});

test('a record that is malformed or too much loses itself, and a batch of nothing else is refused', async () => {
  const { failures, inspected } = {
    failures: await stored('request_failure'),
    inspected: await stored('inspected_request'),
  };
  const { cause: _cause, ...without } = failureOf('failure-3');
  const wrong = [
    without as RequestFailure,
    failureOf('x'),
    failureOf('failure-3', { at: -1 }),
    failureOf('failure-3', { path: 'x'.repeat(10_000) }),
  ];
  for (const each of wrong)
    await assert.rejects(gateway.gatewayApi.reportFailures([each]), { kind: 'invalid' });
  const many = Array.from({ length: 501 }, (_, i) => failureOf(`failure-${i + 100}`));
  await assert.rejects(gateway.gatewayApi.reportFailures(many), { kind: 'invalid' });
  const large = { ...message, body: 'x'.repeat(300_000) };
  await assert.rejects(
    gateway.gatewayApi.reportInspections([inspectedOf('inspected-2', { answer: large })]),
    {
      kind: 'invalid',
    },
  );
  assert.deepEqual(
    [await stored('request_failure'), await stored('inspected_request')],
    [failures, inspected],
  );
  const newer = { ...failureOf('failure-4'), more: 1 };
  await gateway.gatewayApi.reportFailures([...wrong, newer]);
  const kept = (await stored('request_failure')).map(({ id }) => id);
  assert.deepEqual(kept.toSorted(), [...failures.map(({ id }) => id), 'failure-4'].toSorted());
  const logged = fixture.logged.find((line) => line.includes('failure records: entries cannot be read'));
  assert.match(logged ?? '', /"lost":4,"field":"failures\.0\.cause"/);
});

test('failures without a share are kept with the gateway that reports them, at most so many at a time', async () => {
  const count = async (): Promise<number> =>
    (await fixture.store.db.selectFrom('unrouted_failure').select('id').execute()).length;
  const unrouted = (name: string): RequestFailure[] =>
    Array.from({ length: 400 }, (_, i) =>
      failureOf(`unrouted-${name}-${i}`, { shareId: NO_SHARE, frontdoorId: '' }),
    );
  const before = await stored('request_failure');
  const loud = await fixture.enroll('loud', 'gateway');
  for (const name of ['first', 'first', 'second', 'third'])
    await loud.gatewayApi.reportFailures(unrouted(name));
  const kept = await count();
  assert.ok(kept >= 400 && kept < 700, String(kept));
  const quiet = await fixture.enroll('quiet', 'gateway');
  const ahead = failureOf('quiet-one', { shareId: NO_SHARE, at: fixture.clock.nowMs() + 86_400_000 });
  await quiet.gatewayApi.reportFailures([ahead]);
  const found = await findUnroutedFailure(fixture.store.db, 'quiet-one');
  assert.deepEqual([found?.gatewayId, found?.gatewayName], [quiet.id, 'a gateway']);
  assert.ok(found!.at <= fixture.clock.nowMs());
  assert.deepEqual(await stored('request_failure'), before);
});

test('agents, and callers without a certificate, may report nothing', async () => {
  const agent = await fixture.enroll('agent');
  await assert.rejects(agent.gatewayApi.reportFailures([failureOf('failure-9')]), { kind: 'forbidden' });
  await assert.rejects(agent.gatewayApi.reportInspections([inspectedOf('inspected-9')]), {
    kind: 'forbidden',
  });
  const body = JSON.stringify({ failures: [failureOf('failure-9')] });
  const headers = { 'content-type': 'application/json' };
  const { status } = await rawRequest(fixture, {
    method: 'POST',
    path: '/gateway/v1/failures',
    body,
    headers,
  });
  assert.equal(status, 401);
});

test('a command goes to one of the gateways that follow the feed, by turns, and to nobody when there is none', async () => {
  const command: GatewayReplay = {
    type: 'replay',
    id: 'replay-1',
    replayOf: 'inspected-1',
    shareId,
    method: 'GET',
    target: '/',
    headers: [],
    body: '',
  };
  assert.equal(fixture.gatewayCommands.send(command), false);
  const received: string[] = [];
  const follow = async (name: string, { gatewayApi }: Enrolled) => {
    const opened = Promise.withResolvers<void>();
    const stream = gatewayApi.subscribeGatewayFeed({
      onLine: (line) => {
        opened.resolve();
        const { type, id } = JSON.parse(line) as { type: string; id?: string };
        if (type === 'replay') {
          received.push(`${name} ${id}`);
          if (received.length === 2) both.resolve();
        }
      },
      onEnd: (error) => opened.reject(error),
    });
    await within(`the feed of ${name}`, opened.promise);
    return stream;
  };
  const both = Promise.withResolvers<void>();
  const streams = [
    await follow('one', gateway),
    await follow('two', await fixture.enroll('other', 'gateway')),
  ];
  assert.equal(fixture.gatewayCommands.send(command), true);
  assert.equal(fixture.gatewayCommands.send({ ...command, id: 'replay-2' }), true);
  await within('both commands', both.promise);
  assert.deepEqual(received.toSorted(), ['one replay-1', 'two replay-2']);
  for (const stream of streams) stream.close();
});
