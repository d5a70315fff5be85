import assert from 'node:assert/strict';
import { mock, test, type TestContext } from 'node:test';
import { silentLog } from '#base';
import { asReplyTo, CHANNEL_HEADERS, contentType, HeaderWriter, makeFrame, RESULT_TYPE } from '#wire';
import { ctrlMessages, TerminatorPrecedence } from '#wire/ctrl';
import { until } from '../../../../test/support/deadline.ts';
import { MemoryControllers } from '../../testing/memory-controller.ts';
import type { HostedTerminator } from './hosted-terminator.ts';
import { TerminatorUpdates } from './terminator-updates.ts';

const RETRY_MS = 5_000;
const values = (cost: number) => ({ cost, precedence: TerminatorPrecedence.DEFAULT });

function open(t: TestContext, isKept: boolean) {
  const controllers = new MemoryControllers();
  const { answers } = controllers.connect('ctrl');
  const costs: number[] = [];
  const refusals: boolean[] = [];
  answers.set(contentType.updateTunnelTerminator, (frame, channel) => {
    costs.push(ctrlMessages.updateTunnelTerminator.decode(frame.body).cost);
    const headers = new HeaderWriter().bool(CHANNEL_HEADERS.resultSuccess, false);
    const isRefused = refusals.shift() === true;
    const type = isRefused ? RESULT_TYPE : contentType.updateTunnelTerminatorResponse;
    channel.send(asReplyTo(frame, makeFrame(type, { headers })));
  });
  const updates = new TerminatorUpdates({ controllers, requestTimeoutMs: 600_000, log: silentLog });
  t.after(() => updates.close());
  const terminator = { id: 't1', values: values(1) } as HostedTerminator;
  updates.add(terminator, isKept);
  const untilSent = async (...expected: number[]): Promise<void> => {
    await until(
      `updates ${expected.join(' ')}`,
      () => costs,
      (sent) => sent.join() === expected.join(),
    );
  };
  return { updates, terminator, costs, refusals, untilSent };
}

test('a terminator that an earlier process may have created gets its values, a new one has them', async (t) => {
  const kept = open(t, true);
  const fresh = open(t, false);
  for (const { updates, terminator } of [kept, fresh]) {
    updates.onRequested(terminator);
    updates.push('t1');
  }
  await kept.untilSent(1);
  assert.deepEqual(fresh.costs, []);
});

test('when creations with different values were requested, the controller gets the latest', async (t) => {
  const { updates, terminator, untilSent } = open(t, false);
  for (const cost of [1, 2]) {
    terminator.values = values(cost);
    updates.onRequested(terminator);
  }
  terminator.values = values(1);
  updates.push('t1');
  await untilSent(1);
});

test('a refused update is repeated with the values of then', async (t) => {
  const { updates, terminator, costs, refusals, untilSent } = open(t, true);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  refusals.push(true);
  updates.push('t1');
  await untilSent(1);
  terminator.values = values(7);
  await until(
    'the repetition',
    () => {
      mock.timers.tick(RETRY_MS);
      return costs.length;
    },
    (sent) => sent === 2,
  );
  assert.deepEqual(costs, [1, 7]);
});
