// The choice of the controller for a circuit request, and of the next one.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ChannelError } from '#net/channel';
import { HEARTBEAT_TYPE, makeFrame } from '#wire';
import { until } from '../../../test/support/deadline.ts';
import { CircuitAsker, type CircuitAnswer, type CircuitQuestion } from './circuit-asker.ts';
import { FakeControllers, type FakeController } from './testing/fake-controllers.ts';

const QUESTION = 900;
const REFUSAL = 901;
const ANSWER = 902;
/** A silent controller is left after 25 ms. */
const LIMITS = { waitMs: 5, echoMs: 20 };
const isRefusal = (answer: { contentType: number }): boolean => answer.contentType === REFUSAL;

function question(timeoutMs = 5_000, unused: CircuitAnswer[] = []): CircuitQuestion {
  return {
    frame: makeFrame(QUESTION),
    timeoutMs,
    mayKnowBetter: isRefusal,
    onUnused: (answer) => void unused.push(answer),
  };
}

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
    const answer = asker.ask(question());
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
    const answer = asker.ask(question());
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
    await assert.rejects(asker.ask(question()), { code: 'no-controller' });
    controllers.disconnect(controllers.connect('a'));
    const answer = asker.ask(question());
    const again = controllers.connect('a');
    (await asked(again)).answer(makeFrame(ANSWER));
    assert.equal((await answer).answer.contentType, ANSWER);
    controllers.disconnect(again);
    await assert.rejects(asker.ask(question(20)), { code: 'no-controller' });
  });

  test('goes to another controller when the first stops responding, whose late grant is disposed of', async () => {
    const controllers = new FakeControllers();
    const asker = new CircuitAsker(controllers, LIMITS);
    const [a, b] = [controllers.connect('a'), controllers.connect('b')];
    const unused: CircuitAnswer[] = [];
    const answer = asker.ask(question(5_000, unused));
    const first = await asked(a);
    (await asked(b)).answer(makeFrame(ANSWER));
    assert.equal((await answer).controller.id, 'b');
    assert.equal(a.sentOf(HEARTBEAT_TYPE).length, 1);

    const next = asker.ask(question());
    (await asked(b)).answer(makeFrame(ANSWER));
    assert.equal((await next).controller.id, 'b');
    assert.deepEqual([a.requests.length, unused.length], [0, 0]);

    first.answer(makeFrame(ANSWER));
    await until(
      'the late grant',
      () => unused.map(({ controller }) => controller.id),
      (ids) => ids.join() === 'a',
    );
  });

  test('fails when its time is over, and a grant that comes later is disposed of', async () => {
    const controllers = new FakeControllers();
    const asker = new CircuitAsker(controllers);
    const only = controllers.connect('a');
    const unused: CircuitAnswer[] = [];
    const answer = asker.ask(question(20, unused));
    const request = await asked(only);
    await assert.rejects(answer, { code: 'timeout', message: 'no response within 20 ms' });
    request.answer(makeFrame(ANSWER));
    await until(
      'the late grant',
      () => unused.length,
      (count) => count === 1,
    );
  });

  test('waits for a controller that is slow but echoes heartbeats', async () => {
    const controllers = new FakeControllers();
    const asker = new CircuitAsker(controllers, LIMITS);
    const [a, b] = [controllers.connect('a'), controllers.connect('b')];
    a.onHeartbeat = () => (a.reads += 1);
    const answer = asker.ask(question());
    const first = await asked(a);
    await until(
      'two heartbeats',
      () => a.sentOf(HEARTBEAT_TYPE).length,
      (count) => count >= 2,
    );
    first.answer(makeFrame(ANSWER));
    assert.equal((await answer).controller.id, 'a');
    assert.deepEqual([b.requests.length, a.isResponsive], [0, true]);
  });
});
