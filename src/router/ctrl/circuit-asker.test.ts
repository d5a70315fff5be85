// The choice of the controller for a circuit request, and of the next one.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ChannelError } from '#net';
import { makeFrame } from '#wire';
import { until } from '../../../test/support/deadline.ts';
import { CircuitAsker } from './circuit-asker.ts';
import { FakeControllers, type FakeController } from './testing/fake-controllers.ts';

const QUESTION = 900;
const REFUSAL = 901;
const ANSWER = 902;
const isRefusal = (answer: { contentType: number }): boolean => answer.contentType === REFUSAL;

async function asked(controller: FakeController): Promise<FakeController['requests'][number]> {
  const { value } = await until(
    `a question to ${controller.id}`,
    () => controller.requests.shift(),
    (request) => request !== undefined,
  );
  return value!;
}

describe('a question for a circuit', () => {
  test('goes to another controller when the first disconnects or has no path', async () => {
    const controllers = new FakeControllers();
    const asker = new CircuitAsker(controllers);
    const [a, b, c] = ['a', 'b', 'c'].map((id) => controllers.connect(id)) as [
      FakeController,
      FakeController,
      FakeController,
    ];
    const answer = asker.ask(makeFrame(QUESTION), 5_000, isRefusal);
    const first = await asked(a);
    controllers.disconnect(a);
    first.fail(new ChannelError('closed', 'gone'));
    (await asked(b)).answer(makeFrame(REFUSAL));
    (await asked(c)).answer(makeFrame(ANSWER));
    const { answer: got, controller } = await answer;
    assert.deepEqual([got.contentType, controller.id], [ANSWER, 'c']);
  });

  test('that all refuse is refused, each of them asked once', async () => {
    const controllers = new FakeControllers();
    const asker = new CircuitAsker(controllers);
    const both = ['a', 'b'].map((id) => controllers.connect(id));
    const answer = asker.ask(makeFrame(QUESTION), 5_000, isRefusal);
    for (const one of both) (await asked(one)).answer(makeFrame(REFUSAL));
    assert.equal((await answer).answer.contentType, REFUSAL);
    assert.deepEqual(
      both.map(({ sent }) => sent.length),
      [1, 1],
    );
  });

  test('waits for a controller that was lost a moment ago, and fails at once where none has been', async () => {
    const controllers = new FakeControllers();
    const asker = new CircuitAsker(controllers);
    await assert.rejects(asker.ask(makeFrame(QUESTION), 5_000, isRefusal), { code: 'no-controller' });
    controllers.disconnect(controllers.connect('a'));
    const answer = asker.ask(makeFrame(QUESTION), 5_000, isRefusal);
    const again = controllers.connect('a');
    (await asked(again)).answer(makeFrame(ANSWER));
    assert.equal((await answer).answer.contentType, ANSWER);
    controllers.disconnect(again);
    await assert.rejects(asker.ask(makeFrame(QUESTION), 20, isRefusal), { code: 'no-controller' });
  });
});
