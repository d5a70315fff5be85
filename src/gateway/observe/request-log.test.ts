import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLog } from '#base';
import { requestLogShape, type LoggedRequest } from '#domain/gateway-shapes';
import { FAILURES } from '../answers/failure-table.ts';
import { get, GatewayWorld, shareOf, statusOf } from '../testing/gateway-world.ts';
import { RecordReporter } from './record-reporter.ts';
import { MAX_LOGGED_PER_FRONTDOOR, MAX_LOGGED_PER_SECOND, RequestLog } from './request-log.ts';

function unitLog() {
  const added: LoggedRequest[] = [];
  const time = { nowMs: 0 };
  const log = new RequestLog({ add: (entry) => added.push(entry), nowMs: () => time.nowMs });
  const record = (frontdoorId: string, id = 'x') =>
    ({
      id,
      host: 'h',
      client: { address: '192.0.2.1' },
      target: '/',
      decision: '',
      traceParent: '',
      doneMs: 0,
      route: { share: { id: 'share', frontdoorId } },
    }) as never;
  return { added, time, log, record };
}

describe('the request log of a gateway', () => {
  it('has served, refused and failed requests to shares, without their queries', async (t) => {
    const logged: LoggedRequest[] = [];
    const log = new RequestLog({
      add: (entry) => logged.push(entry),
      nowMs: () => performance.now(),
    });
    const world = await GatewayWorld.start({ observer: log });
    t.after(() => world.close());
    await world.serve('app', (request, response) => {
      request.resume();
      request.once('end', () => response.end('hello!'));
    });
    const ask = 'Host: app.share.localhost\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello';
    const answer = await world.ask(`POST /a?token=planted-secret HTTP/1.1\r\n${ask}`);
    assert.equal(statusOf(answer), 200);
    await world.ask(get('nobody'));
    world.publish(shareOf('none'));
    const failed = await world.ask(get('none', `/${'x'.repeat(2_000)}`));
    await world.close();
    assert.deepEqual(
      logged.map(({ outcome, status, shareId, code, hop, path, bytesIn, bytesOut, leftOut }) => [
        outcome,
        status,
        shareId,
        code,
        hop,
        path.length,
        bytesIn,
        bytesOut,
        leftOut,
      ]),
      [
        ['served', 200, 'id-app', null, null, 2, 5, 6, 0],
        ['failed', 503, 'id-none', 'no-terminator', 'agent', 512, 0, logged[1]!.bytesOut, 0],
      ],
    );
    assert.ok(failed.includes(`Frontdoor-Error-Id: ${logged[1]!.id}`));
    const text = JSON.stringify({ requests: logged });
    assert.doesNotMatch(text, /planted-secret/);
    const read = requestLogShape.readText(text);
    assert.ok('value' in read && read.lost.length === 0);
  });

  it('has so many entries a second of a frontdoor, and in the next one the number of the others', () => {
    const { added, time, log, record } = unitLog();
    for (let i = 0; i < 1_000; i += 1) log.served(record('loud', `served-${i}`));
    for (let i = 0; i < 10; i += 1) log.failed(record('loud'), FAILURES.internal);
    assert.equal(added.length, MAX_LOGGED_PER_FRONTDOOR + 10);
    // The refusals continue the count.
    assert.equal(added[MAX_LOGGED_PER_FRONTDOOR]!.leftOut, 1_000 - MAX_LOGGED_PER_FRONTDOOR);
    for (let i = 0; i < 5; i += 1) log.served(record('loud', `late-${i}`));
    time.nowMs = 1_000;
    log.flush();
    assert.deepEqual([added.at(-1)!.id, added.at(-1)!.leftOut], ['late-4', 4]);
    assert.equal(log.leftOut, 1_000 - MAX_LOGGED_PER_FRONTDOOR + 4);
  });

  it('has a bound for all frontdoors, one for served requests and one for the others', () => {
    const { added, log, record } = unitLog();
    for (let i = 0; i < 1_000; i += 1) log.served(record(`f-${i}`));
    assert.equal(added.length, MAX_LOGGED_PER_SECOND);
    for (let i = 0; i < 1_000; i += 1) log.gone(record(`f-${i}`));
    assert.equal(added.length, 2 * MAX_LOGGED_PER_SECOND);
  });

  it('counts entries that could not be reported in the next one', async () => {
    const { added, time, log, record } = unitLog();
    const reporter = new RecordReporter<LoggedRequest>({
      what: 'entries',
      send: () => Promise.reject(new Error('away')),
      log: silentLog,
      maxRecords: 2,
      maxBytes: 10_000,
      onLost: (entry) => log.lost(entry),
      delayMs: 60_000,
    });
    for (let i = 0; i < 5; i += 1) log.served(record('f'));
    for (const entry of added.splice(0)) reporter.add(entry);
    time.nowMs = 5_000;
    log.flush();
    log.served(record('f'));
    assert.deepEqual(
      added.map(({ leftOut }) => leftOut),
      [3],
    );
    await reporter.close(10);
  });
});
