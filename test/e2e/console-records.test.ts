// Failures and recorded requests that a gateway reports: streams of the console name their share within a second, at the
// same control plane and at another one over the same database, a few times for a thousand of them, and resume.
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { silentLog } from '#base';
import type { ControlPlane, FirstStart } from '#control';
import type { InspectedRequest, RequestFailure } from '#domain/gateway-shapes';
import { JsonClient } from '#net/http';
import { EdgeApiClient, enrollIdentity, GatewayApiClient } from '#sdk';
import {
  followConsole,
  logInAtConsole,
  newSharedDatabase,
  startConsolePlane,
  type Closers,
} from '../support/console-stream.ts';
import { until, within } from '../support/deadline.ts';
import { postgresSkip } from '../support/postgres.ts';

const REPORTS = 20;
const LIMIT_MS = 1_000;
const BURST = { records: 1_000, reports: 100, atOnce: 10 };
/** A stream names a resource once in this time. */
const COMBINED_MS = 100;
const SHARE = 'app';

describe('failures and recorded requests', () => {
  const closers: Closers = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  /** Creates a share at a control plane, and a gateway whose reports go there. */
  async function open(at: ControlPlane, { accountId, apiToken, frontdoorId }: FirstStart) {
    const client = new JsonClient({ origin: at.apiUrl });
    closers.push(() => client.close());
    const headers = { authorization: `Basic ${accountId}:${apiToken}` };
    const call = async (method: 'GET' | 'POST', path: string, body?: object) => {
      const { status, json, text } = await client.request({ method, path, headers, body });
      assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
      return json as Readonly<Record<string, string>>;
    };
    const { enrollmentCode } = await call('POST', `/frontdoor/${frontdoorId}/agents/enrollments`);
    const bootstrap = await call('GET', `/frontdoor/agents/bootstrap-token/${enrollmentCode}`);
    const { id: environmentId } = await enrollIdentity({ jwt: bootstrap['token']!, name: 'host' });
    await call('POST', `/frontdoor/${frontdoorId}/shares`, {
      name: SHARE,
      environmentId,
      shareMode: 'public',
      backendMode: 'proxy',
      target: 'http://127.0.0.1:9',
    });
    const made = await call('POST', '/fabric/gateways', { name: 'gateway' });
    const { identity } = await enrollIdentity({ jwt: made['token']!, name: 'gateway' });
    const edge = new EdgeApiClient({ identity, log: silentLog });
    closers.push(() => edge.close());
    const gateway = new GatewayApiClient(edge.connection);
    return { gateway, ...recordsOf(await idOfShare(gateway)) };
  }

  /** Reports to one control plane and reads at the console of another, or of the same. */
  async function follow(at: ControlPlane, readsAt: ControlPlane, first: FirstStart): Promise<void> {
    const { frontdoorId } = first;
    const { gateway, failure, inspected } = await open(at, first);
    const cookie = await logInAtConsole(readsAt, first);
    const stream = await followConsole(closers, readsAt, { cookie, frontdoorId });
    const named = (kind: string) =>
      stream.events.filter((event) => event.kind === kind && event.id === SHARE);
    const totalOf = async (list: string): Promise<number> => {
      const path = `${readsAt.consoleUrl}/api/frontdoor/${frontdoorId}${list}`;
      const answer = await fetch(path, { headers: { cookie, origin: readsAt.apiUrl } });
      return ((await answer.json()) as { totalElements: number }).totalElements;
    };

    for (let made = 1; made <= REPORTS; made += 1) {
      for (const kind of ['failure', 'request'] as const) {
        if (kind === 'failure') await gateway.reportFailures([failure()]);
        else await gateway.reportInspections([inspected()]);
        const reportedAt = performance.now();
        const { value } = await until(
          `${kind} ${made}`,
          () => named(kind),
          ({ length }) => length >= made,
        );
        const delayMs = value[made - 1]!.atMs - reportedAt;
        assert.ok(delayMs <= LIMIT_MS, `a ${kind} was in the stream after ${Math.round(delayMs)} ms`);
        const list = kind === 'failure' ? '/failures' : `/shares/${SHARE}/inspector/requests`;
        assert.equal(await totalOf(list), made);
      }
    }
    // Nothing else has changed, and events have a kind and an id alone.
    const kinds = new Set(stream.events.map(({ event, kind, id }) => `${event} ${kind} ${id}`));
    assert.deepEqual([...kinds].toSorted(), [`change failure ${SHARE}`, `change request ${SHARE}`]);

    const before = named('failure').length;
    const startMs = performance.now();
    for (let sent = 0; sent < BURST.reports; sent += BURST.atOnce) {
      const size = BURST.records / BURST.reports;
      const batch = () => Array.from({ length: size }, () => failure());
      await Promise.all(Array.from({ length: BURST.atOnce }, () => gateway.reportFailures(batch())));
    }
    await gateway.reportInspections([inspected()]);
    await until(
      'the end',
      () => named('request'),
      ({ length }) => length > REPORTS,
    );
    const tookMs = performance.now() - startMs;
    const events = named('failure').length - before;
    assert.ok(
      events > 0 && events <= tookMs / COMBINED_MS + 1,
      `${events} events in ${Math.round(tookMs)} ms`,
    );
    assert.equal(await totalOf('/failures'), REPORTS + BURST.records);

    const live = await followConsole(closers, readsAt, { cookie, frontdoorId });
    stream.close();
    const after = stream.lastId;
    for (let made = 0; made < REPORTS; made += 1) await gateway.reportFailures([failure()]);
    await gateway.reportInspections([inspected()]);
    // The control plane that is read knows of all reports then.
    await until(
      'the last report',
      () => live.events,
      (events) => events.some(({ kind }) => kind === 'request'),
    );
    const { events: resumed } = await followConsole(closers, readsAt, { cookie, frontdoorId, after });
    await until(
      'the events since',
      () => resumed,
      ({ length }) => length >= 2,
    );
    assert.deepEqual(
      resumed.map(({ event, kind, id }) => [event, kind, id]),
      [
        ['change', 'failure', SHARE],
        ['change', 'request', SHARE],
      ],
    );
  }

  it('are named by the stream of the console within a second, combined, and after an interruption', async () => {
    const control = await startConsolePlane(closers);
    await follow(control, control, control.firstStart!);
  });

  it(
    'are named likewise at another control plane over the same database',
    { skip: postgresSkip },
    async () => {
      const shared = await newSharedDatabase();
      const one = await startConsolePlane(closers, shared);
      const other = await startConsolePlane(closers, shared);
      await follow(one, other, one.firstStart!);
    },
  );
});

/** Records of a share, each with another id. */
function recordsOf(shareId: string) {
  let made = 0;
  const common = () => {
    made += 1;
    return {
      id: `record-${made}`,
      at: Date.now(),
      shareId,
      frontdoorId: '',
      method: 'GET',
      host: SHARE,
      client: '127.0.0.1',
      identity: null,
      decision: 'open',
      traceId: null,
      timings: { decidedMs: 0.1, circuitMs: null, firstByteMs: null, doneMs: 3 },
    };
  };
  const message = { headers: [], body: '', bodyBytes: 0, isTruncated: false };
  return {
    failure: (): RequestFailure => ({
      ...common(),
      status: 502,
      code: 'no-answer',
      hop: 'service',
      cause: 'a cause',
      path: '/',
    }),
    inspected: (): InspectedRequest => ({
      ...common(),
      replayOf: null,
      target: '/',
      status: 200,
      failure: null,
      request: message,
      answer: message,
    }),
  };
}

/** Gateways know shares by the ids of their feed. */
async function idOfShare(gateway: GatewayApiClient): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const feed = gateway.subscribeGatewayFeed({
    onLine: (line) => {
      const { shares = [] } = JSON.parse(line) as { shares?: { id: string; token: string }[] };
      const found = shares.find(({ token }) => token === SHARE);
      if (found !== undefined) resolve(found.id);
    },
    onEnd: reject,
  });
  try {
    return await within('the share in the feed', promise);
  } finally {
    feed.close();
  }
}
