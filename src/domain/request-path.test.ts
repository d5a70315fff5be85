import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isBelow, parsePathPrefix, pathReadings } from './request-path.ts';

suite('paths of requests', () => {
  test('have one reading, unless servers read them in several ways', () => {
    assert.deepEqual(pathReadings('/a/b?c/../d'), ['/a/b']);
    assert.deepEqual(pathReadings('/%61/b%2a'), ['/a/b%2A']);
    assert.deepEqual(pathReadings('*'), ['*']);
    assert.ok(pathReadings('//admin')!.includes('/admin'));
    assert.ok(pathReadings('/@types%2fnode')!.includes('/@types/node'));
    assert.ok(pathReadings('/a;b=c/d')!.includes('/a/d'));
    assert.ok(pathReadings('/a%252fb')!.includes('/a/b'));
    assert.ok(pathReadings('/a%5cb')!.includes('/a/b'));
    assert.ok(pathReadings('/a%00b')!.includes('/a'));
  });

  test('with a dot segment in one of their readings have none', () => {
    for (const target of [
      '/..',
      '/a/../b',
      '/a/./b',
      '/a/%2e%2e/b',
      '/a/%252e%252e/b',
      '/a/..%2fb',
      '/a%2f..%2fb',
      '/a%2f%2e%2e%2fb',
      '/a\\..\\b',
      '/a%5c..%5cb',
      '/a/..;x/b',
      '/a/.;x/b',
      '/a/..%00/b',
      '/a/.. /b',
      '/a/%c0%ae%c0%ae/b',
      '/a/%u002e%u002e/b',
      '/a%c0%af../b',
      '/%25252525252e%25252525252e/b',
    ])
      assert.equal(pathReadings(target), undefined, target);
  });

  test('are below another by whole segments', () => {
    assert.ok(isBelow('/app', '/app'));
    assert.ok(isBelow('/app/x', '/app'));
    assert.ok(isBelow('/x', ''));
    assert.ok(!isBelow('/application', '/app'));
    assert.ok(!isBelow('/', '/app'));
  });

  test('of settings are whole segments in canonical form', () => {
    assert.equal(parsePathPrefix('/'), '');
    assert.equal(parsePathPrefix(''), '');
    assert.equal(parsePathPrefix('/%61pp/'), '/app');
    for (const text of ['app', '/a//b', '/a/*', '/a/..', '/a%2fb', '/a?b', '/a b', '/%25'])
      assert.equal(parsePathPrefix(text), undefined, text);
  });
});
