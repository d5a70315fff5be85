import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordingLog } from '../../../../test/support/recording-log.ts';
import { flushResolverCache, type ResolverCacheMachine } from './system-resolver-cache.ts';

/** Resolves with the calls of programs and the levels of the log. */
async function flush(machine: Partial<ResolverCacheMachine>): Promise<string[]> {
  const seen: string[] = [];
  const log = recordingLog(({ level }) => void seen.push(level));
  await flushResolverCache(log, {
    exists: () => Promise.resolve(true),
    findProgram: (name) => Promise.resolve(`/usr/bin/${name}`),
    runMachineProgram: (path, args) => {
      seen.push([path, ...args].join(' '));
      return Promise.resolve('');
    },
    ...machine,
  });
  return seen;
}

test('the cache of systemd-resolved is emptied, where it runs', async () => {
  assert.deepEqual(await flush({}), ['/usr/bin/resolvectl flush-caches', 'info']);
  assert.deepEqual(await flush({ exists: () => Promise.resolve(false) }), []);
});

test('a cache that cannot be emptied is logged, and nothing else', async () => {
  assert.deepEqual(await flush({ findProgram: () => Promise.resolve(undefined) }), ['warn']);
  assert.deepEqual(await flush({ runMachineProgram: () => Promise.reject(new Error('late')) }), ['warn']);
});
