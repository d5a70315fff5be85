import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { silentLog } from '#base';
import { contain, containedExceptions, failAlone, inOwnScope, mapAlone } from './containment.ts';

const counted = (kind: string): number => new Map<string, number>(containedExceptions()).get(kind) ?? 0;

function boom(): never {
  throw new Error('boom');
}

test('an exception fails its thing alone: it is logged with the id, and counted', () => {
  const lines: unknown[][] = [];
  const log = { ...silentLog, error: (...line: unknown[]) => void lines.push(line) };
  const before = counted('share');
  const failures: unknown[] = [];
  const results = ['a', 'b', 'c'].map((id) =>
    contain({ kind: 'share', id, log, fail: (error) => void failures.push(error) }, () =>
      id === 'b' ? boom() : id,
    ),
  );
  assert.deepEqual(results, ['a', undefined, 'c']);
  assert.equal(counted('share') - before, 1);
  assert.equal(failures.length, 1);
  const [[fields, message]] = lines as [[Record<string, unknown>, string]];
  assert.equal(message, 'defect: this one thing ends');
  assert.deepEqual([fields['kind'], fields['id'], fields['err']], ['share', 'b', 'boom']);
  assert.match(String(fields['stack']), /containment\.test/);
});

test('an exception in what ends the thing does not reach the caller', () => {
  failAlone({ kind: 'share', id: 'a', log: silentLog, fail: boom }, new Error('first'));
});

test('a thing that throws without end writes a bounded number of lines, and the next line has the sum', () => {
  let lines = 0;
  const log = { ...silentLog, error: () => void (lines += 1) };
  const before = counted('query');
  for (let i = 0; i < 1_000; i += 1) failAlone({ kind: 'query', id: String(i), log }, new Error('boom'));
  assert.equal(counted('query') - before, 1_000);
  assert.ok(lines <= 20, String(lines));
});

test('callbacks of several things that wait for one answer fail one by one', () => {
  const called: string[] = [];
  const failures: string[] = [];
  const waiting = ['a', 'b', 'c'].map((id) =>
    contain({ kind: 'share', id, log: silentLog, fail: () => void failures.push(id) }, () =>
      inOwnScope(() => (id === 'b' ? boom() : void called.push(id))),
    ),
  );
  for (const callback of waiting) callback!();
  assert.deepEqual([called, failures], [['a', 'c'], ['b']]);
});

test('a record that cannot be used is left out', () => {
  assert.deepEqual(
    mapAlone([1, 2, 3], String, (n) => (n === 2 ? boom() : n * 10)),
    [10, 30],
  );
});

test('what a thing does later fails it, too, and the process that nobody caught an exception for continues', async () => {
  const program = fileURLToPath(new URL('containment-fixture.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program], { timeout: 30_000 });
  assert.deepEqual(JSON.parse(stdout), {
    failed: ['timer', 'tick', 'promise', 'socket'],
    process: 1,
    connections: 3,
    answers: ['', '', '', 'fine'],
  });
});
