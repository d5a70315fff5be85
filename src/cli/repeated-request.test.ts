import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_KINDS, FrontdoorError, type ErrorKind } from '#base';
import { repeatedRequest } from './repeated-request.ts';

interface Outcome {
  readonly tries: number;
  readonly pausesMs: readonly number[];
  readonly result?: string;
  readonly error?: unknown;
}

/** Each try fails by one of `kinds` as long as there are some. */
async function outcomeOf(...kinds: readonly ErrorKind[]): Promise<Outcome> {
  const pausesMs: number[] = [];
  let tries = 0;
  const send = (): Promise<string> => {
    const kind = kinds[tries++];
    return kind === undefined
      ? Promise.resolve('made')
      : Promise.reject(new FrontdoorError(kind, kind, 'Busy'));
  };
  const pause = (ms: number): Promise<void> => Promise.resolve(void pausesMs.push(ms));
  try {
    return { result: await repeatedRequest('key-1', send, pause), tries, pausesMs };
  } catch (error) {
    return { error, tries, pausesMs };
  }
}

test('a request without an answer is repeated after growing pauses', async () => {
  const { result, tries, pausesMs } = await outcomeOf('unavailable', 'requestTimeout', 'timeout');
  assert.deepEqual([result, tries], ['made', 4]);
  assert.ok(
    pausesMs.every((ms, at) => ms > (pausesMs[at - 1] ?? 200)),
    String(pausesMs),
  );
});

test('the last failure has the key, and comes after seconds', async () => {
  const { error, tries, pausesMs } = await outcomeOf(...Array<ErrorKind>(9).fill('unavailable'));
  assert.equal(tries, 4);
  assert.ok(pausesMs.reduce((sum, ms) => sum + ms, 0) < 6_000, String(pausesMs));
  assert.ok(error instanceof FrontdoorError);
  assert.deepEqual([error.kind, error.code], ['unavailable', 'unavailable']);
  assert.match(
    error.message,
    /^Busy; the change may have been made: repeat the command with --idempotency-key key-1$/,
  );
});

test('a refusal is final', async () => {
  const unanswered = new Set<number>([408, 502, 503, 504]);
  for (const [kind, { status }] of Object.entries(ERROR_KINDS)) {
    if (unanswered.has(status)) continue;
    const { tries, error } = await outcomeOf(kind as ErrorKind);
    assert.deepEqual([tries, (error as FrontdoorError).message], [1, 'Busy'], kind);
  }
});
