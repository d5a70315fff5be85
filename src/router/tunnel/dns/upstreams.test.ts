import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { silentLog, type Log, type LogFields } from '#base';
import { until } from '../../../../test/support/deadline.ts';
import type { UpstreamConfig } from '../../config/schema/tunnel-schema.ts';
import { askTcp, askUdp, queryOf, readAnswer, responseTo, type ReadAnswer } from './testing/dns-messages.ts';
import {
  openNameServer,
  TestUpstream,
  type OpenOptions,
  type UpstreamBehavior,
} from './testing/dns-world.ts';

const answering: UpstreamBehavior = (query) => responseTo(query, { bytes: 200 });
const answeringWith =
  (rcode: number): UpstreamBehavior =>
  (query) =>
    responseTo(query, { rcode });
const silent: UpstreamBehavior = () => undefined;

async function openWith(
  t: TestContext,
  behaviors: readonly UpstreamBehavior[],
  options: OpenOptions = {},
): Promise<{ port: number; upstreams: TestUpstream[] }> {
  const upstreams = await Promise.all(behaviors.map((behavior) => TestUpstream.open(t, behavior)));
  const dnsUpstreams: UpstreamConfig[] = upstreams.map(({ config }) => config);
  const { port } = await openNameServer(t, { dnsUpstreams, ...options });
  return { port, upstreams };
}

const ask = async (port: number, ...query: Parameters<typeof queryOf>): Promise<ReadAnswer> =>
  readAnswer(await askUdp(port, queryOf(...query)));

/** Asks for several names, one after the other. */
async function askEach(port: number, count: number): Promise<number[]> {
  const rcodes: number[] = [];
  for (let index = 0; index < count; index += 1) rcodes.push((await ask(port, `n${index}.else.test`)).rcode);
  return rcodes;
}

describe('a query for another name', () => {
  it('is answered as the upstream answers it, with TTL and the id of the client', async (t) => {
    const { port, upstreams } = await openWith(t, [answering]);
    const query = queryOf('Else.Test', { id: 0x4321, type: 16, ednsBytes: 1232 });
    const message = await askUdp(port, query);
    const answer = readAnswer(message);
    assert.deepEqual([answer.id, answer.records[0]?.ttl, answer.isRecursive], [0x4321, 77, true]);
    const [asked] = upstreams[0]!.queries;
    assert.deepEqual(asked!.message.subarray(2), query.subarray(2));
  });

  it('leaves from random ports with random ids', async (t) => {
    const { port, upstreams } = await openWith(t, [answering]);
    await askEach(port, 40);
    const { queries } = upstreams[0]!;
    assert.ok(new Set(queries.map(({ message }) => message.readUInt16BE(0))).size >= 38);
    assert.ok(new Set(queries.map((query) => query.port)).size >= 10);
  });

  it('takes no answer with another id, another question, or of another address', async (t) => {
    const stranger = createSocket('udp4');
    t.after(() => stranger.close());
    const { port, upstreams } = await openWith(t, [silent]);
    upstreams[0]!.behavior = (query) => {
      const forged = responseTo(query, { rcode: 3 });
      const otherId = Buffer.from(forged);
      otherId.writeUInt16BE(query.readUInt16BE(0) ^ 1, 0);
      const otherName = Buffer.from(forged);
      otherName[13] = otherName[13]! ^ 1;
      const noResponse = Buffer.from(query);
      stranger.send(forged, upstreams[0]!.queries.at(-1)!.port, '127.0.0.1');
      return [otherId, otherName, noResponse, forged.subarray(0, 8), responseTo(query, { bytes: 200 })];
    };
    assert.deepEqual(await askEach(port, 5), [0, 0, 0, 0, 0]);
  });

  it('that several clients repeat while it waits is one query to the upstream', async (t) => {
    const { port, upstreams } = await openWith(t, [silent]);
    const udp = createSocket('udp4');
    t.after(() => udp.close());
    const answers: Buffer[] = [];
    udp.on('message', (message) => answers.push(message));
    const ids = [1, 2, 3, 4, 5];
    for (const id of ids) udp.send(queryOf('else.test', { id }), port, '127.0.0.1');
    // A query that comes after these shows that all have been read.
    await askTcp(port, [queryOf('x.test', { class: 3 })]);
    await until(
      'the query',
      () => upstreams[0]!.queries.length,
      (count) => count === 1,
    );
    const [asked] = upstreams[0]!.queries;
    upstreams[0]!.sendTo(asked!.port, responseTo(asked!.message));
    await until(
      'the answers',
      () => answers.length,
      (count) => count === ids.length,
    );
    assert.deepEqual(
      answers.map((answer) => answer.readUInt16BE(0)),
      ids,
    );
    assert.equal(upstreams[0]!.queries.length, 1);
  });
});

describe('an answer that is too long', () => {
  it('for UDP is cut with the TC bit, and whole over TCP', async (t) => {
    const long: UpstreamBehavior = (query, protocol) =>
      protocol === 'tcp' ? responseTo(query, { bytes: 3_000 }) : responseTo(query, { flags: 0x02 });
    const { port, upstreams } = await openWith(t, [long]);
    assert.equal((await ask(port, 'long.test')).isTruncated, true);
    const [whole] = await askTcp(port, [queryOf('long.test')]);
    const answer = readAnswer(whole!);
    assert.deepEqual([answer.isTruncated, answer.records.length], [false, 15]);
    assert.deepEqual(
      upstreams[0]!.queries.map(({ protocol }) => protocol),
      ['udp', 'udp', 'tcp'],
    );
  });

  it('for the client is cut, even if the upstream sent it', async (t) => {
    const { port } = await openWith(t, [(query) => responseTo(query, { bytes: 800 })]);
    const cut = await ask(port, 'long.test');
    assert.deepEqual([cut.isTruncated, cut.records.length], [true, 0]);
    assert.equal((await ask(port, 'long.test', { ednsBytes: 1232 })).isTruncated, false);
  });

  it('comes from an upstream of TCP over one connection', async (t) => {
    const upstream = await TestUpstream.open(t, (query) => responseTo(query, { bytes: 800 }));
    const dnsUpstreams: UpstreamConfig[] = [{ ...upstream.config, protocol: 'tcp' }];
    const { port } = await openNameServer(t, { dnsUpstreams });
    const queries = Array.from({ length: 20 }, (_, id) => queryOf(`n${id}.test`, { id }));
    const answers = await askTcp(port, queries);
    assert.deepEqual(new Set(answers.map((answer) => readAnswer(answer).records.length)), new Set([4]));
    assert.equal(new Set(upstream.queries.map((query) => query.port)).size, 1);
    assert.equal((await ask(port, 'udp.test')).isTruncated, true);
  });
});

describe('several upstreams', () => {
  it('in parallel: the first NOERROR counts, else the best other answer', async (t) => {
    const { port, upstreams } = await openWith(t, [answeringWith(5), answeringWith(3), answeringWith(2)]);
    assert.equal((await ask(port, 'a.test')).rcode, 3);
    upstreams[2]!.behavior = answering;
    assert.equal((await ask(port, 'b.test')).rcode, 0);
    assert.deepEqual(
      upstreams.map(({ queries }) => queries.length),
      [2, 2, 2],
    );
  });

  it('serial: each is asked when those before it have no NOERROR', async (t) => {
    const { port, upstreams } = await openWith(t, [answeringWith(3), answering], {
      dnsUpstreamMode: 'serial',
    });
    assert.deepEqual(await askEach(port, 3), [0, 0, 0]);
    upstreams[0]!.behavior = answering;
    await askEach(port, 2);
    assert.deepEqual(
      upstreams.map(({ queries }) => queries.length),
      [5, 3],
    );
  });

  it('failover: the one that answered last is asked first', async (t) => {
    const { port, upstreams } = await openWith(t, [answeringWith(2), answering], {
      dnsUpstreamMode: 'failover',
    });
    assert.deepEqual(await askEach(port, 4), [0, 0, 0, 0]);
    assert.deepEqual(
      upstreams.map(({ queries }) => queries.length),
      [1, 4],
    );
  });

  it('random: all of them are asked', async (t) => {
    const { port, upstreams } = await openWith(t, [answering, answering], { dnsUpstreamMode: 'random' });
    await askEach(port, 30);
    const counts = upstreams.map(({ queries }) => queries.length);
    assert.equal(counts[0]! + counts[1]!, 30);
    assert.ok(Math.min(...counts) > 0);
  });
});

describe('the loss of upstreams', () => {
  function recordingLog(): { log: Log; messages: string[] } {
    const messages: string[] = [];
    const record = (_: LogFields, message: string): void => void messages.push(message);
    return { log: { ...silentLog, error: record, warn: record, info: record }, messages };
  }

  it('that refuse is noticed at once, and so is their return', async (t) => {
    const { log, messages } = recordingLog();
    const { port, upstreams } = await openWith(t, [answering], { log, dnsUnanswerable: 'servfail' });
    const { port: upstreamPort } = upstreams[0]!;
    upstreams[0]!.close();
    assert.deepEqual(await askEach(port, 4), [2, 2, 2, 2]);
    assert.deepEqual(messages, ['an upstream does not answer']);
    await TestUpstream.open(t, answering, upstreamPort);
    // All are down, so they are asked all the same.
    assert.equal((await ask(port, 'again.test')).rcode, 0);
    assert.deepEqual(messages, ['an upstream does not answer', 'an upstream answers again']);
  });

  it('that are silent costs their share of the time until it is noticed', async (t) => {
    const { log, messages } = recordingLog();
    const { port, upstreams } = await openWith(t, [silent, answering], { dnsUpstreamMode: 'serial', log });
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const [first] = upstreams;
    for (const round of [1, 2, 3]) {
      const answer = ask(port, `n${round}.test`);
      while (first!.queries.length < round * 2 - 1) await nextTurn();
      t.mock.timers.tick(1_500);
      while (first!.queries.length < round * 2) await nextTurn();
      t.mock.timers.tick(1_000);
      assert.equal((await answer).rcode, 0);
    }
    assert.deepEqual(messages, ['an upstream does not answer']);
    assert.deepEqual(await askEach(port, 3), [0, 0, 0]);
    assert.deepEqual([first!.queries.length, upstreams[1]!.queries.length], [6, 6]);
    t.mock.timers.tick(2_000);
    while (messages.length < 2) await nextTurn();
    assert.equal(messages[1], 'an upstream answers again');
  });

  it('leaves the other ones, without a delay once it is noticed', async (t) => {
    const { port, upstreams } = await openWith(t, [answering, answering], { dnsUpstreamMode: 'serial' });
    upstreams[0]!.close();
    assert.deepEqual(
      await askEach(port, 10),
      Array.from({ length: 10 }, () => 0),
    );
    assert.equal(upstreams[1]!.queries.length, 10);
  });
});

describe('a loop', () => {
  it('of an upstream that is the name server itself is noticed, and queries end', async (t) => {
    const loops: LogFields[] = [];
    const log: Log = { ...silentLog, error: (fields) => void loops.push(fields) };
    // The port is known when the name server listens, so a forwarder in between passes everything back.
    const forwarder = createSocket('udp4');
    forwarder.bind(0, '127.0.0.1');
    await once(forwarder, 'listening');
    t.after(() => forwarder.close());
    let target = 0;
    const clients = new Map<number, number>();
    let passed = 0;
    forwarder.on('message', (message, from) => {
      passed += 1;
      const isAnswer = (message[2]! & 0x80) !== 0;
      const id = message.readUInt16BE(0);
      if (!isAnswer) clients.set(id, from.port);
      forwarder.send(message, isAnswer ? clients.get(id)! : target, '127.0.0.1');
    });
    const dnsUpstreams: UpstreamConfig[] = [
      { protocol: 'udp', host: '127.0.0.1', port: forwarder.address().port },
    ];
    const { server, port } = await openNameServer(t, { dnsUpstreams, log });
    target = port;
    server.names.add('web.test', 's1');
    await until(
      'the error',
      () => loops.length,
      (count) => count === 1,
    );
    assert.equal(loops[0]!['option'], 'router.yml:9: listeners[0].options.dnsUpstream');
    const before = passed;
    assert.deepEqual(await askEach(port, 5), [5, 5, 5, 5, 5]);
    assert.equal((await ask(port, 'web.test')).rcode, 0);
    assert.equal(passed, before, 'nothing is sent to it now');
  });
});
