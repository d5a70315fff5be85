import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrontdoorError, silentLog } from '#base';
import type { SignInPageShown } from '#domain/gateway-shapes';
import { NO_LOOK, SignInLooks } from './sign-in-looks.ts';

const LOOK: SignInPageShown = { title: 'Example', logo: null };

function looksOf(find: (shareId: string) => Promise<SignInPageShown>) {
  const asked: string[] = [];
  const time = { ms: 0 };
  const looks = new SignInLooks({
    find: ({ shareId }) => {
      asked.push(shareId);
      return find(shareId);
    },
    log: silentLog,
    monotonicMs: () => time.ms,
  });
  return { looks, asked, time };
}

test('a share is asked for once a minute, also by visitors who come at once', async () => {
  const { looks, asked, time } = looksOf(async () => LOOK);
  assert.deepEqual(await Promise.all([looks.of('a'), looks.of('a'), looks.of('a')]), [LOOK, LOOK, LOOK]);
  time.ms = 59_999;
  await looks.of('a');
  assert.deepEqual(asked, ['a']);
  time.ms = 60_000;
  await looks.of('a');
  assert.deepEqual(asked, ['a', 'a']);
});

test('a control plane that refuses, such as an older one, is asked again after ten seconds', async () => {
  const { looks, asked, time } = looksOf(async () => {
    throw new FrontdoorError('notFound', 'not-found', 'no such path');
  });
  assert.equal(await looks.of('a'), NO_LOOK);
  time.ms = 9_999;
  assert.equal(await looks.of('a'), NO_LOOK);
  assert.deepEqual(asked, ['a']);
  time.ms = 10_000;
  await looks.of('a');
  assert.deepEqual(asked, ['a', 'a']);
});

test('visitors of very many shares do not become as many requests', async () => {
  const { promise, resolve } = Promise.withResolvers<SignInPageShown>();
  const { looks, asked } = looksOf(() => promise);
  const all = Array.from({ length: 500 }, (_, at) => looks.of(`share ${at}`));
  assert.equal(asked.length, 20);
  resolve(LOOK);
  const shown = await Promise.all(all);
  assert.equal(shown.filter((look) => look === LOOK).length, 20);
  assert.equal(shown.filter((look) => look === NO_LOOK).length, 480);
  assert.equal(await looks.of('another'), LOOK);
});
