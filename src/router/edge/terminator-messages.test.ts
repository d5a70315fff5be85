import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentType } from '#wire';
import { ctrlMessages, TerminatorInvalidReason } from '#wire/ctrl';
import type { EdgeTerminatorRegistry } from './edge-terminator-registry.ts';
import { TerminatorMessages } from './terminator-messages.ts';
import { FakeController, receive } from '../ctrl/testing/fake-controllers.ts';

const terminators = {
  byId: (id: string) => (id === 'here' ? {} : undefined),
} as unknown as EdgeTerminatorRegistry;

function openMessages() {
  const messages = new TerminatorMessages(terminators, [
    ({ binding, address }) =>
      binding === 'transport'
        ? { valid: address !== 'bad', reason: TerminatorInvalidReason.BAD_STATE, detail: 'checked' }
        : undefined,
  ]);
  return { handlers: messages.handlers(), controller: new FakeController('c1') };
}

const asked = [
  { id: 'here', binding: 'edge', address: 'here', marker: 11n },
  { id: 'gone', binding: 'edge', address: 'gone', marker: 12n },
  { id: 'good', binding: 'transport', address: 'tcp:localhost:80', marker: 13n },
  { id: 'bad', binding: 'transport', address: 'bad', marker: 14n },
  { id: 'strange', binding: 'udp', address: 'x', marker: 15n },
];

test('each terminator that a controller asks for gets its state, with the marker it came with', () => {
  const { handlers, controller } = openMessages();
  receive(handlers, ctrlMessages.validateTerminatorsV2.frame({ terminators: asked }), controller);
  const [frame] = controller.sentOf(contentType.validateTerminatorsV2Response);
  const { states } = ctrlMessages.validateTerminatorsV2Response.decode(frame!.body);
  const { UNKNOWN_BINDING, UNKNOWN_TERMINATOR, BAD_STATE } = TerminatorInvalidReason;
  assert.deepEqual(
    Object.entries(states).map(([id, { valid, marker, reason }]) => [
      id,
      valid,
      marker,
      valid ? undefined : reason,
    ]),
    [
      ['here', true, 11n, undefined],
      ['gone', false, 12n, UNKNOWN_TERMINATOR],
      ['good', true, 13n, undefined],
      ['bad', false, 14n, BAD_STATE],
      ['strange', false, 15n, UNKNOWN_BINDING],
    ],
  );
});

test('to the old question the invalid ones are removed, 50 at a time', () => {
  const { handlers, controller } = openMessages();
  const many = Array.from({ length: 120 }, (_, at) => ({ id: `g${at}`, binding: 'edge', address: '' }));
  receive(handlers, ctrlMessages.validateTerminators.frame({ terminators: [...asked, ...many] }), controller);
  const removed = controller
    .sentOf(contentType.removeTerminators)
    .map(({ body }) => ctrlMessages.removeTerminators.decode(body).terminatorIds);
  assert.deepEqual(
    removed.map(({ length }) => length),
    [50, 50, 23],
  );
  assert.ok(!removed.flat().includes('here') && !removed.flat().includes('good'));
});
