import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../../test/support/fast-check.ts';
import { isServed, parseFilePath, pathOf, storedEncodings } from './file-path-policy.ts';

const namesOf = (path: string): readonly string[] | undefined => parseFilePath(path)?.names;

test('a path names files and folders, with its query apart', () => {
  assert.deepEqual(parseFilePath('/'), { names: [], isFolder: true, query: '' });
  assert.deepEqual(parseFilePath('/a/b%20c.txt?d=/../e'), {
    names: ['a', 'b c.txt'],
    isFolder: false,
    query: '?d=/../e',
  });
  assert.deepEqual(parseFilePath('/%C3%B6/'), { names: ['ö'], isFolder: true, query: '' });
  assert.deepEqual(namesOf('/.well-known/acme-challenge/x'), ['.well-known', 'acme-challenge', 'x']);
  assert.deepEqual(namesOf('/a..b/c.'), ['a..b', 'c.']);
});

test('a path that leads elsewhere, or has two readings, names nothing', () => {
  for (const path of [
    '',
    '*',
    'http://a/b',
    '//a',
    '/a//b',
    '/a//',
    '/..',
    '/../etc/passwd',
    '/a/../../etc/passwd',
    '/%2e%2e/etc/passwd',
    '/%2E./etc/passwd',
    '/.%2e/etc/passwd',
    '/a/%2e%2e%2f%2e%2e/etc/passwd',
    '/a%2fb',
    '/a%5c..%5cb',
    '/a\\b',
    '/a%00.txt',
    '/a%0ab',
    '/%',
    '/%ff',
    '/a#b',
    '/.',
    '/.git/config',
    '/a/.env',
    '/a/.well-known/b',
    '/.well-known/.hidden',
    '/.well-knownx',
  ])
    assert.equal(parseFilePath(path), undefined, path);
});

test('the names of any path stay below the folder, and make a path of the same names', () => {
  const piece = fc.oneof(fc.constantFrom('..', '.', '/', '%2e', '%2f', '%5c', '%00', 'a', '~'), fc.string());
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const parsed = parseFilePath(`/${pieces.join('')}`);
      if (parsed === undefined) return;
      const { names, isFolder } = parsed;
      assert.ok(names.every((name) => name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name)));
      assert.ok(isServed(names));
      const again = parseFilePath(pathOf(names, isFolder));
      assert.deepEqual(again?.names, names);
    }),
  );
});

test('a stored encoding is one that the request accepts, the smaller first', () => {
  const encodings = (accepted?: string) => storedEncodings(accepted).map(({ encoding }) => encoding);
  assert.deepEqual(encodings(), []);
  assert.deepEqual(encodings('gzip, deflate, BR'), ['br', 'gzip']);
  assert.deepEqual(encodings('br;q=0, gzip;q=0.5'), ['gzip']);
  assert.deepEqual(encodings('*'), ['br', 'gzip']);
  assert.deepEqual(encodings('*;q=0'), []);
  assert.deepEqual(encodings('*, br;q=0.000'), ['gzip']);
  assert.deepEqual(encodings('identity'), []);
});
