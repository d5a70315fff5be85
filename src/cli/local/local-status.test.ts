import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { noteRunningProgram } from '#net/files';
import { runCli } from '../cli-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'status-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const status = (...more: string[]) => runCli(['status', '--data-dir', folder, ...more]);

test('status names what does not run, with the commands that start it', async () => {
  const { out, code } = await status();
  assert.equal(code, 1);
  assert.match(out, new RegExp(`^no control plane runs on ${folder}$`, 'm'));
  assert.match(out, /Problems:\n {2}no program runs on .*, and no agent at .*"frontdoor up"/);
});

test('status shows the program of a directory, and which of its addresses does not answer', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const note = await noteRunningProgram(folder, {
    program: 'up',
    version: '1.2.3',
    apiUrl,
    baseUrl: '',
    edgeApiUrl: '',
    consoleUrl: null,
    gatewayUrl: apiUrl,
  });
  const running = await status();
  assert.equal(running.code, 0, running.out);
  assert.match(
    running.out,
    new RegExp(`^frontdoor up on ${folder}, version 1.2.3, process ${process.pid}, `),
  );
  server.close();
  await once(server, 'close');
  const silent = await status('--json');
  const { problems } = JSON.parse(silent.out) as { problems: string[] };
  assert.equal(silent.code, 1);
  assert.deepEqual(problems, [
    `the Management API at ${apiUrl} does not answer: nothing listens there`,
    `the gateway at ${apiUrl} does not answer: nothing listens there`,
  ]);
  note.remove();
});
