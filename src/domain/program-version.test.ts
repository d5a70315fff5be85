import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minorsAhead, parseVersionText, versionText } from './program-version.ts';

test('the text of a version names the commit and its day as far as they are known', () => {
  const commit = '4b51014bafc2d0c1a5b5a1d4b0a6f7f3e8c9d0e1';
  const date = '2026-11-28';
  assert.equal(versionText({ version: '0.1.0', commit, date }), '0.1.0+4b51014bafc2.2026-11-28');
  assert.equal(versionText({ version: '0.1.0', commit, date: undefined }), '0.1.0+4b51014bafc2');
  assert.equal(versionText({ version: '0.1.0-rc.1', commit: undefined, date: undefined }), '0.1.0-rc.1');
});

test('the text of a version is read back, and any other text is a version', () => {
  const known = { version: '0.1.0', commit: '4b51014bafc2', date: '2026-11-28' };
  assert.deepEqual(parseVersionText('0.1.0+4b51014bafc2.2026-11-28'), known);
  const others = ['0.1.0', 'v1.7.2', '', 'unknown', '0.1.0+', '0.1.0+a.b'];
  for (const text of others)
    assert.deepEqual(parseVersionText(text), {
      version: text.split('+')[0],
      commit: undefined,
      date: undefined,
    });
});

test('versions are compared by their minor numbers', () => {
  assert.equal(minorsAhead('0.2.1+4b51014bafc2', '0.3.0'), 1);
  assert.equal(minorsAhead('0.2.0', '0.2.7-rc.1'), 0);
  assert.equal(minorsAhead('0.2.0', '0.0.9'), -2);
  assert.equal(minorsAhead('0.9.0', '1.0.0'), Infinity);
  assert.equal(minorsAhead('1.0.0', '0.9.0'), -Infinity);
  for (const other of ['', 'unknown', '1.2', '1.2.3.4']) assert.equal(minorsAhead('0.1.0', other), undefined);
});
