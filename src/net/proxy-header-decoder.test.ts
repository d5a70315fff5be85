import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decodeProxyHeader,
  MAX_PROXY_HEADER_BYTES,
  type ProxyHeaderOutcome,
} from './proxy-header-decoder.ts';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const V4 = Buffer.from([203, 0, 113, 7, 192, 0, 2, 1, 0xc3, 0x50, 0x01, 0xbb]);
const V6 = Buffer.concat([
  Buffer.from('20010db8000000000000000000000007', 'hex'),
  Buffer.from('20010db8000000000000000000000001', 'hex'),
  Buffer.from([0xc3, 0x50, 0x01, 0xbb]),
]);

function binary(command: number, family: number, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.from([command, family, body.length >> 8, body.length & 0xff]);
  return Buffer.concat([SIGNATURE, head, body]);
}

const extension = (type: number, ...value: readonly number[]): Buffer =>
  Buffer.from([type, value.length >> 8, value.length & 0xff, ...value]);

const textOf = (outcome: ProxyHeaderOutcome): string | undefined =>
  outcome.kind === 'header' ? outcome.address : outcome.kind;

describe('a PROXY header of version 1', () => {
  const decode = (line: string) => decodeProxyHeader(Buffer.from(line, 'latin1'));

  it('names the client of a TCP connection', () => {
    const line = 'PROXY TCP4 203.0.113.7 192.0.2.1 51000 443\r\n';
    assert.deepEqual(decode(`${line}GET / HTTP/1.1\r\n`), {
      kind: 'header',
      bytes: line.length,
      address: '203.0.113.7',
      isSecure: false,
    });
    assert.equal(textOf(decode('PROXY TCP6 2001:DB8:0::7 2001:db8::1 51000 443\r\n')), '2001:db8::7');
    assert.equal(textOf(decode('PROXY TCP6 ::ffff:203.0.113.7 ::1 51000 443\r\n')), '203.0.113.7');
  });

  it('may not know the client', () => {
    assert.equal(textOf(decode('PROXY UNKNOWN\r\n')), undefined);
    assert.equal(textOf(decode('PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n')), undefined);
  });

  it('is refused if it is malformed, or of another transport', () => {
    for (const line of [
      'PROXY TCP4 203.0.113.7 192.0.2.1 51000\r\n',
      'PROXY TCP4 203.0.113.7 192.0.2.1 51000 443 \r\n',
      'PROXY TCP4 203.0.113.7  192.0.2.1 51000 443\r\n',
      'PROXY TCP4 2001:db8::7 2001:db8::1 51000 443\r\n',
      'PROXY TCP6 203.0.113.7 192.0.2.1 51000 443\r\n',
      'PROXY TCP4 203.0.113.7:1 192.0.2.1 51000 443\r\n',
      'PROXY TCP4 203.0.113.999 192.0.2.1 51000 443\r\n',
      'PROXY TCP4 203.0.113.7 192.0.2.1 51000 70000\r\n',
      'PROXY UDP4 203.0.113.7 192.0.2.1 51000 443\r\n',
      'PROXY TCP5 203.0.113.7 192.0.2.1 51000 443\r\n',
      'PROXY \r\n',
      'PROXY UNKNOWNX\r\n',
      `PROXY UNKNOWN ${'x'.repeat(92)}\r\n`,
      `PROXY UNKNOWN ${'x'.repeat(200)}`,
    ])
      assert.equal(decode(line).kind, 'refused', line);
  });
});

describe('a PROXY header of version 2', () => {
  it('names the client of a TCP connection', () => {
    const bytes = binary(0x21, 0x11, V4);
    const outcome = decodeProxyHeader(Buffer.concat([bytes, Buffer.from('\x16\x03')]));
    assert.deepEqual(outcome, {
      kind: 'header',
      bytes: bytes.length,
      address: '203.0.113.7',
      isSecure: false,
    });
    assert.equal(textOf(decodeProxyHeader(binary(0x21, 0x21, V6))), '2001:db8::7');
  });

  it('reports whether the client uses TLS, in an extension among others', () => {
    const tls = (bits: number) => extension(0x20, bits, 0, 0, 0, 0, ...extension(0x21, 0x54, 0x4c, 0x53));
    const read = (...more: readonly Buffer[]) => {
      const outcome = decodeProxyHeader(binary(0x21, 0x11, Buffer.concat([V4, ...more])));
      return outcome.kind === 'header' ? outcome.isSecure : outcome.kind;
    };
    assert.equal(read(extension(0x02, 0x61), tls(1), extension(0x04)), true);
    assert.equal(read(tls(0)), false);
    assert.equal(read(Buffer.from([0x20, 0, 9, 1])), 'refused');
    assert.equal(read(Buffer.from([0x20, 0])), 'refused');
  });

  it('names nobody for a connection of the proxy itself or an unspecified client, and the rest is ignored', () => {
    assert.equal(textOf(decodeProxyHeader(binary(0x20, 0x11, V4))), undefined);
    assert.equal(textOf(decodeProxyHeader(binary(0x20, 0x00))), undefined);
    assert.equal(textOf(decodeProxyHeader(binary(0x20, 0x31, Buffer.alloc(216)))), undefined);
    assert.equal(textOf(decodeProxyHeader(binary(0x21, 0x00, Buffer.alloc(5)))), undefined);
  });

  it('is refused for datagrams, Unix sockets, other versions and commands, and when it is too short or too long', () => {
    for (const [command, family, body] of [
      [0x21, 0x12, V4],
      [0x21, 0x22, V6],
      [0x21, 0x31, Buffer.alloc(216)],
      [0x21, 0x32, Buffer.alloc(216)],
      [0x21, 0x10, V4],
      [0x21, 0x41, V4],
      [0x22, 0x11, V4],
      [0x11, 0x11, V4],
      [0x21, 0x11, V4.subarray(1)],
      [0x21, 0x21, V4],
    ] as const)
      assert.equal(decodeProxyHeader(binary(command, family, body)).kind, 'refused', `${command} ${family}`);
    const most = MAX_PROXY_HEADER_BYTES - 16 - V4.length - 3;
    const padded = (bytes: number) =>
      binary(0x21, 0x11, Buffer.concat([V4, extension(0x04, ...new Uint8Array(bytes))]));
    assert.equal(textOf(decodeProxyHeader(padded(most))), '203.0.113.7');
    assert.equal(decodeProxyHeader(padded(most + 1)).kind, 'refused');
    // Its length decides, before the rest arrives.
    assert.equal(decodeProxyHeader(padded(most + 1).subarray(0, 16)).kind, 'refused');
  });
});

it('a PROXY header that is not complete yet waits for more, byte by byte', () => {
  for (const bytes of [Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 51000 443\r\n'), binary(0x21, 0x21, V6)])
    for (let length = 0; length <= bytes.length; length += 1) {
      const expected = length < bytes.length ? 'incomplete' : 'header';
      assert.equal(decodeProxyHeader(bytes.subarray(0, length)).kind, expected, String(length));
    }
});

it('a connection that begins otherwise is refused at its first bytes', () => {
  for (const text of ['GET / HTTP/1.1\r\n', '\x16\x03\x01', 'PROXX', '\r\n\r\n\r\n', 'proxy TCP4'])
    assert.equal(decodeProxyHeader(Buffer.from(text, 'latin1')).kind, 'refused', text);
});
