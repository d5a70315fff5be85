import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog, textOf, utf8, WorkerPool } from '#base';
import { until, within } from '../../../../test/support/deadline.ts';
import { parseAllowedAddresses, type AllowedAddresses } from '#sdk/hosting';
import { ResolverConnection, type ResolverLookup } from './resolver-connection.ts';

const ALLOWED = parseAllowedAddresses(['*.corp.example', 'db.example', '10.0.0.0/8']) as AllowedAddresses;

const lookup: ResolverLookup = {
  resolveMx: () => Promise.resolve([{ exchange: 'mail.corp.example', priority: 5 }]),
  resolveTxt: () => Promise.resolve([['a', 'b'], ['c']]),
  resolveSrv: (name) =>
    name.startsWith('missing')
      ? Promise.reject(new Error('ENOTFOUND'))
      : Promise.resolve([{ name: 'sip.corp.example', port: 5060, priority: 1, weight: 2 }]),
};

function connect(more: { lookup?: ResolverLookup; pool?: WorkerPool } = {}): ResolverConnection {
  const pool = new WorkerPool({ name: 'test', queueLength: 10, workerCount: 1, log: silentLog });
  return new ResolverConnection({ allowed: ALLOWED, pool, lookup, ...more });
}

async function ask(connection: ResolverConnection, message: unknown): Promise<unknown> {
  const answer = new Promise<Uint8Array>((resolve) => connection.once('data', resolve));
  connection.write(utf8(typeof message === 'string' ? message : JSON.stringify(message)));
  return JSON.parse(textOf(await within('an answer', answer))) as unknown;
}

test('MX, TXT and SRV records of allowed names are answered', async () => {
  const connection = connect();
  const rows = [
    ['corp.example', 15, [{ data: 'mail.corp.example', priority: 5 }]],
    ['DB.example.', 16, [{ data: 'ab' }, { data: 'c' }]],
    ['_sip._tcp.corp.example', 33, [{ data: 'sip.corp.example', port: 5060, priority: 1, weight: 2 }]],
  ] as const;
  for (const [name, type, records] of rows) {
    const answer = records.map((record) => ({ name, type, ttl: 86_400, ...record }));
    const question = [{ name, type }];
    assert.deepEqual(await ask(connection, { id: 7, question }), { id: 7, status: 0, question, answer });
  }
});

test('other names, types and messages get the status of DNS that fits, and the circuit continues', async () => {
  const connection = connect();
  const status = async (name: string, type: number): Promise<unknown> =>
    ((await ask(connection, { id: 1, question: [{ name, type }] })) as { status: number }).status;
  assert.equal(await status('other.example', 15), 3);
  assert.equal(await status('corp.example', 1), 4);
  assert.equal(await status('missing.corp.example', 33), 2);
  for (const message of ['no json', '[]', { question: [] }, { question: [{ name: 1 }] }, 'x'.repeat(5_000)]) {
    const { status: code } = (await ask(connection, message)) as { status: number };
    assert.equal(code, 1, JSON.stringify(message).slice(0, 40));
  }
  assert.equal(await status('corp.example', 16), 0);
});

test('an answer leaves out records beyond its limit', async () => {
  const many = Array.from({ length: 5_000 }, (_, i) => [`${i}`.padStart(100)]);
  const connection = connect({ lookup: { ...lookup, resolveTxt: () => Promise.resolve(many) } });
  const { answer } = (await ask(connection, { question: [{ name: 'corp.example', type: 16 }] })) as {
    answer: object[];
  };
  assert.ok(answer.length > 10 && JSON.stringify(answer).length <= 8_192, `${answer.length} records`);
});

test('questions of all circuits share the places for look-ups, and one without a place fails', async () => {
  const pool = new WorkerPool({ name: 'test', queueLength: 0, workerCount: 1, log: silentLog });
  const { promise, resolve } = Promise.withResolvers<string[][]>();
  const slow = connect({ pool, lookup: { ...lookup, resolveTxt: () => promise } });
  const other = connect({ pool });
  const question = [{ name: 'corp.example', type: 16 }];
  const waiting = ask(slow, { question });
  await until(
    'the look-up',
    () => pool.busyCount,
    (count) => count === 1,
  );
  assert.equal(((await ask(other, { question })) as { status: number }).status, 2);
  resolve([['x']]);
  assert.equal(((await waiting) as { status: number }).status, 0);
});

test('a dialer that reads no answers is asked no further questions', async () => {
  let count = 0;
  const counting = { ...lookup, resolveTxt: () => Promise.resolve([[String((count += 1))]]) };
  const connection = connect({ lookup: counting });
  const message = utf8(JSON.stringify({ question: [{ name: 'corp.example', type: 16 }] }));
  for (let i = 0; i < 100; i += 1) connection.write(message);
  await until(
    'the answers',
    () => connection.readableLength,
    (length) => length >= 16,
  );
  assert.equal(count, 16);
  let read = 0;
  connection.on('data', () => (read += 1));
  await until(
    'all answers',
    () => read,
    (it) => it === 100,
  );
});
