// The file that `fabric router create --config` writes, judged by the check of the router.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { checkRouterFile, loadRouterConfig } from '#router/config';
import { runCommandLine } from '../support/command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'router-file-'));
const claims = Buffer.from(JSON.stringify({ ctrls: ['tls:control.example.com:6262'] })).toString('base64url');
const server = createServer((_request, response) => {
  response.writeHead(201, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ id: 'r', name: 'berlin', token: `e30.${claims}.x` }));
});
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
});

const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't' };
const create = (...more: string[]) => {
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return runCommandLine(['fabric', 'router', 'create', 'berlin', ...more, '--api', api], env);
};

for (const [advertise, listener] of [
  ['localhost', 'tls:127.0.0.1:3022'],
  ['berlin.example.com', 'tls:0.0.0.0:3022'],
  ['192.0.2.7', 'tls:0.0.0.0:3022'],
] as const) {
  test(`a router at ${advertise} is created with a whole valid file, and the token beside it`, async () => {
    const file = join(folder, `${advertise}.yml`);
    const { out, err, code } = await create('--config', file, '--advertise', advertise);
    assert.equal(code, 0, err);
    assert.match(out, /its configuration is in /);
    assert.equal(statSync(join(folder, `${advertise}.jwt`)).mode & 0o777, 0o600);
    let said = '';
    const print = (text: string): void => void (said += text);
    const isQuiet = { json: false, effective: false, files: false };
    assert.equal(checkRouterFile(file, isQuiet, { out: print, err: print, env: {} }), 0);
    assert.equal(said, `${file} is valid\n`);
    const text = readFileSync(file, 'utf8');
    assert.ok(text.includes(`address: "${listener}"`), text);
    const { host, port } = loadRouterConfig(file).ctrl.endpoints[0]!;
    assert.deepEqual([host, port], ['control.example.com', 6_262]);
  });
}

test('no file is written over, and none is left when another one exists', async () => {
  const file = join(folder, 'kept.yml');
  writeFileSync(file, 'kept');
  const { err, code } = await create('--config', file);
  assert.equal(code, 2);
  assert.match(err, /cannot write .*kept\.yml: it exists already/);
  assert.equal(readFileSync(file, 'utf8'), 'kept');
  assert.throws(() => statSync(join(folder, 'kept.jwt')), { code: 'ENOENT' });
  assert.match(
    (await create()).err,
    /name the file for the enrollment token with --out FILE, or --config FILE/,
  );
});
