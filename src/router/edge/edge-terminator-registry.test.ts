import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { silentLog, WorkerPool } from '#base';
import type { Channel } from '#net/channel';
import { contentType, headerId, HeaderWriter, makeFrame, RESULT_TYPE, type Frame } from '#wire';
import { CreateTerminatorResult, ctrlMessages, type CtrlBody } from '#wire/ctrl';
import { FakeControllers, type FakeController } from '../ctrl/testing/fake-controllers.ts';
import { EdgeTerminatorRegistry, type EdgeTerminator } from './edge-terminator-registry.ts';

const REQUEST_TIMEOUT_MS = 7_000;
const RETRY_MS = 5_000;

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

function openRegistry({ workerCount = 5, queueLength = 100 } = {}) {
  const controllers = new FakeControllers();
  const established: string[] = [];
  const failed: string[] = [];
  const pool = new WorkerPool({ name: 'rate_limiter', queueLength, workerCount, log: silentLog });
  const registry = new EdgeTerminatorRegistry({
    log: silentLog,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    controllers,
    pool,
    onEstablished: ({ id }) => void established.push(id),
    onFailed: ({ id }, reason) => void failed.push(`${id} ${reason}`),
  });
  const answer = async (
    from: FakeController,
    result: CreateTerminatorResult,
    { msg = '', terminatorId = 't1' } = {},
  ): Promise<void> => {
    const { body } = ctrlMessages.createTerminatorV2Response.frame({ terminatorId, result, msg });
    registry.onCreateResponse(ctrlMessages.createTerminatorV2Response.decode(body), from);
    await turn();
  };
  const add = async (...ids: string[]): Promise<void> => {
    for (const id of ids) registry.add(terminatorOf(id));
    await turn();
  };
  return { registry, controllers, pool, established, failed, answer, add };
}

/** Tasks of the pool start and end in later turns of the event loop. */
async function turn(): Promise<void> {
  for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function pass(ms: number): Promise<void> {
  mock.timers.tick(ms);
  await turn();
}

function askedOf(controller: FakeController): string[] {
  return controller
    .sentOf(contentType.createTerminatorV2)
    .map(({ body }) => ctrlMessages.createTerminatorV2.decode(body).address);
}

function terminatorOf(id: string): EdgeTerminator {
  const channel = { peer: { fingerprint: 'ab' } } as unknown as Channel;
  const fields: Partial<EdgeTerminator> = {
    id,
    channel,
    identityId: 'i1',
    listenerId: 'l1',
    tokenText: 'token',
    takesConnId: false,
    takesXgress: false,
    supportsInspect: true,
    session: { id: 's', token: 'session', identityId: 'i1', fingerprints: [] },
    instanceId: '',
    instanceSecret: new Uint8Array(0),
    peerData: new Map(),
    cost: 0,
    precedence: 0,
  };
  return fields as EdgeTerminator;
}

test('a controller that does not answer is asked again after the request timeout, until it does', async () => {
  const { controllers, established, answer, add } = openRegistry();
  const controller = controllers.connect('c1');
  await add('t1');
  await pass(REQUEST_TIMEOUT_MS - 1);
  assert.deepEqual(askedOf(controller), ['t1']);
  await pass(1);
  assert.deepEqual(askedOf(controller), ['t1', 't1']);
  const asked = ({ body }: Frame): CtrlBody<'createTerminatorV2'> =>
    ctrlMessages.createTerminatorV2.decode(body);
  assert.deepEqual(asked(controller.sent[1]!), asked(controller.sent[0]!));
  await answer(controller, CreateTerminatorResult.SUCCESS);
  assert.deepEqual(established, ['t1']);
  await pass(10 * REQUEST_TIMEOUT_MS);
  assert.equal(controller.sent.length, 2);
});

test('a permanent refusal ends the terminator and is reported once', async () => {
  const { registry, controllers, failed, answer, add } = openRegistry();
  const controller = controllers.connect('c1');
  await add('t1');
  for (let i = 0; i < 2; i += 1) {
    await answer(controller, CreateTerminatorResult.FAILED_INVALID_SESSION, { msg: 'no such session' });
  }
  assert.deepEqual(failed, ['t1 no such session']);
  await pass(10 * REQUEST_TIMEOUT_MS);
  assert.deepEqual([controller.sent.length, registry.byId('t1')], [1, undefined]);
});

test('a busy controller is asked again, without end; another passing failure three times', async () => {
  const { controllers, failed, answer, add } = openRegistry();
  const controller = controllers.connect('c1');
  await add('t1');
  for (let i = 0; i < 10; i += 1) {
    await answer(controller, CreateTerminatorResult.FAILED_BUSY);
    await pass(RETRY_MS);
  }
  assert.deepEqual([controller.sent.length, failed], [11, []]);
  for (let i = 0; i < 4; i += 1) {
    await answer(controller, CreateTerminatorResult.FAILED_OTHER, { msg: 'later' });
    await pass(RETRY_MS);
  }
  assert.deepEqual(failed, ['t1 later']);
});

test('with several controllers a terminator is established once one accepted it, and is reported to each', async () => {
  const { registry, controllers, established, failed, answer, add } = openRegistry();
  const [first, second] = [controllers.connect('c1'), controllers.connect('c2')];
  await add('t1');
  assert.deepEqual([askedOf(first), askedOf(second)], [['t1'], ['t1']]);
  await answer(first, CreateTerminatorResult.FAILED_INVALID_SESSION, { msg: 'not yet known' });
  assert.deepEqual([established, failed], [[], []]);
  await answer(second, CreateTerminatorResult.SUCCESS);
  assert.deepEqual([established, failed], [['t1'], []]);
  const third = controllers.connect('c3');
  await turn();
  assert.deepEqual(askedOf(third), ['t1']);
  await answer(third, CreateTerminatorResult.SUCCESS);
  assert.deepEqual(established, ['t1']);
  assert.notEqual(registry.byId('t1'), undefined);
});

test('a terminator fails when every connected controller refuses it for good', async () => {
  const { controllers, failed, answer, add } = openRegistry();
  const [first, second] = [controllers.connect('c1'), controllers.connect('c2')];
  await add('t1');
  await answer(first, CreateTerminatorResult.FAILED_INVALID_SESSION, { msg: 'one' });
  assert.deepEqual(failed, []);
  await answer(second, CreateTerminatorResult.FAILED_INVALID_SESSION, { msg: 'two' });
  assert.deepEqual(failed, ['t1 two']);
});

test('a controller that comes back gets the established terminators and their health', async () => {
  const { registry, controllers, established, answer, add } = openRegistry();
  const controller = controllers.connect('c1');
  await add('t1');
  await answer(controller, CreateTerminatorResult.SUCCESS);
  registry.setHealth(registry.byId('t1')!, false);
  controllers.disconnect(controller);
  const again = controllers.connect('c1');
  await turn();
  assert.deepEqual(askedOf(again), ['t1']);
  await answer(again, CreateTerminatorResult.SUCCESS);
  const [event] = again.sentOf(contentType.healthEvent);
  assert.equal(ctrlMessages.healthEvent.decode(event!.body).checkPassed, false);
  assert.deepEqual(established, ['t1']);
});

test('rateLimitedWorkerCount bounds how many creations wait for answers at once', async () => {
  const { controllers, answer, add } = openRegistry({ workerCount: 2 });
  const controller = controllers.connect('c1');
  await add('t1', 't2', 't3', 't4');
  assert.deepEqual(askedOf(controller), ['t1', 't2']);
  await answer(controller, CreateTerminatorResult.SUCCESS, { terminatorId: 't1' });
  assert.deepEqual(askedOf(controller), ['t1', 't2', 't3']);
  // An answer that never arrives releases its worker, too.
  await pass(REQUEST_TIMEOUT_MS);
  assert.ok(askedOf(controller).includes('t4'));
});

test('a creation that finds rateLimitedQueueLength used up is tried again later', async () => {
  const { controllers, answer, add } = openRegistry({ workerCount: 1, queueLength: 1 });
  const controller = controllers.connect('c1');
  await add('t1', 't2', 't3');
  await answer(controller, CreateTerminatorResult.SUCCESS, { terminatorId: 't1' });
  await answer(controller, CreateTerminatorResult.SUCCESS, { terminatorId: 't2' });
  assert.deepEqual(askedOf(controller), ['t1', 't2']);
  await pass(RETRY_MS);
  assert.deepEqual(askedOf(controller), ['t1', 't2', 't3']);
});

test('a controller that does not answer in time holds no worker that others need', async () => {
  const { controllers, answer, add } = openRegistry({ workerCount: 1 });
  const [slow, good] = [controllers.connect('c1'), controllers.connect('c2')];
  slow.isResponsive = false;
  await add('t1', 't2');
  await answer(good, CreateTerminatorResult.SUCCESS, { terminatorId: 't1' });
  assert.deepEqual([askedOf(slow), askedOf(good)], [[], ['t1', 't2']]);
  await answer(good, CreateTerminatorResult.SUCCESS, { terminatorId: 't2' });
  slow.isResponsive = true;
  await pass(RETRY_MS);
  assert.deepEqual(askedOf(slow), ['t1']);
});

test('a terminator that a host unbinds is removed at every controller, with a retry where one is busy', async () => {
  const { registry, controllers, answer, add } = openRegistry();
  const [first, second] = [controllers.connect('c1'), controllers.connect('c2')];
  await add('t1', 't2');
  for (const terminatorId of ['t1', 't2'])
    await answer(first, CreateTerminatorResult.SUCCESS, { terminatorId });
  registry.remove(registry.byId('t1')!);
  registry.remove(registry.byId('t2')!);
  await turn();
  const removedAt = (controller: FakeController): string[][] =>
    controller
      .sentOf(contentType.removeTerminators)
      .map(({ body }) => ctrlMessages.removeTerminators.decode(body).terminatorIds);
  assert.deepEqual([removedAt(first), removedAt(second)], [[['t1', 't2']], [['t1', 't2']]]);
  first.answerResult(true);
  const busy = new HeaderWriter().bool(headerId.channel.resultSuccess, false).u32(10, 1);
  second.requests.shift()!.answer(makeFrame(RESULT_TYPE, { headers: busy }));
  await turn();
  await pass(RETRY_MS);
  assert.deepEqual([removedAt(first).length, removedAt(second).length], [1, 2]);
  second.answerResult(true);
});

test('an id that is hosted again is not removed by the removal that still waits', async () => {
  const { registry, controllers, add } = openRegistry();
  const controller = controllers.connect('c1');
  await add('t1');
  registry.remove(registry.byId('t1')!);
  registry.add(terminatorOf('t1'));
  await turn();
  assert.deepEqual(controller.sentOf(contentType.removeTerminators), []);
});

test('inspection lists each terminator with its state and times, under the names of OpenZiti', async () => {
  const { registry, controllers, answer, add } = openRegistry({ workerCount: 1, queueLength: 1 });
  const controller = controllers.connect('c1');
  await add('t1');
  await answer(controller, CreateTerminatorResult.SUCCESS);
  await add('t2', 't3', 't4');
  const { entries } = registry.inspect('sdk-terminators') as { entries: Record<string, unknown>[] };
  assert.deepEqual(
    entries.map(({ id, state, operationActive }) => [id, state, operationActive]),
    [
      ['t1', 'established', false],
      ['t2', 'establishing', true],
      ['t3', 'establishing', true],
      ['t4', 'establishing', true],
    ],
  );
  const { createTime, lastAttempt, ...first } = entries[0]!;
  for (const time of [createTime, lastAttempt])
    assert.match(
      String(time),
      new RegExp(`^${new Date().getUTCFullYear()}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$`),
    );
  // It waits for a worker.
  assert.equal(entries.at(-1)!['lastAttempt'], '0001-01-01 00:00:00');
  assert.deepEqual(first, {
    key: 't1',
    id: 't1',
    state: 'established',
    instance: '',
    cost: 0,
    precedence: 'default',
    operationActive: false,
    listenerId: 'l1',
    assignIds: false,
    useSdkXgress: false,
    v2: true,
    supportsInspect: true,
  });
  assert.equal(registry.inspect('links'), undefined);
});
