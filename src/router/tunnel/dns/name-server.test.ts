import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { silentLog, systemClock, type Log, type LogFields } from '#base';
import { until } from '../../../../test/support/deadline.ts';
import type { InterceptedNames } from './intercepted-names.ts';
import { QueryResponder } from './query-responder.ts';
import { checkSystemResolver } from './system-resolver-check.ts';
import { addressOf, askTcp, askUdp, queryOf, readAnswer, TYPES } from './testing/dns-messages.ts';
import { openNameServer } from './testing/dns-world.ts';
import { Upstreams } from './upstreams.ts';

const folder = mkdtempSync(join(tmpdir(), 'frontdoor-name-server-'));
after(() => rmSync(folder, { recursive: true }));

function recordingLog(): { log: Log; lines: (LogFields & { readonly message: string })[] } {
  const lines: (LogFields & { message: string })[] = [];
  const record = (fields: LogFields, message: string): void => void lines.push({ ...fields, message });
  return { log: { ...silentLog, error: record, warn: record, info: record }, lines };
}

const ask = async (port: number, ...query: Parameters<typeof queryOf>): ReturnType<typeof read> =>
  read(askUdp(port, queryOf(...query)));
const read = async (message: Promise<Buffer>): Promise<ReturnType<typeof readAnswer>> =>
  readAnswer(await message);

describe('a query for a name of a service', () => {
  it('is answered with its address, in any case of letters, over UDP and TCP', async (t) => {
    const { server, port } = await openNameServer(t);
    server.names.add('web.test', 's1');
    const query = queryOf('WeB.tEsT', { id: 0xbeef });
    for (const message of [await askUdp(port, query), ...(await askTcp(port, [query, query]))]) {
      assert.deepEqual(message.subarray(12, query.length), query.subarray(12), 'the question is repeated');
      const answer = readAnswer(message);
      assert.deepEqual([answer.id, answer.rcode, answer.isAuthoritative], [0xbeef, 0, true]);
      assert.deepEqual([addressOf(answer), answer.records.length], ['100.64.0.2', 1]);
      assert.equal(answer.records[0]?.ttl, 60);
    }
  });

  it('of another type is empty without an error, so that programs use the address', async (t) => {
    const { server, port } = await openNameServer(t, { dnsUpstreams: [] });
    server.names.add('web.test', 's1');
    for (const type of [TYPES.AAAA, TYPES.HTTPS, TYPES.TXT]) {
      const answer = await ask(port, 'web.test', { type });
      assert.deepEqual([answer.rcode, answer.isAuthoritative], [0, true]);
      assert.deepEqual(
        answer.records.map((record) => record.type),
        [TYPES.SOA],
      );
    }
  });

  it('below a wildcard is answered with an address of its own, and at once that is in the file', async (t) => {
    const file = join(folder, 'wildcard');
    const { server, port } = await openNameServer(t, { file });
    server.names.add('*.apps.test', 's1');
    const answers = await Promise.all(['a', 'b', 'a'].map((label) => ask(port, `${label}.apps.test`)));
    assert.equal(addressOf(answers[0]!), addressOf(answers[2]!));
    assert.notEqual(addressOf(answers[0]!), addressOf(answers[1]!));
    assert.equal(readFileSync(file, 'utf8').trim().split('\n').length, 2);
    assert.equal(server.names.nameOf(addressOf(answers[1]!)!), 'b.apps.test');
    assert.equal((await ask(port, 'no host name.apps.test')).rcode, 3);
  });

  it('waits for what has to be set up for the address, and fails when that fails', async (t) => {
    const { server, port } = await openNameServer(t);
    server.names.add('*.test', 's1');
    const seen: string[] = [];
    server.names.follow({
      given: async (name) => {
        await Promise.resolve();
        seen.push(name);
        if (name === 'bad.test') throw new Error('no rule');
      },
      released: () => {},
    });
    assert.equal((await ask(port, 'bad.test')).rcode, 2);
    assert.equal(addressOf(await ask(port, 'good.test')), '100.64.0.3');
    assert.deepEqual(seen, ['bad.test', 'good.test']);
  });

  it('repeats EDNS, and refuses a version of it that does not exist', async (t) => {
    const { server, port } = await openNameServer(t);
    server.names.add('web.test', 's1');
    const plain = await ask(port, 'web.test', { ednsBytes: 4096 });
    assert.deepEqual(
      plain.records.map(({ type }) => type),
      [TYPES.A, TYPES.OPT],
    );
    const bad = await ask(port, 'web.test', { ednsBytes: 4096, ednsVersion: 1 });
    assert.deepEqual([bad.rcode, bad.records.length, bad.records[0]!.ttl >>> 24], [0, 1, 1]);
  });

  it('is an error in the log that names the option when no address is left', async (t) => {
    const { log, lines } = recordingLog();
    const { server, port } = await openNameServer(t, { dnsSvcIpRange: '10.9.0.1/30', log });
    server.names.add('*.test', 's1');
    assert.equal(addressOf(await ask(port, 'a.test')), '10.9.0.2');
    for (const name of ['b.test', 'c.test']) assert.equal((await ask(port, name)).rcode, 2);
    assert.equal(lines.length, 1);
    assert.match(String(lines[0]!['err']), /router\.yml:9: listeners\[0\]\.options\.dnsSvcIpRange/);
  });
});

describe('without upstreams, a query for another name', () => {
  for (const [unanswerable, rcode] of [
    ['refused', 5],
    ['servfail', 2],
  ] as const)
    it(`is ${unanswerable}, as dnsUnanswerable is`, async (t) => {
      const { port } = await openNameServer(t, { dnsUnanswerable: unanswerable });
      const answer = await ask(port, 'else.test');
      assert.deepEqual([answer.rcode, answer.isRecursive, answer.isAuthoritative], [rcode, false, false]);
    });

  it('gets no answer when dnsUnanswerable is timeout', async (t) => {
    const { server, port } = await openNameServer(t, { dnsUnanswerable: 'timeout' });
    server.names.add('web.test', 's1');
    // Answers come in order, so the first one would be there before the second.
    const [answer] = await askTcp(port, [queryOf('else.test'), queryOf('web.test', { id: 7 })], 1);
    assert.equal(readAnswer(answer!).id, 7);
  });
});

describe('what is no query', () => {
  it('is refused or dropped, and the next query is answered', async (t) => {
    const { server, port } = await openNameServer(t);
    server.names.add('web.test', 's1');
    const good = queryOf('web.test');
    const rows: [change: (query: Buffer) => Buffer, rcode: number][] = [
      [(query) => query.subarray(0, 12), 1],
      [(query) => query.subarray(0, -1), 1],
      [(query) => ((query[5] = 2), query), 1],
      [(query) => ((query[5] = 0), query), 1],
      [(query) => ((query[12] = 0xc0), query), 1],
      [(query) => ((query[12] = 64), query), 1],
      [(query) => ((query[7] = 1), query), 1],
      [(query) => ((query[2] = 0x28), query), 4],
    ];
    for (const [change, rcode] of rows)
      assert.equal((await askUdp(port, change(Buffer.from(good))))[3]! & 0x0f, rcode, String(change));
    assert.equal((await ask(port, 'web.test', { class: 3 })).rcode, 5);
    assert.equal((await ask(port, 'else.test', { type: TYPES.AXFR })).rcode, 5);
    const response = Buffer.from(good);
    response[2] = 0x80;
    for (const dropped of [response, Buffer.alloc(0), good.subarray(0, 11)]) {
      // Neither gets an answer: the one of the good query comes first.
      const [answer] = await askTcp(port, [dropped, queryOf('web.test', { id: 9 })], 1);
      assert.equal(readAnswer(answer!).id, 9);
    }
  });

  it('over TCP ends nothing but its connection, and a connection that stands still is closed', async (t) => {
    const { server, port } = await openNameServer(t);
    server.names.add('web.test', 's1');
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(Buffer.from([0, 40, 1, 2, 3]));
    socket.end();
    await once(socket.resume(), 'close');
    assert.equal((await askTcp(port, [queryOf('web.test')])).length, 1);
  });
});

describe('an address of resolver that is taken', () => {
  it('is an error with file, line and key, and is opened when it becomes free', async (t) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { log, lines } = recordingLog();
    const { server } = await openNameServer(t, {
      resolvers: [{ kind: 'udp', host: '127.0.0.1', port }],
      log,
    });
    server.names.add('web.test', 's1');
    assert.deepEqual(server.ports, [undefined]);
    assert.match(
      String(lines[0]!['err']),
      new RegExp(`^router\\.yml:9: listeners\\[0\\]\\.options\\.resolver: .*:${port} is taken`),
    );
    taken.close();
    await until(
      'the port',
      () => server.ports[0],
      (open) => open === port,
    );
    assert.equal(addressOf(await ask(port, 'web.test')), '100.64.0.2');
  });
});

describe('the resolver of the machine', () => {
  const names = { find: () => undefined, isCovered: () => false } as unknown as InterceptedNames;
  const options = { names, upstreams: new Upstreams([], 'parallel'), clock: systemClock };

  it('that does not ask this name server is a warning with file, line and key', async () => {
    const { log, lines } = recordingLog();
    const responder = new QueryResponder({ ...options, unanswerable: 'refused', log });
    const asked: string[] = [];
    const place = 'router.yml:9: listeners[0].options.resolver';
    const lookup = async (name: string): Promise<void> => {
      asked.push(name);
      assert.equal((responder.answer(queryOf(name)) as Buffer)[3]! & 0x0f, 3);
      throw new Error('ENOTFOUND');
    };
    await checkSystemResolver({ responder, place, log, lookup });
    assert.deepEqual(lines, []);
    await checkSystemResolver({ responder, place, log, lookup: () => Promise.resolve() });
    assert.deepEqual(
      lines.map((line) => line['option']),
      [place],
    );
    assert.equal((responder.answer(queryOf(asked[0]!)) as Buffer)[3]! & 0x0f, 5, 'it is forgotten');
  });
});

describe('a hosts file as resolver', () => {
  it('has the names of services while the router runs, and its other lines stay', async (t) => {
    const path = join(folder, 'hosts');
    const before = '127.0.0.1\tlocalhost';
    writeFileSync(path, `${before}\n100.64.0.9\told.test\t# frontdoor\n`);
    const resolvers = [{ kind: 'file' as const, path }];
    const { server } = await openNameServer(t, { resolvers });
    assert.equal(readFileSync(path, 'utf8'), `${before}\n`);
    assert.throws(() => server.names.add('*.test', 's1'), { code: 'bad-host-name' });
    for (const name of ['a.test', 'b.test']) server.names.add(name, 's1');
    const added = '100.64.0.2\ta.test\t# frontdoor\n100.64.0.3\tb.test\t# frontdoor\n';
    await until(
      'the lines',
      () => readFileSync(path, 'utf8'),
      (text) => text === `${before}\n${added}`,
    );
    server.names.remove('a.test', 's1');
    await until(
      'the removal',
      () => readFileSync(path, 'utf8').includes('a.test'),
      (has) => !has,
    );
    await server.close();
    assert.equal(readFileSync(path, 'utf8'), `${before}\n`);
    assert.ok(existsSync(path));
  });
});
