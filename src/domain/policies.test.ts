import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isShareLabel, isShareName, parseName } from './name-policy.ts';
import { folderTarget } from './backend-mode-table.ts';
import { parseShareTarget } from './share-target.ts';
import { SHARE_TOKEN_BYTES, shareTokenOf } from './share-token.ts';
import { isUuid } from './uuid.ts';

describe('names', () => {
  it('lose outer spaces and count code points', () => {
    assert.equal(parseName('  Main door \n'), 'Main door');
    assert.equal(parseName('🚪'.repeat(255)), '🚪'.repeat(255));
    assert.equal(parseName('🚪'.repeat(256)), undefined);
    assert.equal(parseName('x'.repeat(256)), undefined);
  });

  it('are not empty and hold no control characters or half characters', () => {
    for (const bad of ['', '   ', 'a\u0000b', 'a\u007fb', 'a\u0085b', 'a\nb', 'a\ud800b']) {
      assert.equal(parseName(bad), undefined, JSON.stringify(bad));
    }
  });
});

describe('share names', () => {
  it('are DNS labels of 1 to 63 characters', () => {
    for (const good of ['a', '7', 'ci', 's3', 'app', '1st', 'a-b', 'abc--d', 'x'.repeat(63)])
      assert.ok(isShareName(good), good);
    for (const bad of [
      '',
      '-',
      'a-',
      '-a',
      '--',
      '-ab',
      'ab-',
      'App',
      'a_b',
      'a.b',
      'äpp',
      'app\n',
      'x'.repeat(64),
    ]) {
      assert.ok(!isShareName(bad), bad);
    }
  });

  it('are not the labels that gateways keep', () => {
    for (const bad of ['oauth', 'api', 'www']) assert.ok(!isShareName(bad), bad);
  });

  it('have no two hyphens in the third and fourth place, as names in other scripts do', () => {
    for (const bad of ['xn--pple-43d', 'xn--80ak6aa92e', 'xn--a', 'ab--cd', '1---2', 'my--app']) {
      assert.ok(!isShareName(bad), bad);
      assert.ok(isShareLabel(bad), bad);
    }
    for (const good of ['axn--b', 'a-b-c', 'x-n-a', 'abc--d', 'a--b', 'ab-c'])
      assert.ok(isShareName(good), good);
  });

  it('are what random tokens look like', () => {
    assert.equal(shareTokenOf(new Uint8Array(SHARE_TOKEN_BYTES)), 'aaaaaaaaaaaaaaaa');
    assert.equal(shareTokenOf(new Uint8Array(SHARE_TOKEN_BYTES).fill(255)), '7777777777777777');
    assert.ok(isShareName(shareTokenOf(Uint8Array.from({ length: SHARE_TOKEN_BYTES }, (_, i) => i * 29))));
  });
});

describe('share targets', () => {
  it('belong to one backend mode each', () => {
    const modes = ['http', 'https', 'tcp', 'udp'].map((scheme) => parseShareTarget(`${scheme}://h:1`)?.mode);
    assert.deepEqual(modes, ['proxy', 'proxy', 'tcpTunnel', 'udpTunnel']);
  });

  it('are normalised', () => {
    assert.deepEqual(parseShareTarget('http://127.0.0.1:3000'), {
      mode: 'proxy',
      scheme: 'http',
      host: '127.0.0.1',
      port: 3000,
      path: '',
      clientPort: 80,
      url: 'http://127.0.0.1:3000',
    });
    assert.equal(parseShareTarget('HTTP://Backend.Example:80/')?.url, 'http://backend.example:80');
    assert.deepEqual(parseShareTarget('https://my_host'), {
      mode: 'proxy',
      scheme: 'https',
      host: 'my_host',
      port: 443,
      path: '',
      clientPort: 443,
      url: 'https://my_host',
    });
    assert.deepEqual(parseShareTarget('TCP://Db.Example:5432/'), {
      mode: 'tcpTunnel',
      scheme: 'tcp',
      host: 'db.example',
      port: 5432,
      path: '',
      clientPort: 5432,
      url: 'tcp://db.example:5432',
    });
    assert.equal(parseShareTarget('udp://[::1]:53')?.url, 'udp://[::1]:53');
    const serverOf = (text: string) => {
      const target = parseShareTarget(text);
      return target !== undefined && 'host' in target ? [target.host, target.port] : [];
    };
    assert.deepEqual(serverOf('http://[::1]:8080'), ['::1', 8080]);
    assert.deepEqual(serverOf('http://[fe80::1:2]'), ['fe80::1:2', 80]);
    assert.deepEqual(serverOf('http://[::ffff:10.0.0.1]:1'), ['::ffff:10.0.0.1', 1]);
  });

  it('name a folder by its absolute path, in one spelling', () => {
    assert.deepEqual(parseShareTarget('FILE:///srv/A%20b/%C3%b6/?listing&single-page'), {
      mode: 'web',
      folder: '/srv/A b/ö',
      options: ['listing', 'single-page'],
      clientPort: 80,
      url: 'file:///srv/A%20b/%C3%B6?listing&single-page',
    });
    assert.equal(
      folderTarget('/srv//A b/ö/', ['single-page', 'other']),
      'file:///srv/A%20b/%C3%B6?single-page',
    );
    for (const bad of [
      'file:///',
      'file:///a/../b',
      'file:///a/%2e%2e',
      'file:///a%2fb',
      'file:///a?x',
      'file:///%ff',
    ])
      assert.equal(parseShareTarget(bad), undefined, bad);
  });

  it('of HTTP may have a path, in one spelling', () => {
    const pathOf = (text: string) => {
      const target = parseShareTarget(text);
      return target !== undefined && 'path' in target ? [target.path, target.url] : [];
    };
    assert.deepEqual(pathOf('HTTP://H:1/App/'), ['/App', 'http://h:1/App']);
    assert.deepEqual(pathOf('https://h/%61/b%c3%a9/'), ['/a/b%C3%A9', 'https://h/a/b%C3%A9']);
  });

  it('carry nothing but scheme, host, port and path', () => {
    for (const bad of [
      '',
      'backend:80',
      'ftp://h:1',
      'tcp://h',
      'udp://h/',
      'tcp://h:0',
      'tcp://u:p@h:1',
      'udp://h:1/path',
      'http://',
      'http://:80',
      'http://h:',
      'http://h:0',
      'http://h:65536',
      'http://h:+1',
      'http://u:p@h:1',
      'tcp://h:1/path',
      'http://h:1//',
      'http://h:1/a//b',
      'http://h:1/../a',
      'http://h:1/a%2fb',
      'http://h:1/a;b',
      'http://h:1/*',
      'http://h:1/a?q',
      'http://h:1/?q',
      'http://h:1#f',
      'http://h :1',
      ' http://h:1',
      'http://h:1\n',
      'http://h:1\\@e',
      'http://a..b:1',
      'http://-a:1',
      'http://a-:1',
      'http://2130706433:1',
      'http://0177.0.0.1:1',
      'http://127.1:1',
      'http://256.0.0.1:1',
      'http://0x7f.1:1',
      'http://0x7f000001:1',
      'http://[::1:1',
      'http://[1:2:3]:1',
      'http://[1::2::3]:1',
      'http://[:1:2:3:4:5:6:7]:1',
      'http://[::%25eth0]:1',
      `http://${'a'.repeat(64)}:1`,
    ]) {
      assert.equal(parseShareTarget(bad), undefined, bad);
    }
  });
});

describe('UUIDs', () => {
  it('are distinguished from everything else', () => {
    assert.ok(isUuid('00000000-0000-4000-8000-00000000000a'));
    assert.ok(isUuid('00000000-0000-4000-8000-00000000000A'));
    for (const bad of [
      '',
      'x',
      '00000000-0000-4000-8000-00000000000',
      '{00000000-0000-4000-8000-00000000000a}',
    ]) {
      assert.ok(!isUuid(bad), bad);
    }
  });
});
