import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerId, HeaderWriter, type Frame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import { ApiSessionMessages } from './api-session-messages.ts';
import { ApiSessionRegistry } from './api-session-registry.ts';
import { FakeControllers, receive, type FakeController } from './testing/fake-controllers.ts';

function openSessions() {
  const ended: string[] = [];
  const controllers = new FakeControllers();
  const sessions = new ApiSessionRegistry(({ token }) => void ended.push(token));
  const handlers = new ApiSessionMessages(sessions, controllers).handlers();
  const deliver = (from: FakeController, frame: Frame): void => receive(handlers, frame, from);
  const known = (...tokens: string[]): boolean[] =>
    tokens.map((token) => sessions.byToken(token) !== undefined);
  return { sessions, controllers, ended, deliver, known };
}

function records(...tokens: string[]) {
  return tokens.map((token) => ({ token, id: token, identityId: 'i1', certFingerprints: ['ab'] }));
}

function chunk(set: string, isLast: boolean, ...tokens: string[]): Frame {
  const state = JSON.stringify({ id: set, isLast, sequence: 0 });
  const headers = new HeaderWriter().text(headerId.apiSessions.state, state);
  return ctrlMessages.apiSessionAdded.frame({ isFullState: true, apiSessions: records(...tokens) }, headers);
}

test('a full set counts once its last chunk came, and ends what is not in it', () => {
  const { controllers, ended, deliver, known } = openSessions();
  const controller = controllers.connect('c1');
  deliver(controller, ctrlMessages.apiSessionAdded.frame({ apiSessions: records('old', 'kept') }));
  deliver(controller, chunk('set-1', false, 'kept'));
  assert.deepEqual([known('old', 'kept'), ended], [[true, true], []]);
  deliver(controller, chunk('set-1', true, 'new'));
  assert.deepEqual([known('old', 'kept', 'new'), ended], [[false, true, true], ['old']]);
});

test('chunks of a set that was broken off do not count for the next one', () => {
  const { controllers, deliver, known } = openSessions();
  deliver(controllers.connect('c1'), chunk('set-1', false, 'lost'));
  controllers.disconnect(controllers.byId('c1')!);
  const again = controllers.connect('c1');
  deliver(again, chunk('set-1', true, 'new'));
  assert.deepEqual(known('lost', 'new'), [false, true]);
});

test('a session is valid while any controller vouches for it; a removal by any controller ends it', () => {
  const { controllers, ended, deliver, known } = openSessions();
  const [first, second] = [controllers.connect('c1'), controllers.connect('c2')];
  deliver(first, chunk('a', true, 'both', 'one'));
  deliver(second, chunk('b', true, 'both', 'two'));
  assert.deepEqual(known('both', 'one', 'two'), [true, true, true]);
  deliver(first, chunk('c', true));
  assert.deepEqual([known('both', 'one', 'two'), ended], [[true, false, true], ['one']]);
  deliver(first, ctrlMessages.apiSessionRemoved.frame({ tokens: ['both'] }));
  assert.deepEqual(
    [known('both', 'two'), ended],
    [
      [false, true],
      ['one', 'both'],
    ],
  );
});

test('an update changes the certificates that a session takes', () => {
  const { sessions, controllers, deliver } = openSessions();
  const controller = controllers.connect('c1');
  deliver(controller, ctrlMessages.apiSessionAdded.frame({ apiSessions: records('s') }));
  const apiSessions = records('s').map((record) => ({ ...record, certFingerprints: ['cd'] }));
  deliver(controller, ctrlMessages.apiSessionUpdated.frame({ apiSessions }));
  assert.deepEqual(sessions.byToken('s')!.fingerprints, ['cd']);
});

test('a connection that waits for a session gets it as soon as it is announced', async () => {
  const { sessions, controllers, deliver } = openSessions();
  const waiting = sessions.waitFor('s', 60_000);
  deliver(controllers.connect('c1'), ctrlMessages.apiSessionAdded.frame({ apiSessions: records('s') }));
  assert.equal((await waiting)?.token, 's');
  assert.equal(await sessions.waitFor('never', 1), undefined);
});

test('a malformed chunk state is a fault of the controller', () => {
  const { controllers, deliver } = openSessions();
  const headers = new HeaderWriter().text(headerId.apiSessions.state, '{');
  const frame = ctrlMessages.apiSessionAdded.frame({ isFullState: true, apiSessions: [] }, headers);
  assert.throws(() => deliver(controllers.connect('c1'), frame), { kind: 'protocol' });
});
