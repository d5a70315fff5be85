// The UDP side of the name server: its thread, and the socket of Node that takes its place.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import process from 'node:process';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { silentLog, systemClock, type Clock, type Log, type LogFields } from '#base';
import { until, within } from '../../../../test/support/deadline.ts';
import { socketCalls } from '../machine/socket-calls.ts';
import { addressOf, askTcp, askUdp, queryOf, readAnswer, TYPES } from './testing/dns-messages.ts';
import { openNameServer, type OpenOptions } from './testing/dns-world.ts';

const skip = process.platform !== 'linux' && 'the thread needs Linux';
const hasIPv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);
const SOCK_NONBLOCK = 0o4000;
const TIMEOUT_MS = 30_000;
const RESEND_MS = 200;

const withoutThread: OpenOptions = { loadCalls: () => Promise.reject(new Error('no calls')) };

const ask = async (port: number, ...query: Parameters<typeof queryOf>): ReturnType<typeof readAnswerOf> =>
  readAnswerOf(askUdp(port, queryOf(...query)));
const readAnswerOf = async (message: Promise<Buffer>): Promise<ReturnType<typeof readAnswer>> =>
  readAnswer(await message);

function recordingLog(): { log: Log; lines: (LogFields & { readonly message: string })[] } {
  const lines: (LogFields & { message: string })[] = [];
  const record = (fields: LogFields, message: string): void => void lines.push({ ...fields, message });
  return { log: { ...silentLog, error: record, warn: record, info: record }, lines };
}

/**
 * Sends queries from another thread while this one stands still, and returns the first answer, or undefined if `waits` is
 * false. The event loop of this thread takes no turn.
 */
async function askBlocked(
  port: number,
  queries: readonly Buffer[],
  waits = true,
): Promise<Buffer | undefined> {
  const shared = new SharedArrayBuffer(4 + 512);
  const length = new Int32Array(shared, 0, 1);
  const code = `
    const { workerData: { port, queries, shared, waits } } = require('node:worker_threads');
    const socket = require('node:dgram').createSocket('udp4');
    const finish = (message) => {
      Buffer.from(shared, 4).set(message);
      Atomics.store(new Int32Array(shared, 0, 1), 0, message.length);
      Atomics.notify(new Int32Array(shared, 0, 1), 0);
      socket.close();
    };
    if (waits) socket.once('message', finish);
    const send = ([next, ...others]) => {
      if (next !== undefined) socket.send(next, port, '127.0.0.1', () => send(others));
      else if (!waits) finish(Buffer.from('sent'));
    };
    send(queries);`;
  const worker = new Worker(code, { eval: true, workerData: { port, queries, shared, waits } });
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  assert.equal(Atomics.wait(length, 0, 0, TIMEOUT_MS), 'ok', 'the answer came while nothing else ran');
  await exited;
  return waits ? Buffer.from(Buffer.from(shared, 4, length[0])) : undefined;
}

/** Repeats a query until it is answered, as clients do. */
async function askAgain(port: number, query: Buffer): Promise<ReturnType<typeof readAnswer>> {
  const socket = createSocket('udp4');
  const send = (): void => socket.send(query, port, '127.0.0.1');
  const timer = setInterval(send, RESEND_MS);
  try {
    send();
    const [message] = (await within('an answer', once(socket, 'message'))) as [Buffer];
    return readAnswer(message);
  } finally {
    clearInterval(timer);
    socket.close();
  }
}

describe('queries over UDP', { skip }, () => {
  for (const [way, options] of [
    ['a thread', {}],
    ['a socket of Node', withoutThread],
  ] as const)
    for (const host of ['127.0.0.1', '::1', '::'])
      it(
        `by ${way} are answered at ${host}, with TCP at the same port`,
        {
          skip: host.includes(':') && !hasIPv6 && 'this machine has no IPv6',
        },
        async (t) => {
          const { server } = await openNameServer(t, {
            ...options,
            resolvers: [{ kind: 'udp', host, port: 0 }],
          });
          // A port that the system picks for UDP may be taken for TCP. Then another one is tried.
          const { value: port = 0 } = await until(
            'the port',
            () => server.ports[0],
            (open) => open !== undefined,
          );
          server.names.add('web.test', 's1');
          server.names.add('*.apps.test', 's1');
          const targets = host === '::' ? ['127.0.0.1', '::1'] : [host];
          for (const target of targets)
            for (let round = 0; round < 3; round += 1) {
              const askAt = async (...query: Parameters<typeof queryOf>): Promise<unknown> => {
                const answer = readAnswer(await askUdp(port, queryOf(...query), target));
                return [answer.rcode, answer.records.map(({ type }) => type), addressOf(answer)?.slice(0, 9)];
              };
              assert.deepEqual(await askAt('WEB.test', { ednsBytes: 1232 }), [0, [1, 41], '100.64.0.']);
              assert.deepEqual(await askAt('web.test', { type: TYPES.AAAA }), [0, [6], '192.12.19']);
              assert.deepEqual(await askAt('a.apps.test'), [0, [1], '100.64.0.']);
              assert.deepEqual(await askAt('else.test'), [5, [], undefined]);
              assert.deepEqual(await askAt('web.test', { class: 3 }), [5, [], undefined]);
              assert.deepEqual(await askAt('web.test', { type: TYPES.AXFR }), [5, [], undefined]);
            }
          if (host !== '::1') assert.equal((await askTcp(port, [queryOf('web.test')])).length, 1);
        },
      );

  it('for names that have an address are answered by the thread alone', async (t) => {
    const { server, port } = await openNameServer(t);
    const address = server.names.add('web.test', 's1');
    server.names.add('*.apps.test', 's1');
    const given = await ask(port, 'a.apps.test');
    await until(
      'the file',
      () => server.names.answerable().length,
      (count) => count === 2,
    );
    const answer = readAnswer((await askBlocked(port, [queryOf('web.test')]))!);
    assert.equal(addressOf(answer), address);
    const wild = readAnswer((await askBlocked(port, [queryOf('a.apps.test')]))!);
    assert.equal(addressOf(wild), addressOf(given));
  });

  it('are answered by the names of now: each change counts before the next answer', async (t) => {
    const { server, port } = await openNameServer(t);
    for (let round = 0; round < 200; round += 1) {
      const address = server.names.add('web.test', 's1');
      assert.equal(addressOf(await ask(port, 'web.test')), address, `round ${round}`);
      server.names.remove('web.test', 's1');
      assert.equal((await ask(port, 'web.test')).rcode, 5, `round ${round}`);
    }
  });

  it('keep the address of a name that only the thread was asked for', async (t) => {
    let behindMs = 10 * 60_000;
    const clock: Clock = {
      ...systemClock,
      nowMs: () => Date.now() - behindMs,
      monotonicMs: () => performance.now(),
    };
    const { server, port } = await openNameServer(t, { clock, dnsSvcIpRange: '10.9.0.1/29' });
    server.names.add('*.test', 's1');
    const first = await ask(port, 'a.test');
    for (const name of ['b.test', 'c.test', 'd.test', 'e.test']) await ask(port, name);
    await until(
      'the file',
      () => server.names.answerable().length,
      (count) => count === 5,
    );
    behindMs = 0;
    await askBlocked(port, [queryOf('a.test')]);
    const others = await Promise.all(['v', 'w', 'x', 'y'].map((label) => ask(port, `${label}.test`)));
    assert.deepEqual(
      new Set(others.map(addressOf)),
      new Set(['10.9.0.3', '10.9.0.4', '10.9.0.5', '10.9.0.6']),
    );
    assert.equal(addressOf(await ask(port, 'a.test')), addressOf(first));
    assert.equal((await ask(port, 'z.test')).rcode, 2, 'no address is free');
  });

  it('that wait for a router that stands still are bounded, and what was dropped is in the log', async (t) => {
    const { log, lines } = recordingLog();
    const { server, port } = await openNameServer(t, { log });
    server.names.add('web.test', 's1');
    const long = Buffer.concat([queryOf('else.test'), Buffer.alloc(8_000)]);
    const queries = Array.from({ length: 500 }, () => long);
    // On a busy machine the system can drop so many that the others have a place.
    for (let round = 0; round < 10 && lines.length === 0; round += 1) {
      await askBlocked(port, queries, false);
      assert.equal((await askAgain(port, queryOf('else.test'))).rcode, 5);
    }
    assert.equal(addressOf(await askAgain(port, queryOf('web.test'))), '100.64.0.2');
    const dropped = lines.filter(({ message }) => message.startsWith('queries were dropped'));
    assert.deepEqual(
      dropped.map((line) => line['listener']),
      ['router.yml:9: listeners[0].options.resolver'],
    );
    assert.ok(Number(dropped[0]!['queries']) > 0);
  });

  it('are answered by a socket of Node when the thread has failed', async (t) => {
    const { log, lines } = recordingLog();
    const calls = await socketCalls();
    // A socket that does not wait is one that cannot be read by the thread.
    const socket = Object.assign(
      (family: number, type: number, protocol: number) =>
        calls.socket(family, type | SOCK_NONBLOCK, protocol),
      { pointer: calls.socket.pointer },
    );
    const { server, port } = await openNameServer(t, {
      log,
      loadCalls: () => Promise.resolve({ ...calls, socket }),
    });
    server.names.add('web.test', 's1');
    await until(
      'the log',
      () => lines.length,
      (count) => count === 2,
    );
    assert.deepEqual(
      lines.map(({ message, err }) => [message, err]),
      [
        ['the thread of the name server failed', 'the socket for queries cannot be read'],
        ['queries are answered without the thread of the name server', undefined],
      ],
    );
    for (let round = 0; round < 3; round += 1)
      assert.equal(addressOf(await ask(port, 'web.test')), '100.64.0.2');
    assert.deepEqual(server.ports, [port]);
    await server.close();
    assert.equal(countSockets(port), 0);
  });

  it('end with the name server, whose socket is closed then', async (t) => {
    const { server, port } = await openNameServer(t);
    server.names.add('web.test', 's1');
    await ask(port, 'web.test');
    assert.equal(countSockets(port), 1);
    await within('the end', Promise.all([server.close(), server.close()]));
    assert.equal(countSockets(port), 0);
    const again = await openNameServer(t, { resolvers: [{ kind: 'udp', host: '127.0.0.1', port }] });
    assert.equal((await ask(again.port, 'else.test')).rcode, 5);
  });
});

/** Returns the number of sockets of this machine that are bound to a port of 127.0.0.1. */
function countSockets(port: number): number {
  const name = ` 0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:`;
  return readFileSync('/proc/net/udp', 'utf8').split(name).length - 1;
}
