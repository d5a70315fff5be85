import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRequestHead, RequestHead } from '../http/request-head-policy.ts';
import { serviceAnswer, serviceRequest, serviceUpgrade } from './service-head-codec.ts';

function requestOf(...lines: string[]): string[] {
  const head = new RequestHead();
  const text = `${['POST /a?b HTTP/1.1', 'Host: App.example:8443', ...lines].join('\r\n')}\r\n\r\n`;
  assert.equal(readRequestHead(text, 100, head), undefined);
  return serviceRequest(head, 'https');
}

test('a request has its own pseudo headers, and nothing of a connection of HTTP/1.1', () => {
  assert.deepEqual(
    requestOf(
      'Transfer-Encoding: chunked',
      'Connection: TE, keep-alive',
      'Keep-Alive: 5',
      'TE: trailers',
      'X-One: é',
      'Cookie: a=1',
      'Frontdoor-Request-Id: 7',
      'Trailer: x-sum',
    ),
    [
      ...[':method', 'POST', ':scheme', 'https', ':authority', 'App.example:8443', ':path', '/a?b'],
      ...['te', 'trailers', 'x-one', 'é', 'cookie', 'a=1', 'frontdoor-request-id', '7', 'trailer', 'x-sum'],
    ],
  );
  assert.deepEqual(requestOf('TE: gzip', 'Content-Length: 3').slice(8), ['content-length', '3']);
});

test('an upgrade becomes extended CONNECT without the key', () => {
  assert.deepEqual(requestOf('Connection: Upgrade', 'Upgrade: WebSocket', 'Sec-WebSocket-Key: k', 'X-A: 1'), [
    ...[':method', 'CONNECT', ':scheme', 'https', ':authority', 'App.example:8443', ':path', '/a?b'],
    ...[':protocol', 'websocket', 'x-a', '1'],
  ]);
});

const OPEN = { isOver: false, isBodiless: false };

test('a response is framed so that its trailers have a place, and keeps its length where none can follow', () => {
  const textOf = (raw: string[], body = OPEN): string | undefined => serviceAnswer(raw, body)?.text;
  assert.equal(
    textOf([':status', '200', 'content-length', '5', 'set-cookie', 'a', 'set-cookie', 'b']),
    'HTTP/1.1 200 \r\nset-cookie: a\r\nset-cookie: b\r\ncontent-length: 5\r\n\r\n',
  );
  const chunked = 'transfer-encoding: chunked\r\n\r\n';
  assert.equal(textOf([':status', '200', 'x', '1']), `HTTP/1.1 200 \r\nx: 1\r\n${chunked}`);
  assert.match(textOf([':status', '200', 'content-length', '5', 'trailer', 'x-sum']) ?? '', /chunked/);
  assert.match(
    textOf([':status', '200', 'content-length', '5', 'content-type', 'application/grpc+proto']) ?? '',
    /chunked/,
  );
  assert.equal(
    textOf([':status', '200', 'grpc-status', '5'], { ...OPEN, isOver: true }),
    'HTTP/1.1 200 \r\ngrpc-status: 5\r\ncontent-length: 0\r\n\r\n',
  );
  assert.equal(
    textOf([':status', '200', 'content-length', '9'], { isOver: true, isBodiless: true }),
    'HTTP/1.1 200 \r\ncontent-length: 9\r\n\r\n',
  );
  assert.equal(
    textOf([':status', '204', 'x', '1'], { ...OPEN, isOver: true }),
    'HTTP/1.1 204 \r\nx: 1\r\n\r\n',
  );
  assert.equal(textOf([':status', '103', 'link', '</a>']), 'HTTP/1.1 103 \r\nlink: </a>\r\n\r\n');
});

test('a response that HTTP/1.1 cannot say is refused', () => {
  for (const raw of [
    [':status', '101'],
    [':status', '99'],
    ['x', '1'],
    [':status', '200', 'x', 'a\r\nb: 2'],
    [':status', '200', 'x\ny', '1'],
  ])
    assert.equal(serviceAnswer(raw, OPEN), undefined, JSON.stringify(raw));
  const passed = serviceAnswer([':status', '200', 'transfer-encoding', 'chunked', 'connection', 'x'], OPEN);
  assert.equal(passed?.text, 'HTTP/1.1 200 \r\ntransfer-encoding: chunked\r\n\r\n');
});

test('an accepted tunnel switches protocols as HTTP/1.1 does', () => {
  assert.equal(
    serviceUpgrade([':status', '200', 'sec-websocket-protocol', 'chat'], 'websocket', 'hash'),
    'HTTP/1.1 101 Switching Protocols\r\nsec-websocket-protocol: chat\r\nsec-websocket-accept: hash\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  );
  assert.equal(serviceUpgrade([':status', '200', 'x', '\r\n'], 'websocket', ''), undefined);
});
