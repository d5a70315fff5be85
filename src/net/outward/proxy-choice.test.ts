import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { Secret } from '#base';
import { proxyChoiceOf, proxyText, type Environment } from './proxy-choice.ts';

function chosen(environment: Environment, host: string, port = 443, isPlain = false): string | undefined {
  const proxy = proxyChoiceOf(environment)({ host, port, isPlain });
  return proxy && `${proxyText(proxy)} ${proxy.source}`;
}

describe('the proxy of a server', () => {
  test('comes from the variable of its scheme, the lower case first, then from ALL_PROXY', () => {
    const all = { ALL_PROXY: 'socks5://all:1080', HTTP_PROXY: 'plain:3128', https_proxy: 'http://low:1' };
    assert.equal(chosen(all, 'a.example'), 'http://low:1 https_proxy');
    assert.equal(chosen({ ...all, HTTPS_PROXY: 'http://up:2' }, 'a.example'), 'http://low:1 https_proxy');
    assert.equal(chosen(all, 'a.example', 80, true), 'http://plain:3128 HTTP_PROXY');
    assert.equal(chosen({ ...all, https_proxy: ' ' }, 'a.example'), 'socks5://all:1080 ALL_PROXY');
    assert.equal(chosen({}, 'a.example'), undefined);
  });

  test('has the usual port of its scheme, and user and password without their escapes', () => {
    assert.equal(
      chosen({ https_proxy: 'https://[2001:db8::1]/' }, 'a.example'),
      'https://[2001:db8::1]:443 https_proxy',
    );
    assert.equal(chosen({ https_proxy: 'socks://a' }, 'a.example'), 'socks5h://a:1080 https_proxy');
    const proxy = proxyChoiceOf({ https_proxy: 'http://me%40work:p%3Aw%20d@a:1' })({
      host: 'b.example',
      port: 443,
    });
    assert.equal(proxy?.username, 'me@work');
    assert.equal(proxy?.password?.reveal(), 'p:w d');
    assert.doesNotMatch(inspect(proxy) + JSON.stringify(proxy), /p:w d/);
  });

  test('is none for this machine', () => {
    const environment = { ALL_PROXY: 'http://a:1' };
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1'])
      assert.equal(chosen(environment, host), undefined);
  });

  test('is none for what NO_PROXY names: hosts with their subdomains, networks, ports, or everything', () => {
    const rows: [noProxy: string, host: string, port: number, isDirect: boolean][] = [
      ['example.com', 'example.com', 443, true],
      ['example.com', 'a.b.Example.COM.', 443, true],
      ['example.com', 'badexample.com', 443, false],
      ['.example.com', 'a.example.com', 443, true],
      ['*.example.com', 'a.example.com', 443, true],
      ['x.example, example.com:8443', 'example.com', 8443, true],
      ['example.com:8443', 'example.com', 443, false],
      ['10.0.0.0/8', '10.9.8.7', 443, true],
      ['10.0.0.0/8', '11.9.8.7', 443, false],
      ['10.0.0.0/8', '10.example', 443, false],
      ['192.0.2.1:22', '192.0.2.1', 22, true],
      ['192.0.2.1:22', '192.0.2.1', 443, false],
      ['2001:db8::/32', '2001:db8::5', 443, true],
      ['[2001:db8::5]:443', '2001:db8::5', 443, true],
      ['[2001:db8::5]', '2001:db8::6', 443, false],
      ['*', 'anything.example', 443, true],
      ['', 'anything.example', 443, false],
      [' , ', 'anything.example', 443, false],
    ];
    for (const [noProxy, host, port, isDirect] of rows) {
      const proxy = chosen({ https_proxy: 'http://a:1', NO_PROXY: noProxy }, host, port);
      assert.equal(proxy === undefined, isDirect, `${noProxy} ${host}:${port}`);
    }
  });

  test('comes from the option, which replaces the variables but for NO_PROXY; none means none', () => {
    const environment = { HTTPS_PROXY: 'http://a:1', NO_PROXY: 'b.example' };
    const choice = proxyChoiceOf(environment, new Secret('socks5h://c:2'));
    assert.equal(choice({ host: 'a.example', port: 1 })?.host, 'c');
    assert.equal(choice({ host: 'a.example', port: 1, isPlain: true })?.source, '--proxy');
    assert.equal(choice({ host: 'b.example', port: 1 }), undefined);
    assert.equal(proxyChoiceOf(environment, new Secret('none'))({ host: 'a.example', port: 1 }), undefined);
  });

  test('that cannot be used is an error that names its source and not its value, once it is needed', () => {
    const socksUser = 'a'.repeat(256);
    for (const text of [
      'ftp://canary:canary@a',
      'http://canary:%zz@a',
      'http://canary@a/path',
      `socks5://${socksUser}@a`,
      '://',
    ]) {
      const refusal = (error: Error & { code?: string }): boolean => {
        assert.equal(error.code, 'proxy-url');
        assert.match(error.message, /^(--proxy|HTTPS_PROXY) is not a proxy/);
        assert.doesNotMatch(error.message, /canary|aaaa/);
        return true;
      };
      assert.throws(() => proxyChoiceOf({}, new Secret(text)), refusal, text);
      const choice = proxyChoiceOf({ HTTPS_PROXY: text });
      assert.equal(choice({ host: '127.0.0.1', port: 1 }), undefined);
      assert.throws(() => choice({ host: 'a.example', port: 1 }), refusal, text);
    }
  });
});
