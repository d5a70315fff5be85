import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Command } from 'commander';
import { checkUpstream, shareUpstreamFields } from '#domain/upstream';
import { addUpstreamOptions, upstreamOf } from './upstream-options.ts';

const settings = (words: readonly string[], mode: 'public' | 'private' = 'public') =>
  upstreamOf(
    addUpstreamOptions(new Command().exitOverride().configureOutput({ writeErr: () => {} }), mode)
      .parse(words, { from: 'user' })
      .opts(),
  );

test('every upstream setting of a share has an option of agent share public', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'upstream-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const page = join(folder, 'page.html');
  writeFileSync(page, '<h1>{{message}}</h1>');
  const change = await settings([
    ...['--host-header', 'localhost', '--lenient', '--proxy-protocol', 'v2', '--target-insecure'],
    ...[
      '--route',
      '/api=http://127.0.0.1:4000',
      '--answer',
      '/robots.txt=none',
      '--answer',
      '/old/*=>/new/*',
    ],
    ...['--request-header', 'X-Tenant:blue', '--response-header=-Server'],
    ...['--compression', 'zstd', '--compression', 'gzip', '--connect-timeout', '2s', '--idle-timeout', '10m'],
    ...['--maintenance', '--maintenance-text', 'Back at 18:00', '--maintenance-retry', '10m'],
    ...['--error-page', page, '--target-server-name', 'pve.example.com', '--target-client', 'plc'],
  ]);
  assert.deepEqual(Object.keys(change ?? {}).toSorted(), Object.keys(shareUpstreamFields).toSorted());
  assert.deepEqual(checkUpstream(change ?? {}), []);
  const { answers, compression, errorPage, maintenanceRetrySeconds } = change ?? {};
  assert.deepEqual(answers, [
    { path: '/robots.txt', text: 'none' },
    { path: '/old/*', redirectTo: '/new/*' },
  ]);
  assert.deepEqual([compression, maintenanceRetrySeconds], [['zstd', 'gzip'], 600]);
  assert.equal(errorPage, '<h1>{{message}}</h1>');
});

test('an option that was not given changes nothing, and one that is wrong is refused with an example', async () => {
  assert.equal(await settings([]), undefined);
  assert.throws(() => settings(['--compression', 'deflate']), /must be one of zstd, br, gzip/);
  assert.throws(() => settings(['--answer', 'robots.txt']), /must be like .robots\.txt=text/);
  assert.throws(() => settings(['--maintenance'], 'private'), /unknown option/);
  await assert.rejects(settings(['--error-page', '/nowhere/page.html']), /--error-page: .* cannot be read/);
});
