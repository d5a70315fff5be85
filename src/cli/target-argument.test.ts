import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { targetArgument, targetOf, targetOptions } from './target-argument.ts';

test('the path of a folder becomes its target, with the options that are given', () => {
  assert.equal(targetOf('/srv/my site/', {}), 'file:///srv/my%20site');
  for (const given of ['./public', './public/', './a/../public'])
    assert.equal(targetOf(given, { listing: true }), `file://${resolve('public')}?listing`);
  assert.equal(targetOf('..', { singlePage: true, name: 'app' }), `file://${resolve('..')}?single-page`);
  assert.deepEqual(
    targetOptions().map(({ name }) => name),
    ['listing', 'single-page'],
  );
});

test('an address stays as it is, and has none of these options', () => {
  for (const given of ['http://127.0.0.1:3000', 'file:///srv/www?listing', '3000', 'app'])
    assert.equal(targetOf(given, {}), given);
  assert.throws(() => targetOf('http://a', { listing: true }), {
    code: 'target-option',
    message: /--listing/,
  });
});

test('help names the targets that a share can have', () => {
  assert.match(
    targetArgument(),
    /^http:\/\/HOST\[:PORT\]\[\/PATH\], https:.* udp:\/\/HOST:PORT or file:\/\/\/FOLDER, or the path/,
  );
});
