import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gatewayUpstreamOf } from './gateway-upstream.ts';
import { parseHostHeader } from './host-header.ts';
import {
  changedUpstream,
  checkUpstream,
  DEFAULT_UPSTREAM,
  hasUpstream,
  storedUpstream,
} from './share-upstream.ts';

describe('the Host header of requests to a service', () => {
  it('is a name in lower case, with the port that was given', () => {
    const forms: readonly (readonly [string, string | undefined])[] = [
      ['preserve', 'preserve'],
      ['LocalHost', 'localhost'],
      ['localhost:0080', 'localhost:80'],
      ['[::1]', '[::1]'],
      ['[::1]:3000', '[::1]:3000'],
      ['a.example\r\nX: y', undefined],
      ['a.example/', undefined],
      ['user@a.example', undefined],
      ['::1', undefined],
    ];
    for (const [text, expected] of forms) assert.equal(parseHostHeader(text), expected, text);
  });

  it('reaches gateways as the host by which the service knows itself', () => {
    const sent = (hostHeader: string, target: string, backendMode: 'proxy' | 'web' | 'tcpTunnel' = 'proxy') =>
      gatewayUpstreamOf({ ...DEFAULT_UPSTREAM, hostHeader }, { backendMode, target })?.host;
    assert.equal(sent('preserve', 'http://127.0.0.1:5173'), undefined);
    assert.deepEqual(sent('target', 'http://127.0.0.1:5173'), {
      scheme: 'http',
      authority: '127.0.0.1:5173',
      aliases: [],
    });
    assert.deepEqual(sent('target', 'https://nas.lan:443'), {
      scheme: 'https',
      authority: 'nas.lan',
      aliases: [],
    });
    assert.deepEqual(sent('target', 'http://[::1]:80'), { scheme: 'http', authority: '[::1]', aliases: [] });
    assert.deepEqual(sent('app.test', 'https://nas.lan'), {
      scheme: 'https',
      authority: 'app.test',
      aliases: ['nas.lan'],
    });
    assert.deepEqual(sent('localhost', 'http://127.0.0.1:5173')?.aliases, [
      '127.0.0.1:5173',
      'localhost:5173',
    ]);
    assert.deepEqual(sent('[::1]:80', 'http://[::2]:3000')?.aliases, ['[::2]:3000', '[::1]:3000']);
    assert.deepEqual(sent('127.0.0.1:3000', 'http://127.0.0.1:3000')?.aliases, []);
    assert.deepEqual(
      gatewayUpstreamOf(
        { ...DEFAULT_UPSTREAM, lenient: true },
        { backendMode: 'proxy', target: 'http://nas.lan' },
      ),
      { isLenient: true },
    );
    // Neither a folder nor a service of another protocol has a Host header.
    assert.equal(sent('target', 'file:///srv/www', 'web'), undefined);
    assert.equal(sent('target', 'tcp://127.0.0.1:22', 'tcpTunnel'), undefined);
  });
});

describe('upstream settings', () => {
  it('keep the fields that a change does not name', () => {
    const before = changedUpstream(DEFAULT_UPSTREAM, { hostHeader: 'App.Test' });
    assert.deepEqual(before, { ...DEFAULT_UPSTREAM, hostHeader: 'app.test' });
    assert.deepEqual(changedUpstream(before, { lenient: true }), { ...before, lenient: true });
    assert.deepEqual(changedUpstream(before, {}), before);
    assert.equal(hasUpstream(before, { hostHeader: 'APP.test' }), true);
    assert.equal(hasUpstream({}, { hostHeader: 'preserve' }), true);
    assert.equal(hasUpstream({}, { hostHeader: 'app.test' }), false);
  });

  it('name the field that is wrong', () => {
    assert.deepEqual(checkUpstream({}), []);
    assert.deepEqual(
      checkUpstream({ hostHeader: 'a b' }).map(({ field }) => field),
      ['hostHeader'],
    );
  });

  it('are read from a store of an earlier or later version, and otherwise not at all', () => {
    assert.deepEqual(storedUpstream('{}'), DEFAULT_UPSTREAM);
    assert.deepEqual(storedUpstream('{"hostHeader":"target","later":1}'), {
      ...DEFAULT_UPSTREAM,
      hostHeader: 'target',
    });
    for (const text of ['', '[]', '{"hostHeader":1}', '{"hostHeader":"a b"}'])
      assert.equal(storedUpstream(text), undefined, text);
  });
});
