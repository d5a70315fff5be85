// The errors of `frontdoor gateway` for invalid options and files, before it accepts connections.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeTestAuthority, type TestIdentity } from '../support/certificates.ts';
import { runCommand } from '../support/part-process.ts';
import type { Separate } from '../support/separate.ts';
import { releaseWorld, sharedSeparate } from '../support/shared-world.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-options-'));
const file = (name: string): string => join(folder, name);
let identity: TestIdentity;
let parts: Separate;

before(async () => {
  identity = await (await makeTestAuthority()).issue('share', { dns: ['*.share.localhost'] });
  parts = await sharedSeparate();
  // Its identity stays: what is tried below has one.
  assert.equal(await parts.gateway.stop('SIGINT'), 0);
});
after(async () => {
  await releaseWorld();
  rmSync(folder, { recursive: true, force: true });
});

async function errorOf(...args: string[]): Promise<string> {
  const data = ['--data-dir', join(parts.folder, 'gateway'), '--http-port', '0', '--https-port', '0'];
  let errorText = '';
  await assert.rejects(runCommand(['gateway', ...data, ...args]), (error: Error) => {
    errorText = error.message;
    return true;
  });
  assert.doesNotMatch(errorText, /\n\s+at /, 'no stack trace');
  return errorText;
}

test('a number of workers out of bounds is refused with the bounds', async () => {
  for (const count of ['0', '65', '1.5']) {
    assert.match(await errorOf('--workers', count), /must be a whole number from 1 to 64/, count);
  }
});

test('a port that is taken is reported, with one process and with workers, and no process is left running', async () => {
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const port = String((other.address() as AddressInfo).port);
  // A command is over when all that write to its output are.
  for (const workers of ['1', '2']) {
    assert.match(await errorOf('--workers', workers, '--http-port', port), /127\.0\.0\.1:\d+ is taken/);
  }
  other.close();
});

test('all invalid certificates are reported at once, each with its remedy, with one process and with workers', async () => {
  writeFileSync(file('half.crt'), identity.cert);
  writeFileSync(file('open.crt'), identity.cert);
  writeFileSync(file('open.key'), identity.key, { mode: 0o644 });
  for (const workers of ['1', '2']) {
    const errorText = await errorOf('--workers', workers, '--tls-dir', folder);
    assert.match(errorText, /half\.crt has no key beside it/);
    assert.match(errorText, /open\.key is refused: other users can access it; run: chmod 600/);
  }
  assert.match(await errorOf('--tls-cert', file('half.crt')), /--tls-cert needs its key beside it/);
  assert.match(await errorOf('--tls-dir', file('missing')), /missing does not exist/);
  assert.match(await errorOf('--tls-cert', file('half.crt'), '--tls-key', file('open.key')), /chmod 600/);
});
