import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAgentAnswer, checkAgentRequest, checkSocketPath } from './agent-socket.ts';

function problemOf(value: unknown): string {
  const checked = checkAgentRequest(value);
  return 'problem' in checked ? checked.problem : '';
}

test('a share request keeps what was asked and nothing else', () => {
  const line = {
    v: 1,
    id: 7,
    op: 'share',
    mode: 'private',
    target: 'http://a:1',
    grants: ['e1'],
    name: 'app',
  };
  assert.deepEqual(checkAgentRequest(line), {
    id: 7,
    request: { op: 'share', mode: 'private', target: 'http://a:1', grants: ['e1'], name: 'app' },
  });
});

test('requests of the wrong shape are refused with what is wrong', () => {
  assert.match(problemOf(null), /one JSON object/);
  assert.match(problemOf([]), /one JSON object/);
  assert.match(problemOf({ v: 2, id: 1, op: 'status' }), /version 1/);
  assert.match(problemOf({ v: 1, id: 1, op: '__proto__' }), /op must be one of/);
  assert.match(problemOf({ v: 1, id: 1, op: 'status', extra: 1 }), /no field "extra"/);
  assert.match(problemOf({ v: 1, id: 1, op: 'release' }), /needs a name/);
  assert.match(problemOf({ v: 1, id: 1, op: 'share', mode: 'open', target: 'x' }), /public or private/);
  assert.match(problemOf({ v: 1, id: 1, op: 'share', mode: 'public', target: 'x', grants: ['e'] }), /grants/);
  assert.match(problemOf({ v: 1, id: 1, op: 'share', mode: 'private', target: 'x', grants: [1] }), /list/);
});

test('an answer that is none is recognised', () => {
  assert.equal(checkAgentAnswer('x'), undefined);
  assert.equal(checkAgentAnswer({ v: 1, id: 1, ok: false, error: 'no' }), undefined);
  const odd = checkAgentAnswer({
    v: 1,
    id: 1,
    ok: false,
    error: { kind: 'toString', code: 'c', message: 'm' },
  });
  assert.ok(odd !== undefined && !odd.ok);
  assert.equal(odd.error.kind, 'internal');
});

test('a socket path is measured in bytes against the limit of the system', () => {
  assert.equal(checkSocketPath('/' + 'a'.repeat(106), 'linux'), undefined);
  assert.match(checkSocketPath('/' + 'a'.repeat(107), 'linux') ?? '', /108 bytes long.*107.*--socket/);
  assert.match(checkSocketPath('/' + 'ü'.repeat(54), 'linux') ?? '', /109 bytes/);
  assert.match(checkSocketPath('/' + 'a'.repeat(103), 'darwin') ?? '', /103/);
});
