import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { silentLog } from '#base';
import type { SchemaValue, ShapeProblem } from '#base/shapes';
import { hasRemedy } from '#domain';
import { ACCESS_REASONS, OPEN_RULES } from '#domain/access';
import {
  NO_SHARE,
  failuresShape,
  inspectionsShape,
  type GatewayProvider,
  type GatewayReplay,
  type InspectedRequest,
  type RequestFailure,
} from '#domain/gateway-shapes';
import { metricsText, openMetricsEndpoint, type MetricsWriter } from '#net/metrics';
import { ACCESS_FAILURES, accessEnded, failureOfLogin } from '../access/access-failure-table.ts';
import { FAILURES } from '../answers/failure-table.ts';
import { get, GatewayWorld, logInto, shareOf, statusOf, type LogEntry } from '../testing/gateway-world.ts';
import { FailureRecorder } from './failure-recorder.ts';
import { Inspector } from './inspector.ts';
import { writeGatewayMetrics } from './gateway-metrics.ts';
import { Observation } from './observation.ts';
import { RecordReporter } from './record-reporter.ts';

interface Observed {
  readonly world: GatewayWorld;
  readonly observation: Observation;
  readonly failures: RequestFailure[];
  readonly inspected: InspectedRequest[];
}

const closers: (() => Promise<void>)[] = [];
after(async () => {
  for (const close of closers) await close();
});

/** The value of what was read without a problem or a loss. */
function whole<T>(read: SchemaValue<T> | ShapeProblem): T {
  assert.ok('value' in read && read.lost.length === 0, JSON.stringify(read));
  return read.value;
}

async function observed(providers: readonly GatewayProvider[] = []): Promise<Observed> {
  const failures: RequestFailure[] = [];
  const inspected: InspectedRequest[] = [];
  const observation = new Observation({
    // What the control plane would take, and nothing else.
    reportFailures: async (records) => {
      failures.push(...whole(failuresShape.readText(JSON.stringify({ failures: records }))).failures);
    },
    reportInspections: async (records) => {
      inspected.push(...whole(inspectionsShape.readText(JSON.stringify({ requests: records }))).requests);
    },
    reportRequests: async () => {},
    provider: (id) => providers.find((provider) => provider.id === id),
    hasMetrics: true,
    log: silentLog,
    delayMs: 1,
  });
  const world = await GatewayWorld.start({ observer: observation.observer });
  closers.push(async () => {
    await world.close();
    await observation.close(1_000);
  });
  return { world, observation, failures, inspected };
}

const inspection = { maxBodyBytes: 1_024, untilMs: Date.now() + 3_600_000 };
const errorIdOf = (answer: string): string => /Frontdoor-Error-Id: (\w+)/.exec(answer)![1]!;
const headerOf = ({ headers }: InspectedRequest['request'], name: string): string | undefined =>
  headers.find(([each]) => each.toLowerCase() === name)?.[1];
const textOf = ({ body }: InspectedRequest['request']): string => Buffer.from(body, 'base64').toString();

describe('failure records', () => {
  it('describe a failed request by the error id on its page: where it failed, why, and when', async () => {
    const { world, failures } = await observed();
    world.publish(shareOf('none'));
    const answer = await world.ask(get('none', '/orders?token=planted-secret'));
    await world.eventually(() => failures.length > 0, 'a record');
    const [failure] = failures;
    const { timings, at, client, ...rest } = failure!;
    assert.deepEqual(rest, {
      id: errorIdOf(answer),
      shareId: 'id-none',
      frontdoorId: 'frontdoor',
      status: 503,
      code: 'no-terminator',
      hop: 'agent',
      cause: 'no agent hosts id-none',
      method: 'GET',
      host: 'none.share.localhost',
      path: '/orders',
      identity: null,
      decision: 'open',
      traceId: null,
    });
    assert.ok(Math.abs(at - Date.now()) < 60_000 && client === '127.0.0.1');
    assert.ok(timings.decidedMs! >= 0 && timings.circuitMs === null && timings.doneMs! >= timings.decidedMs!);
  });

  it('are made for hosts that no share has, with the host and without a share', async () => {
    const { world, failures } = await observed();
    const answer = await world.ask(get('nobody', '/orders?token=planted-secret'));
    await world.eventually(() => failures.length > 0, 'a record');
    const { timings: _timings, at: _at, ...rest } = failures[0]!;
    assert.deepEqual(rest, {
      id: errorIdOf(answer),
      shareId: NO_SHARE,
      frontdoorId: '',
      status: 404,
      code: 'unknown-host',
      hop: 'client',
      cause: 'no share has this host',
      method: 'GET',
      host: 'nobody.share.localhost',
      path: '/orders',
      client: '127.0.0.1',
      identity: null,
      decision: 'unknown-host',
      traceId: null,
    });
  });

  it('are bounded for each share, for all, and apart from these for hosts that no share has', async () => {
    const made: RequestFailure[] = [];
    const unrouted: RequestFailure[] = [];
    let nowMs = 0;
    const recorder = new FailureRecorder({
      add: (failure) => made.push(failure),
      addUnrouted: (failure) => unrouted.push(failure),
      nowMs: () => nowMs,
    });
    const record = (share: string | undefined) =>
      ({
        id: 'x',
        host: 'h'.repeat(1_000),
        client: {},
        target: '/',
        decision: '',
        traceParent: '',
        route: share === undefined ? undefined : { share: { id: share } },
      }) as never;
    for (let i = 0; i < 1_000; i += 1) recorder.failed(record(undefined), FAILURES.unknownHost);
    assert.deepEqual([unrouted.length, recorder.withheldUnrouted, made.length], [10, 990, 0]);
    assert.equal(unrouted[0]!.host.length, 255);
    for (let i = 0; i < 1_000; i += 1) recorder.failed(record('loud'), FAILURES.internal);
    for (let i = 0; i < 10; i += 1) recorder.failed(record(`quiet-${i}`), FAILURES.internal);
    assert.deepEqual([made.length, recorder.withheld], [60, 950]);
    for (let i = 0; i < 1_000; i += 1) recorder.failed(record(`other-${i}`), FAILURES.internal);
    assert.equal(made.length, 200);
    nowMs = 1_000;
    recorder.failed(record('loud'), FAILURES.internal);
    recorder.failed(record(undefined), FAILURES.unknownHost);
    assert.deepEqual([made.length, unrouted.length], [201, 11]);
  });

  it('have a remedy for every code of the gateway and of access', () => {
    const logins = ['provider-not-available', 'provider-failed', 'attempt-not-valid', 'denied'] as const;
    const codes = [
      ...[...Object.values(FAILURES), ...Object.values(ACCESS_FAILURES)].map(({ code }) => code),
      ...Object.keys(ACCESS_REASONS),
      ...[...logins, 'email-not-verified' as const, 'too-many' as const].map(
        (reason) => failureOfLogin(reason).code,
      ),
      accessEnded('').code,
    ];
    const circuits = [
      'no-terminator',
      'service-refused',
      'service-timeout',
      'not-authorized',
      'timeout',
      'control-away',
      'channel-closed',
      'circuit-closed',
      'overlay',
      'no-answer',
      'malformed-answer',
    ];
    assert.deepEqual(
      [...codes, ...circuits].filter((code) => !hasRemedy(code)),
      [],
    );
  });
});

describe('reports of records', () => {
  it('are repeated until they are accepted, drop the oldest when there are too many, and log that once', async () => {
    const records: LogEntry[] = [];
    const taken: number[][] = [];
    let isAway = true;
    const tried = Promise.withResolvers<void>();
    const reporter = new RecordReporter<{ id: number }>({
      what: 'records',
      send: async (batch) => {
        tried.resolve();
        if (isAway) throw new Error('away');
        taken.push(batch.map(({ id }) => id));
      },
      log: logInto(records),
      maxRecords: 1_000,
      maxBytes: 1_000_000,
      delayMs: 1,
      backOff: { minMs: 1, maxMs: 5, factor: 2 },
    });
    reporter.add({ id: -1 });
    await tried.promise;
    for (let id = 0; id < 1_200; id += 1) reporter.add({ id });
    isAway = false;
    await reporter.close(30_000);
    assert.deepEqual(
      taken.map((batch) => batch.length),
      [500, 500],
    );
    assert.deepEqual([taken[0]![0], taken[1]!.at(-1)], [200, 1_199]);
    assert.equal(reporter.dropped, 201);
    assert.deepEqual(records.map(({ message }) => message).toSorted(), [
      'dropping records: there are too many',
      'records cannot be reported now and are kept',
    ]);
  });
});

describe('the inspector', () => {
  it('records a request and its answer while someone asked, and nothing otherwise', async () => {
    const { world, inspected } = await observed();
    await world.serve('quiet', (_request, response) => response.end('quiet'));
    await world.serve('late', (_request, response) => response.end('late'), {
      inspection: { maxBodyBytes: 10, untilMs: Date.now() - 1 },
    });
    await world.serve(
      'app',
      (request, response) => {
        request.resume();
        request.once('end', () => response.writeHead(201, { 'content-type': 'text/plain' }).end('made it'));
      },
      { inspection },
    );
    await world.ask(get('quiet'));
    await world.ask(get('late'));
    await world.ask(
      'POST /orders?page=2&api_key=planted-secret HTTP/1.1\r\nHost: app.share.localhost\r\n' +
        'Authorization: Bearer planted-secret\r\nCookie: a=planted-secret\r\nX_Auth_Token: planted-secret\r\n' +
        'Proxy-Thing: planted-secret\r\nReferer: https://a/?code=planted-secret\r\nX-Plain: seen\r\n' +
        'Content-Type: application/json; charset=utf-8\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n' +
        '2e\r\n{"user":"ann","passwords":["planted-secret"]}\r\n\r\n0\r\n\r\n'.replace(
          '\r\n\r\n0',
          '\n\r\n0',
        ),
    );
    await world.eventually(() => inspected.length > 0, 'a record');
    assert.equal(inspected.length, 1);
    const [one] = inspected;
    assert.doesNotMatch(JSON.stringify(one), /planted-secret/);
    assert.doesNotMatch(textOf(one!.request), /planted-secret/);
    assert.deepEqual(
      [one!.method, one!.target, one!.status, one!.decision, one!.failure],
      ['POST', '/orders?page=2&api_key=********', 201, 'open', null],
    );
    assert.equal(headerOf(one!.request, 'x-plain'), 'seen');
    assert.equal(headerOf(one!.request, 'referer'), 'https://a/?code=********');
    assert.deepEqual(JSON.parse(textOf(one!.request)), { user: 'ann', passwords: '********' });
    assert.equal(textOf(one!.answer), 'made it');
    assert.equal(headerOf(one!.answer, 'content-type'), 'text/plain');
  });

  it('records some of what was refused, too, with the reason and without a secret', async () => {
    const inspected: InspectedRequest[] = [];
    const nowMs = Date.now();
    const inspector = new Inspector({
      add: (one) => inspected.push(one),
      provider: () => undefined,
      nowMs: () => nowMs,
    });
    const world = await GatewayWorld.start({ observer: inspector });
    closers.push(() => world.close());
    const shown = { inspection, rules: OPEN_RULES };
    await world.serve('guarded', (_request, response) => response.end(), shown);
    for (let i = 0; i < 30; i += 1)
      await world.ask(get('guarded', '/x', 'Authorization: Bearer planted-secret\r\nConnection: close\r\n'));
    const [one] = inspected;
    assert.doesNotMatch(JSON.stringify(inspected), /planted-secret/);
    assert.deepEqual([one!.target, one!.status, one!.decision], ['/x', 503, 'guarded']);
    assert.equal(one!.failure?.code, 'not-decided');
    assert.equal(headerOf(one!.request, 'authorization'), '********');
    assert.equal(inspected.length, 20, 'in one second: accepted ones are not pushed out');
  });

  it('keeps bodies up to the cap, and nothing of a body whose secrets cannot be found', async () => {
    const { world, inspected } = await observed();
    let answer: readonly [type: string, body: string] = ['text/plain', ''];
    await world.serve(
      'app',
      (_request, response) => response.writeHead(200, { 'content-type': answer[0] }).end(answer[1]),
      { inspection },
    );
    const cases: readonly (readonly [type: string, body: string, shown: string, isTruncated: boolean])[] = [
      ['text/plain', 'x'.repeat(3_000), 'x'.repeat(1_024), true],
      ['application/json', JSON.stringify({ a: 'x'.repeat(3_000) }), '', true],
      ['application/json', '{"token": ', '', true],
      ['application/problem+json', '{"apiKey":1,"b":2}', '{"apiKey":"********","b":2}', false],
      ['application/x-www-form-urlencoded', 'a=1&pass%77ord=p', 'a=1&pass%77ord=********', false],
      ['multipart/form-data; boundary=x', '--x\r\n', '', true],
    ];
    for (const [type, body, shown, isTruncated] of cases) {
      answer = [type, body];
      inspected.length = 0;
      await world.ask(get('app'));
      await world.eventually(() => inspected.length > 0, 'a record');
      const message = inspected[0]!.answer;
      assert.deepEqual(
        [textOf(message), message.bodyBytes, message.isTruncated],
        [shown, body.length, isTruncated],
        type,
      );
    }
  });

  it('shows no API key of the share’s providers, wherever it stands', async () => {
    const provider = (id: string, placement: 'header' | 'query', name: string): GatewayProvider => ({
      id,
      frontdoorId: 'frontdoor',
      name: id,
      type: 'API_KEY',
      enabled: true,
      version: 1,
      tokens: null,
      apiKeys: { placement, name, keys: [] },
    });
    const { world, inspected } = await observed([
      provider('by-header', 'header', 'X-Pass'),
      provider('by-query', 'query', 'k'),
    ]);
    const customHosts = [{ host: 'app.example.com', authProviderIds: ['by-header', 'by-query'] }];
    await world.serve('app', (_request, response) => response.end(), { inspection, customHosts });
    await world.ask(get('app', '/?k=planted-secret&b=2', 'x-pass: planted-secret\r\nConnection: close\r\n'));
    await world.eventually(() => inspected.length > 0, 'a record');
    assert.deepEqual(
      [inspected[0]!.target, headerOf(inspected[0]!.request, 'x-pass')],
      ['/?k=********&b=2', '********'],
    );
  });

  it('holds no more than its bound, however many requests it follows', async () => {
    const made: InspectedRequest[] = [];
    const inspector = new Inspector({
      add: (one) => made.push(one),
      provider: () => undefined,
      nowMs: () => Date.now(),
      maxHeldBytes: 3_000,
      maxPerShare: 3,
    });
    const world = await GatewayWorld.start({ observer: inspector });
    closers.push(() => world.close());
    await world.serve(
      'app',
      (_request, response) =>
        response.writeHead(200, { 'content-type': 'text/plain' }).end('y'.repeat(1_024)),
      { inspection },
    );
    await world.serveRaw('silent', () => {}, { inspection });
    const clients = [];
    for (let i = 0; i < 5; i += 1) {
      const client = await world.client();
      client.send(
        `POST / HTTP/1.1\r\nHost: silent.share.localhost\r\nContent-Length: 5000\r\n\r\n${'x'.repeat(1_024)}`,
      );
      clients.push(client);
    }
    await world.eventually(() => world.dialer.circuits.length === 5, 'five circuits');
    await world.eventually(() => inspector.heldBytes >= 3_000, 'as much as may be held');
    assert.ok(inspector.heldBytes <= 3_000 + 500, String(inspector.heldBytes));
    assert.equal(inspector.skipped, 2);
    await world.ask(get('app'));
    assert.equal(inspector.skipped, 3);
    for (const client of clients) client.socket.resetAndDestroy();
    await world.eventually(() => inspector.heldBytes === 0, 'nothing is held');
    await world.ask(get('app'));
    assert.equal(textOf(made.at(-1)!.answer).length, 1_024);
  });

  it('holds nothing of clients that close, and records them', async () => {
    const { world, observation, inspected } = await observed();
    await world.serveRaw('silent', () => {}, { inspection });
    const client = await world.client();
    client.send(get('silent', '/', ''));
    await world.eventually(() => world.dialer.circuits.length === 1, 'a circuit');
    client.socket.resetAndDestroy();
    await world.eventually(() => inspected.length > 0, 'a record');
    assert.deepEqual([inspected[0]!.status, inspected[0]!.failure?.code], [0, 'client-gone']);
    assert.match(await metricsOf(world, observation), /^frontdoor_gateway_inspected_bytes 0$/m);
  });
});

const metricsOf = ({ gateway }: GatewayWorld, observation: Observation): Promise<string> =>
  metricsText([
    (to) => writeGatewayMetrics(to, { gateway, observation, lastContactMs: () => Date.now() - 5_000 }),
  ]);

describe('a replay', () => {
  const command = (more: Partial<GatewayReplay> = {}): GatewayReplay => ({
    type: 'replay',
    id: 'the-new-one',
    replayOf: 'the-old-one',
    shareId: 'id-app',
    method: 'POST',
    target: '/orders?page=1',
    headers: [
      ['Host', 'app.share.localhost'],
      ['Content-Length', '999'],
      ['Connection', 'upgrade'],
      ['Frontdoor-Identity', 'forged'],
      ['Authorization', '********'],
      ['X-Plain', 'kept'],
      ['Content-Type', 'text/plain'],
    ],
    body: Buffer.from('again').toString('base64'),
    ...more,
  });

  it('reaches the service once more, with framing of its own, and is recorded with what it answered', async () => {
    const { world } = await observed();
    const seen: unknown[] = [];
    await world.serve(
      'app',
      (request, response) => {
        let body = '';
        request.on('data', (bytes: Buffer) => (body += bytes.toString()));
        request.once('end', () => {
          const { connection: _c, ...headers } = request.headers;
          seen.push([request.method, request.url, body, headers]);
          response.writeHead(202, { 'content-type': 'text/plain' }).end('seen');
        });
      },
      { inspection },
    );
    const one = await world.gateway.replay(command())!;
    assert.deepEqual(seen, [
      [
        'POST',
        '/orders?page=1',
        'again',
        {
          host: 'app.share.localhost',
          'x-plain': 'kept',
          'content-type': 'text/plain',
          'content-length': '5',
          'frontdoor-request-id': 'the-new-one',
          'frontdoor-replay': 'the-old-one',
          'x-forwarded-host': 'app.share.localhost',
        },
      ],
    ]);
    assert.deepEqual(
      [one.id, one.replayOf, one.status, one.failure, textOf(one.request), textOf(one.answer)],
      ['the-new-one', 'the-old-one', 202, null, 'again', 'seen'],
    );
    assert.deepEqual(whole(inspectionsShape.read({ requests: [one] })).requests, [one]);
    // It is nobody's traffic.
    assert.deepEqual(world.gateway.traffic.take(0), []);
  });

  it('that fails is recorded with why, and leaves no circuit behind', async () => {
    const { world } = await observed();
    world.publish(shareOf('app'));
    const codeOf = async (more: Partial<GatewayReplay> = {}): Promise<string | undefined> =>
      (await world.gateway.replay(command(more))!).failure?.code;
    assert.equal(await codeOf(), 'no-terminator');
    assert.equal(await codeOf({ target: '/a b' }), 'malformed-request-line');
    assert.equal(await codeOf({ target: '/a\r\nHost: b' }), 'malformed-request-line');
    assert.equal(await codeOf({ headers: [['X', 'a\r\nY: b']] }), 'control-byte');
    assert.equal(world.gateway.replay(command({ shareId: 'unknown' })), undefined);
    await world.serveRaw(
      'bad',
      (socket) => void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx')),
    );
    assert.equal(await codeOf({ shareId: 'id-bad' }), 'no-answer');
    await world.eventually(() => world.gateway.stats().openCircuits === 0, 'no circuit');
  });

  it('is not sent when sixteen are under way', async () => {
    const { world } = await observed();
    const waiting: (() => void)[] = [];
    await world.serve('app', (_request, response) => void waiting.push(() => response.end()));
    const all = Array.from({ length: 20 }, () => world.gateway.replay(command())!);
    const refused = await Promise.all(all.slice(16));
    assert.deepEqual(
      refused.map(({ failure }) => failure?.code),
      ['busy', 'busy', 'busy', 'busy'],
    );
    await world.eventually(() => waiting.length === 16, 'sixteen requests');
    for (const answer of waiting) answer();
    const done = await Promise.all(all.slice(0, 16));
    assert.ok(done.every(({ status, failure }) => status === 200 && failure === null));
  });
});

describe('metrics', () => {
  it('count requests by status, outcome, decision, hop and share, with their durations', async () => {
    const { world, observation } = await observed();
    await world.serve('app', (_request, response) => response.end('hello'));
    world.publish(shareOf('none'));
    for (let i = 0; i < 3; i += 1) await world.ask(get('app'));
    await world.ask(get('none'));
    await world.ask(get('nobody'));
    const text = await metricsOf(world, observation);
    for (const line of [
      'frontdoor_gateway_requests_total{status="2xx"} 3',
      'frontdoor_gateway_requests_total{status="4xx"} 1',
      'frontdoor_gateway_outcomes_total{outcome="served"} 3',
      'frontdoor_gateway_outcomes_total{outcome="failed"} 1',
      'frontdoor_gateway_outcomes_total{outcome="refused"} 1',
      'frontdoor_gateway_decisions_total{decision="open"} 4',
      'frontdoor_gateway_failures_total{hop="agent",code="no-terminator"} 1',
      'frontdoor_gateway_share_requests_total{share="app"} 3',
      'frontdoor_gateway_share_errors_total{share="none"} 1',
      'frontdoor_gateway_request_seconds_count{phase="first_byte"} 3',
      'frontdoor_gateway_request_seconds_bucket{phase="total",le="+Inf"} 5',
      'frontdoor_gateway_sent_bytes_total 15',
      'frontdoor_gateway_shares 2',
      'frontdoor_gateway_dials_total 2',
      'frontdoor_gateway_failed_dials_total 1',
    ])
      assert.ok(text.includes(`\n${line}\n`), `${line}\n${text}`);
    assert.match(text, /^frontdoor_gateway_feed_age_seconds [45](?:\.\d+)?$/m);
    assert.match(text, /^process_open_fds \d+$/m);
    for (const line of text.trimEnd().split('\n'))
      assert.match(line, /^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? [-+0-9.e]+)$/);
  });

  it('keep labels of the first two hundred shares, and count the rest together', async () => {
    const { world, observation } = await observed();
    for (let i = 0; i < 210; i += 1) {
      world.publish(shareOf(`s${i}`));
      await world.ask(get(`s${i}`));
    }
    const text = await metricsOf(world, observation);
    const lines = text.match(/^frontdoor_gateway_share_requests_total\{.*$/gm)!;
    assert.equal(lines.length, 201);
    assert.ok(lines.includes('frontdoor_gateway_share_requests_total{share="other"} 10'));
  });

  it('are served over HTTP at one path, for reading only', async () => {
    const { world, observation } = await observed();
    const write: MetricsWriter = (to) =>
      writeGatewayMetrics(to, { gateway: world.gateway, observation, lastContactMs: () => 0 });
    const endpoint = await openMetricsEndpoint({ host: '127.0.0.1', port: 0 }, [write], silentLog);
    try {
      const base = `http://127.0.0.1:${endpoint.port}`;
      const answer = await fetch(`${base}/metrics`);
      assert.deepEqual(
        [answer.status, answer.headers.get('content-type')],
        [200, 'text/plain; version=0.0.4; charset=utf-8'],
      );
      assert.match(await answer.text(), /^# HELP frontdoor_gateway_connections /);
      assert.equal((await fetch(`${base}/`)).status, 404);
      assert.equal((await fetch(`${base}/metrics`, { method: 'POST' })).status, 405);
      await assert.rejects(
        openMetricsEndpoint({ host: '127.0.0.1', port: endpoint.port }, [write], silentLog),
        { code: 'port-taken' },
      );
    } finally {
      await endpoint.close();
    }
    assert.equal(statusOf(await world.ask(get('nobody'))), 404);
  });
});
