import assert from 'node:assert/strict';
import { test } from 'node:test';
import { siteVerdict } from './site-check.ts';

test('a zone that is on the Public Suffix List makes each share a site of its own', async () => {
  assert.equal((await siteVerdict('github.io')).state, 'ok');
});

test('for any other zone the doctor reports that its shares are one site, with a remedy', async () => {
  const verdict = await siteVerdict('share.example.com');
  assert.equal(verdict.state, 'warning');
  assert.match(verdict.remedy ?? '', /Public Suffix List/);
});

test('a zone of this machine is no finding', async () => {
  assert.equal((await siteVerdict('share.localhost')).state, 'skipped');
  assert.equal((await siteVerdict('')).state, 'skipped');
});
