import assert from 'node:assert/strict';
import { mock, test, type TestContext } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { headerId, HeaderWriter, type Frame } from '#wire';
import { ctrlMessages, type CtrlBody, type CtrlInit } from '#wire/ctrl';
import { FakeControllers, receive, type FakeController } from '../ctrl/testing/fake-controllers.ts';
import { DataModelSubscription } from './data-model-subscription.ts';
import { DataModel } from './data-model.ts';

const CHECK_MS = 30_000;
const { dataState, dataStateChangeSet, subscribeToDataModel, validateDataState, validateDataStateResponse } =
  ctrlMessages;

function openSubscription(t: TestContext) {
  mock.timers.enable({ apis: ['setInterval'] });
  t.after(() => mock.timers.reset());
  const controllers = new FakeControllers();
  const clock = new ManualClock();
  const model = new DataModel();
  const resets: bigint[] = [];
  const subscription = new DataModelSubscription({
    model,
    controllers,
    clock,
    log: silentLog,
    onIndexReset: () => void resets.push(model.index),
  });
  t.after(() => subscription.close());
  const handlers = subscription.handlers();
  const pass = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += CHECK_MS) {
      clock.advance(CHECK_MS);
      mock.timers.tick(CHECK_MS);
    }
  };
  const deliver = (from: FakeController, frame: Frame): void => receive(handlers, frame, from);
  return { controllers, model, resets, subscription, pass, deliver };
}

function requestsOf(controller: FakeController): CtrlBody<'subscribeToDataModel'>[] {
  return controller
    .sentOf(subscribeToDataModel.contentType)
    .map(({ body }) => subscribeToDataModel.decode(body));
}

function stateFrame(endIndex: bigint, subscriptionId?: string, timelineId = 'line'): Frame {
  const events: CtrlInit<'dataState'>['events'] = [
    { model: { case: 'service', value: { id: `s${endIndex}`, name: 's' } } },
  ];
  const headers = new HeaderWriter();
  if (subscriptionId !== undefined) headers.text(headerId.dataModel.subscriptionId, subscriptionId);
  return dataState.frame({ events, endIndex, timelineId }, headers);
}

function changeFrame(index: bigint, previousIndex = 0n, isSynthetic = false): Frame {
  const changes: CtrlInit<'dataStateChangeSet'>['changes'] = [
    { model: { case: 'service', value: { id: `s${index}`, name: 's' } } },
  ];
  return dataStateChangeSet.frame({ index, previousIndex, isSynthetic, changes });
}

test('the first controller is subscribed to at once, for 300 s, and no other beside it', (t) => {
  const { controllers, model, deliver } = openSubscription(t);
  const first = controllers.connect('c1');
  const second = controllers.connect('c2');
  const [request, ...more] = requestsOf(first);
  assert.deepEqual(
    [request!.currentIndex, request!.subscriptionDurationSeconds, request!.renew],
    [0n, 300, false],
  );
  assert.deepEqual([more.length, requestsOf(second).length], [0, 0]);
  deliver(first, stateFrame(7n));
  assert.deepEqual([model.index, model.timelineId], [7n, 'line']);
  deliver(first, changeFrame(8n));
  assert.equal(model.index, 8n);
});

test('states of another controller, or of another subscription, change nothing; keys are taken from each', (t) => {
  const { controllers, model, deliver } = openSubscription(t);
  const first = controllers.connect('c1');
  const second = controllers.connect('c2');
  deliver(second, stateFrame(9n));
  deliver(first, stateFrame(9n, 'another'));
  deliver(second, changeFrame(9n));
  assert.equal(model.index, 0n);
  deliver(second, changeFrame(0n, 0n, true));
  assert.ok(model.entities('service').has('s0'));
  deliver(first, stateFrame(9n, requestsOf(first)[0]!.subscriptionId));
  assert.equal(model.index, 9n);
});

test('the subscription is renewed before it ends, with the index that was reached', (t) => {
  const { controllers, deliver, pass } = openSubscription(t);
  const controller = controllers.connect('c1');
  deliver(controller, stateFrame(7n));
  pass(240_000);
  assert.equal(requestsOf(controller).length, 1);
  pass(30_000);
  const [first, second, ...more] = requestsOf(controller);
  assert.deepEqual([second!.renew, second!.currentIndex, second!.timelineId], [true, 7n, 'line']);
  assert.deepEqual([second!.subscriptionId, more.length], [first!.subscriptionId, 0]);
});

test('when its controller goes or falls silent the model comes from another', (t) => {
  const { controllers, model, deliver, pass } = openSubscription(t);
  const first = controllers.connect('c1');
  const second = controllers.connect('c2');
  deliver(first, stateFrame(7n));
  controllers.disconnect(first);
  assert.deepEqual([requestsOf(second)[0]!.currentIndex, requestsOf(second)[0]!.renew], [7n, false]);
  const third = controllers.connect('c3');
  second.isResponsive = false;
  pass(CHECK_MS);
  assert.equal(requestsOf(third).length, 1);
  deliver(second, changeFrame(8n));
  assert.equal(model.index, 7n);
  deliver(third, changeFrame(8n));
  assert.equal(model.index, 8n);
});

test('a change that is missing is asked for by a new subscription', (t) => {
  const { controllers, model, deliver } = openSubscription(t);
  const controller = controllers.connect('c1');
  deliver(controller, stateFrame(7n));
  deliver(controller, changeFrame(9n, 8n));
  const [, second] = requestsOf(controller);
  assert.deepEqual([second!.renew, second!.currentIndex, model.index], [false, 7n, 7n]);
});

test('a state of a lower index is reported: lists of controllers count from the start again', (t) => {
  const { controllers, resets, deliver } = openSubscription(t);
  const controller = controllers.connect('c1');
  deliver(controller, stateFrame(7n));
  assert.deepEqual(resets, []);
  deliver(controller, stateFrame(3n, undefined, 'restored'));
  assert.deepEqual(resets, [3n]);
});

test('a controller that checks the model gets the differences, and corrects it when it asks for that', (t) => {
  const { controllers, model, deliver } = openSubscription(t);
  const controller = controllers.connect('c1');
  deliver(controller, stateFrame(7n));
  const right: CtrlInit<'dataState'> = {
    events: [{ model: { case: 'service', value: { id: 'other', name: 's' } } }],
    endIndex: 7n,
    timelineId: 'line',
  };
  const answers = (): CtrlBody<'validateDataStateResponse'>[] =>
    controller
      .sentOf(validateDataStateResponse.contentType)
      .map(({ body }) => validateDataStateResponse.decode(body));
  deliver(controller, validateDataState.frame({ state: right }));
  assert.deepEqual(
    answers()[0]!.diffs.map(({ entityId, diffType }) => [entityId, diffType]),
    [
      ['other', 'removed'],
      ['s7', 'added'],
    ],
  );
  assert.ok(model.entities('service').has('s7'));
  deliver(controller, validateDataState.frame({ state: right, fix: true }));
  assert.deepEqual([...model.entities('service').keys()], ['other']);
  deliver(controller, validateDataState.frame({ state: right }));
  assert.deepEqual(answers()[2]!.diffs, []);
});

test('inspection shows index, timeline and source, and the model itself', (t) => {
  const { controllers, subscription, deliver } = openSubscription(t);
  const controller = controllers.connect('c1');
  deliver(controller, stateFrame(7n));
  assert.deepEqual(subscription.inspect('router-data-model-index'), {
    timeline: 'line',
    index: 7n,
    source: 'c1',
    sourceIndex: 0n,
  });
  const { service } = subscription.inspect('router-data-model') as {
    service: Record<string, { id: string }>;
  };
  assert.equal(service['s7']!.id, 's7');
});

/** The parts that our own control planes send of a state. */
function partFrame(id: string, isContinued: boolean, subscriptionId: string): Frame {
  const headers = new HeaderWriter()
    .text(headerId.dataModel.subscriptionId, subscriptionId)
    .bool(headerId.dataModel.isContinued, isContinued);
  const changes: CtrlInit<'dataStateChangeSet'>['changes'] = [
    { model: { case: 'service', value: { id, name: 's' } } },
  ];
  return dataStateChangeSet.frame({ isSynthetic: true, changes }, headers);
}

function firstPart(endIndex: bigint, subscriptionId: string): Frame {
  const frame = stateFrame(endIndex, subscriptionId, 'new line');
  const headers = new HeaderWriter()
    .text(headerId.dataModel.subscriptionId, subscriptionId)
    .bool(headerId.dataModel.isContinued, true);
  return { ...frame, headers: headers.build() };
}

test('a state in parts takes effect when its last part has come, and keys do in the meantime', (t) => {
  const { controllers, model, deliver, pass } = openSubscription(t);
  const controller = controllers.connect('c1');
  deliver(controller, stateFrame(7n));
  const { subscriptionId } = requestsOf(controller)[0]!;
  deliver(controller, firstPart(3n, subscriptionId));
  deliver(controller, partFrame('second', true, subscriptionId));
  deliver(controller, partFrame('of another subscription', true, 'other'));
  assert.deepEqual([...model.entities('service').keys()], ['s7']);
  deliver(controller, changeFrame(0n, 0n, true));
  assert.deepEqual([...model.entities('service').keys()], ['s7', 's0']);
  // A renewal does not interrupt it.
  pass(270_000);
  assert.equal(requestsOf(controller).length, 2);
  deliver(controller, partFrame('last', false, subscriptionId));
  assert.deepEqual([...model.entities('service').keys()], ['s3', 'second', 'last']);
  assert.deepEqual([model.index, model.timelineId], [3n, 'new line']);
  deliver(controller, changeFrame(4n, 3n));
  assert.equal(model.index, 4n);
});

test('a state whose parts end with its controller changes nothing', (t) => {
  const { controllers, model, deliver } = openSubscription(t);
  const first = controllers.connect('c1');
  const second = controllers.connect('c2');
  deliver(first, stateFrame(7n));
  deliver(first, firstPart(9n, requestsOf(first)[0]!.subscriptionId));
  controllers.disconnect(first);
  deliver(second, partFrame('last', false, requestsOf(second)[0]!.subscriptionId));
  assert.deepEqual([[...model.entities('service').keys()], model.index], [['s7'], 7n]);
});
