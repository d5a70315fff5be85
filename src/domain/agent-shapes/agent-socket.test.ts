import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkAgentAnswer,
  checkAgentRequest,
  agentEndpoint,
  checkSocketPath,
  encodeAgentAnswer,
  encodeAgentRequest,
} from './agent-socket.ts';

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
  assert.match(problemOf(null), /it must be an object/);
  assert.match(problemOf([]), /it must be an object/);
  assert.match(problemOf({ v: 2, id: 1, op: 'status' }), /it has format 2, and this version reads up to 1/);
  assert.match(problemOf({ v: 1, id: 1, op: '__proto__' }), /op must be one of/);
  assert.match(problemOf({ v: 1, id: 1, op: 'status', extra: 1 }), /extra is not known here/);
  assert.match(problemOf({ v: 1, id: 1, op: 'release' }), /name must be there/);
  assert.match(
    problemOf({ v: 1, id: 1, op: 'share', mode: 'open', target: 'x' }),
    /mode must be one of public, private/,
  );
  assert.match(problemOf({ v: 1, id: 1, op: 'share', mode: 'public', target: 'x', grants: ['e'] }), /grants/);
  assert.match(
    problemOf({ v: 1, id: 1, op: 'share', mode: 'private', target: 'x', grants: [1] }),
    /grants\.0/,
  );
});

test('an answer that is none is recognised', () => {
  const rows = [
    ['stop', '"x"', /it must be an object/],
    ['stop', 'HTTP/1.1 400', /not JSON/],
    ['stop', '{"v":1,"id":1,"ok":false,"error":"no"}', /error/],
    ['stop', '{"v":1,"id":1,"ok":false}', /with an error/],
    ['stop', '{"v":2,"id":1,"ok":true}', /format 2.*upgrade the command/],
    ['version', '{"v":1,"id":1,"ok":true,"result":{}}', /version must be/],
  ] as const;
  for (const [op, line, problem] of rows) {
    const answer = checkAgentAnswer(op, line);
    assert.ok(typeof answer === 'string' && problem.test(answer), line);
  }
  const error = { kind: 'toString', code: 'c', message: 'm' };
  const odd = checkAgentAnswer('stop', encodeAgentAnswer(1, { ok: false, error: error as never }));
  assert.deepEqual(odd, { ok: false, error: { ...error, kind: 'internal' } });
});

test('a request and an answer arrive as they were sent', () => {
  const request = { op: 'release', name: 'app' } as const;
  assert.deepEqual(checkAgentRequest(JSON.parse(encodeAgentRequest(7, request))), { id: 7, request });
  const answer = { ok: true, result: { token: 'app' } } as const;
  assert.deepEqual(checkAgentAnswer('release', encodeAgentAnswer(7, answer)), answer);
});

test('a socket path is measured in bytes against the limit of the system', () => {
  assert.equal(checkSocketPath('/' + 'a'.repeat(106), 'linux'), undefined);
  assert.match(checkSocketPath('/' + 'a'.repeat(107), 'linux') ?? '', /108 bytes long.*107.*--socket/);
  assert.match(checkSocketPath('/' + 'ü'.repeat(54), 'linux') ?? '', /109 bytes/);
  assert.match(checkSocketPath('/' + 'a'.repeat(103), 'darwin') ?? '', /103/);
  assert.match(checkSocketPath('C:\\' + 'a'.repeat(240), 'win32') ?? '', /243 bytes long/);
});

test('under Windows the agent listens on a pipe with the path in its name, and elsewhere at the path', () => {
  assert.equal(agentEndpoint('/data/agent.sock', 'linux'), '/data/agent.sock');
  assert.equal(
    agentEndpoint('C:\\Users\\Ann\\agent.sock', 'win32'),
    '\\\\.\\pipe\\frontdoor-c--users-ann-agent.sock',
  );
});
