import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { silentLog } from '#base';
import type { Channel } from '#net';
import type { Frame } from '#wire';
import { CreateTerminatorResult, ctrlMessages, type CtrlBody } from '#wire/ctrl';
import { TerminatorRegistry, type Terminator } from './terminator-registry.ts';

const REQUEST_TIMEOUT_MS = 7_000;

function openRegistry() {
  const sent: Frame[] = [];
  const established: string[] = [];
  const failed: string[] = [];
  const registry = new TerminatorRegistry({
    log: silentLog,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    sendToControllers: (frame) => sent.push(frame) > 0,
    onEstablished: ({ id }) => void established.push(id),
    onFailed: ({ id }, reason) => void failed.push(`${id} ${reason}`),
  });
  const answer = (result: CreateTerminatorResult, msg = ''): void =>
    registry.onCreateResponse(
      ctrlMessages.createTerminatorV2Response.decode(
        ctrlMessages.createTerminatorV2Response.frame({ terminatorId: 't1', result, msg }).body,
      ),
    );
  return { registry, sent, established, failed, answer };
}

function terminatorOf(id: string): Terminator {
  const channel = { peer: { fingerprint: 'ab' } } as unknown as Channel;
  const fields: Partial<Terminator> = {
    id,
    channel,
    identityId: 'i1',
    listenerId: 'l1',
    tokenText: 'token',
    apiSessionToken: 'session',
    instanceId: '',
    instanceSecret: new Uint8Array(0),
    peerData: new Map(),
    cost: 0,
    precedence: 0,
  };
  return fields as Terminator;
}

test('a controller that does not answer is asked again after the request timeout, until it does', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const { registry, sent, established, answer } = openRegistry();
  registry.add(terminatorOf('t1'));
  assert.equal(sent.length, 1);
  mock.timers.tick(REQUEST_TIMEOUT_MS - 1);
  assert.equal(sent.length, 1);
  mock.timers.tick(1);
  assert.equal(sent.length, 2);
  const asked = (frame: Frame): CtrlBody<'createTerminatorV2'> =>
    ctrlMessages.createTerminatorV2.decode(frame.body);
  assert.deepEqual(asked(sent[1]!), asked(sent[0]!));
  answer(CreateTerminatorResult.SUCCESS);
  assert.deepEqual(established, ['t1']);
  mock.timers.tick(10 * REQUEST_TIMEOUT_MS);
  assert.equal(sent.length, 2);
});

test('a refusal for good ends the terminator and is told once', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const { registry, sent, failed, answer } = openRegistry();
  registry.add(terminatorOf('t1'));
  answer(CreateTerminatorResult.FAILED_INVALID_SESSION, 'no such session');
  assert.deepEqual(failed, ['t1 no such session']);
  answer(CreateTerminatorResult.FAILED_INVALID_SESSION, 'no such session');
  mock.timers.tick(10 * REQUEST_TIMEOUT_MS);
  assert.deepEqual([failed.length, sent.length, registry.byId('t1')], [1, 1, undefined]);
});

test('a busy controller is asked again, without end; another passing failure three times', (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const { registry, sent, failed, answer } = openRegistry();
  registry.add(terminatorOf('t1'));
  for (let i = 0; i < 10; i += 1) {
    answer(CreateTerminatorResult.FAILED_BUSY);
    mock.timers.tick(5_000);
  }
  assert.deepEqual([sent.length, failed], [11, []]);
  for (let i = 0; i < 4; i += 1) {
    answer(CreateTerminatorResult.FAILED_OTHER, 'later');
    mock.timers.tick(5_000);
  }
  assert.deepEqual(failed, ['t1 later']);
});
