import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modeProblem, parseTarget } from './target-address.ts';

test('targets with one meaning have one spelling', () => {
  for (const [text, canonical] of [
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['HTTP://LocalHost:3000/', 'http://localhost:3000'],
    ['http://app', 'http://app:80'],
    ['https://app/', 'https://app:443'],
    ['http://[::1]:80', 'http://[::1]:80'],
    ['TCP://Db:5432/', 'tcp://db:5432'],
    ['HTTP://App/A%70i/', 'http://app:80/Api'],
    ['udp://127.0.0.1:53', 'udp://127.0.0.1:53'],
  ] as const) {
    const parsed = parseTarget(text);
    assert.ok('target' in parsed, text);
    assert.equal(parsed.target.text, canonical);
  }
});

test('anything but scheme, host, port and a path of HTTP is refused', () => {
  for (const text of [
    '',
    'app:80',
    'ftp://app:80',
    'tcp://app',
    'udp://user@app:53',
    'udp://app:53/path',
    'http://',
    'http://user:pw@app:80',
    'http://app:80/path/../x',
    'http://app:80/?q',
    'http://app:80#f',
    'http://app:0',
    'http://app:65536',
    'http://a b:80',
    'http://app\\evil:80',
    ' http://app:80',
    'http://app:80\n',
    'http://0x7f.1:8080',
    'http://127.1:8080',
  ]) {
    assert.ok('problem' in parseTarget(text), JSON.stringify(text));
  }
});

test('a private share has no path, because nobody would add it', () => {
  const parsed = parseTarget('http://app/x');
  assert.ok('target' in parsed);
  assert.match(modeProblem('private', parsed.target)!, /^a private share has a target without a path/);
  assert.equal(modeProblem('public', parsed.target), undefined);
});
