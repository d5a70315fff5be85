import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readForwarding, type ForwardingLines } from './forwarding-policy.ts';
import { parseTrustedProxies } from './trusted-proxy-policy.ts';

const PROXIES = parseTrustedProxies('10.0.0.0/8,2001:db8:1::/48')!;
const read = (lines: Partial<ForwardingLines>) =>
  readForwarding(
    { for: undefined, proto: undefined, host: undefined, forwarded: undefined, ...lines },
    PROXIES,
  );
const addressOf = (text: string) => {
  const client = read({ for: text });
  return typeof client === 'string' ? client : client.address;
};

describe('X-Forwarded-For', () => {
  it('names the client by the rightmost address that is no trusted proxy', () => {
    for (const [text, expected] of [
      ['203.0.113.7', '203.0.113.7'],
      ['203.0.113.7, 10.0.0.9', '203.0.113.7'],
      ['192.0.2.1, 203.0.113.7,10.0.0.9 , 10.1.1.1', '203.0.113.7'],
      ['10.0.0.9, 203.0.113.7', '203.0.113.7'],
      ['203.0.113.7:51000, 10.0.0.9:80', '203.0.113.7'],
      ['[2001:DB8::7]:443, 2001:db8:1::2', '2001:db8::7'],
      ['::ffff:203.0.113.7', '203.0.113.7'],
      ['unknown, 203.0.113.7', '203.0.113.7'],
    ] as const)
      assert.equal(addressOf(text), expected, text);
  });

  it('names the first address if all are trusted proxies', () => {
    assert.equal(addressOf('10.0.0.1, 10.0.0.2'), '10.0.0.1');
  });

  it('refuses the request if what a trusted proxy wrote is no address', () => {
    for (const text of [
      '',
      'unknown',
      '_hidden',
      '203.0.113.7,',
      '203.0.113.7, unknown',
      'unknown, 10.0.0.9',
      '999.1.1.1',
      'fe80::1%eth0',
    ])
      assert.equal(addressOf(text), 'malformed-forwarding', text);
  });

  it('is refused when it is longer than any row of proxies', () => {
    assert.equal(addressOf(Array.from({ length: 33 }, () => '10.0.0.1').join(',')), 'malformed-forwarding');
  });
});

describe('X-Forwarded-Proto and -Host', () => {
  it('count for the client, whether each proxy appends or replaces them', () => {
    const chain = '203.0.113.7, 10.0.0.9';
    for (const [proto, isSecure] of [
      ['https', true],
      ['HTTP', false],
      ['wss', true],
      ['ws', false],
      ['http, https, http', true],
      ['https,http', true],
    ] as const)
      assert.deepEqual(read({ for: chain, proto, host: 'evil.test, app.test, inner' }), {
        address: '203.0.113.7',
        isSecure,
        host: 'app.test',
      });
  });

  it('count without an address, which some proxies do not send', () => {
    assert.deepEqual(read({ proto: 'https' }), { address: undefined, isSecure: true, host: undefined });
    assert.deepEqual(read({}), { address: undefined, isSecure: undefined, host: undefined });
  });

  it('refuse the request if the scheme is none of the web', () => {
    for (const proto of ['', 'ftp', 'https;', '443'])
      assert.equal(read({ proto }), 'malformed-forwarding', proto);
  });
});

describe('Forwarded', () => {
  it('names client, scheme and host where X-Forwarded-For is absent', () => {
    const forwarded =
      'for=192.0.2.1;proto=http, FOR="[2001:db8::7]:4711";Proto=https;host="app.test:8443" ,for=10.0.0.9;by=10.0.0.1';
    assert.deepEqual(read({ forwarded, proto: 'http', host: 'other.test' }), {
      address: '2001:db8::7',
      isSecure: true,
      host: 'app.test:8443',
    });
    assert.deepEqual(read({ forwarded: 'proto=https' }), {
      address: undefined,
      isSecure: true,
      host: undefined,
    });
  });

  it('is refused if it is malformed, hides the client, or names another one than X-Forwarded-For', () => {
    for (const forwarded of [
      '',
      'for',
      'for=',
      'for=unknown',
      'for=_gazonk',
      'for=203.0.113.7;for=192.0.2.1',
      'for="203.0.113.7',
      'for=203.0.113.7,',
      'for=2001:db8::7',
      'for=203.0.113.7 proto=http',
    ])
      assert.equal(read({ forwarded }), 'malformed-forwarding', forwarded);
    assert.equal(read({ for: '203.0.113.7', forwarded: 'for=192.0.2.1' }), 'conflicting-forwarding');
    assert.equal(read({ for: '203.0.113.7', forwarded: 'for=unknown' }), 'malformed-forwarding');
  });

  it('adds nothing to X-Forwarded-For, because the client may have sent it', () => {
    const forwarded = 'for=203.0.113.7;proto=https;host=evil.test';
    const expected = { address: '203.0.113.7', isSecure: undefined, host: undefined };
    assert.deepEqual(read({ for: '203.0.113.7', forwarded }), expected);
  });
});
