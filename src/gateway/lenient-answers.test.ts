import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { REFUSED_REQUESTS } from '../../test/support/framing-case-table.ts';
import { bodyOf, GatewayWorld, get, statusOf } from './testing/gateway-world.ts';

/** Name, the response, and what the client gets: the lines of its head, and its body. */
type Corrected = readonly [
  name: string,
  bytes: string,
  answer: { readonly lines: readonly string[]; readonly body: string },
];

const CORRECTED: readonly Corrected[] = [
  [
    'lines that end without CR',
    'HTTP/1.1 200 OK\nServer: old\nContent-Length: 2\n\nok',
    { lines: ['Server: old', 'Content-Length: 2'], body: 'ok' },
  ],
  [
    'one line that ends without CR',
    'HTTP/1.1 200 OK\r\nServer: old\nContent-Length: 2\r\n\r\nok',
    { lines: ['Server: old', 'Content-Length: 2'], body: 'ok' },
  ],
  [
    'an empty line without CR',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\nok',
    { lines: ['Content-Length: 2'], body: 'ok' },
  ],
  [
    'a folded header',
    'HTTP/1.1 200 OK\r\nX: a\r\n  b\r\n\tc\r\nContent-Length: 2\r\n\r\nok',
    { lines: ['X: a b c', 'Content-Length: 2'], body: 'ok' },
  ],
  [
    'a framing header that is folded into another one',
    'HTTP/1.1 200 OK\r\nX: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nok',
    { lines: ['X: a Transfer-Encoding: chunked', 'Content-Length: 2'], body: 'ok' },
  ],
  [
    'a space before a colon',
    'HTTP/1.1 200 OK\r\nServer : old\r\nContent-Length \t: 2\r\n\r\nok',
    { lines: ['Server: old', 'Content-Length: 2'], body: 'ok' },
  ],
  [
    'two equal lengths',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\nok',
    { lines: ['Content-Length: 2'], body: 'ok' },
  ],
  [
    'equal lengths in one line',
    'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok',
    { lines: ['Content-Length: 2'], body: 'ok' },
  ],
  [
    'all of them, and a body until the end',
    'HTTP/1.0 200 OK\nServer : old\n device\n\nok',
    { lines: ['Server: old device'], body: 'ok' },
  ],
];

/** Refused by every share. */
const HOSTILE: readonly (readonly [name: string, bytes: string])[] = [
  [
    'length and coding',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'length and coding with a space before the colon',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'length and coding in lines without CR',
    'HTTP/1.1 200 OK\nContent-Length: 5\nTransfer-Encoding: chunked\n\n0\r\n\r\n',
  ],
  [
    'length and a coding whose value is folded',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'equal lengths and coding',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['lengths that differ', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ['lengths that differ in one line', 'HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nab'],
  [
    'three lengths of which one differs',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\nContent-Length: 20\r\n\r\nab',
  ],
  [
    'two equal lengths and a malformed one',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\nContent-Length: +2\r\n\r\nab',
  ],
  ['a length that is folded', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 0\r\n\r\nab'],
  ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length : -1\r\n\r\nab'],
  ['a fold at the status line', 'HTTP/1.1 200 OK\r\n X: a\r\nContent-Length: 0\r\n\r\n'],
  ['a line of white space at the status line', 'HTTP/1.1 200 OK\r\n \r\nContent-Length: 0\r\n\r\n'],
  ['a CR in a header', 'HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\nContent-Length: 0\r\n\r\n'],
  ['CR CR LF', 'HTTP/1.1 200 OK\r\nX: a\r\r\nContent-Length: 0\r\n\r\n'],
  ['a NUL in a folded header', 'HTTP/1.1 200 OK\r\nX: a\r\n \0b\r\nContent-Length: 0\r\n\r\n'],
  ['a header without a colon', 'HTTP/1.1 200 OK\r\nServer\r\nContent-Length: 0\r\n\r\n'],
  ['a header without a name', 'HTTP/1.1 200 OK\r\n: x\r\nContent-Length: 0\r\n\r\n'],
  ['a space inside a name', 'HTTP/1.1 200 OK\r\nX Y: x\r\nContent-Length: 0\r\n\r\n'],
  ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding : gzip, chunked\r\n\r\n0\r\n\r\n'],
  [
    'two codings',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['chunked in HTTP/1.0', 'HTTP/1.0 200 OK\nTransfer-Encoding: chunked\n\n0\r\n\r\n'],
  ['a chunk that ends without CR', 'HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nok\n0\n\n'],
  ['a bad status', 'HTTP/1.1 2x0 OK\n\n'],
  ['another version', 'HTTP/2.0 200 OK\n\n'],
  ['a huge head', `HTTP/1.1 200 OK\n${'X: a\n'.repeat(20_000)}\n`],
  ['too many headers', `HTTP/1.1 200 OK\n${'X: a\n'.repeat(300)}\n`],
];

describe('responses in obsolete forms', () => {
  let world: GatewayWorld;
  let circuits = 0;
  before(async () => {
    world = await GatewayWorld.start();
  });
  after(() => world.close());

  async function answerOf(
    bytes: string,
    isLenient: boolean,
    then = (socket: Socket) => socket.end(),
  ): Promise<string> {
    circuits = 0;
    await world.serveRaw(
      'old',
      (socket) => {
        circuits += 1;
        socket.on('data', () => socket.write(bytes, 'latin1', () => then(socket)));
      },
      { updatedAtMs: Math.random(), ...(isLenient ? { upstream: { isLenient } } : {}) },
    );
    return world.ask(get('old'));
  }

  for (const [name, bytes, { lines, body }] of CORRECTED) {
    it(`are corrected for a lenient share: ${name}`, async () => {
      const answer = await answerOf(bytes, true);
      assert.equal(statusOf(answer), 200, answer);
      const head = answer.slice(0, answer.indexOf('\r\n\r\n'));
      for (const line of lines) assert.ok(head.split('\r\n').includes(line), head);
      assert.equal(head.match(/content-length/gi)?.length ?? 0, lines.includes('Content-Length: 2') ? 1 : 0);
      assert.doesNotMatch(head, /[^\r]\n|\r[^\n]|\n[ \t]|[ \t]:/);
      assert.ok(bodyOf(answer).includes(body));
    });

    it(`are refused by others, with the setting as the remedy: ${name}`, async () => {
      const answer = await answerOf(bytes, false);
      assert.equal(statusOf(answer), 502);
      const { code } = world.recordOf(/Frontdoor-Error-Id: (\S+)/.exec(answer)?.[1] ?? '');
      assert.equal(code, 'obsolete-answer');
    });
  }

  for (const [name, bytes] of HOSTILE) {
    it(`that are ambiguous are refused by every share: ${name}`, async () => {
      for (const isLenient of [false, true]) {
        const answer = await answerOf(bytes, isLenient);
        // A body whose framing breaks after its head is cut off.
        const isCut = name.startsWith('a chunk') && isLenient;
        if (isCut) assert.doesNotMatch(answer, /0\r\n\r\n$/);
        else assert.equal(statusOf(answer), 502, answer);
        assert.equal(world.gateway.stats().idleCircuits, 0);
      }
    });
  }

  it('arrive byte by byte as well', async () => {
    await world.serveRaw(
      'drops',
      (socket) => {
        socket.on('data', async () => {
          for (const byte of 'HTTP/1.1 200 OK\nX : a\n b\nContent-Length: 2\n\nok') {
            socket.write(byte);
            await new Promise(setImmediate);
          }
        });
      },
      { upstream: { isLenient: true } },
    );
    const answer = await world.ask(get('drops'));
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\nX: a b\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok$/);
  });

  it('end their circuit, and responses in the present form do not', async () => {
    const client = await world.client();
    for (const [bytes, expected] of [
      ['HTTP/1.1 200 OK\nContent-Length: 2\n\nok', 3],
      ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 1],
    ] as const) {
      await answerOf(bytes, true, () => undefined as never);
      for (const _ of [1, 2]) {
        const before = client.received.length;
        client.send(get('old', '/', ''));
        await client.until((text) => text.slice(before).endsWith('ok'));
      }
      assert.equal(circuits, expected);
    }
    client.close();
  });

  it('open nothing for requests: a lenient share refuses the same ones', async () => {
    const seen: string[] = [];
    await world.serve(
      'app',
      (request, response) => {
        seen.push(request.url ?? '');
        request.resume().on('end', () => response.end('SERVED'));
        request.on('error', () => {});
      },
      { upstream: { isLenient: true } },
    );
    for (const [name, request, statuses] of REFUSED_REQUESTS) {
      const answer = await world.ask(`${request}${get('app', '/poison')}`);
      assert.ok(statuses.includes(statusOf(answer)), `${name}: ${answer.slice(0, 200)}`);
      assert.doesNotMatch(answer, /SERVED/, name);
    }
    assert.ok(!seen.includes('/poison'));
  });
});
