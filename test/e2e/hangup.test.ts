// SIGHUP ends no program, and has each read its files again; a program ends with its launcher, however that one goes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { callAgent } from '#cli';
import { makeTestAuthority } from '../support/certificates.ts';
import { until, within } from '../support/deadline.ts';
import { isAlive } from '../support/process-state.ts';
import { agentPid, kill, makeDataDir, startDemoProcess } from '../support/product-process.ts';
import { startSeparate } from '../support/separate.ts';
import { openServiceMessages } from '../support/service-messages.ts';
import { httpGet } from '../support/world.ts';

const READ_AGAIN = /reading files again/;

async function nameShownAt(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await within('a handshake', once(socket, 'secureConnect'));
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

test('control plane, router, gateway and agent continue after SIGHUP, the API with its new certificate', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-hangup-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const service = await openServiceMessages(t);
  const parts = await startSeparate({ folder, env: { NOTIFY_SOCKET: service.socket } });
  t.after(() => parts.stop());
  assert.deepEqual(await service.take(4), ['READY=1', 'READY=1', 'READY=1', 'READY=1']);
  const { control, router, gateway, agent } = parts;
  const apiPort = Number(new URL(control.ready.apiUrl).port);
  const renewed = await (await makeTestAuthority()).issue('renewed', { dns: ['localhost'] });
  writeFileSync(join(folder, 'api.pem'), renewed.cert);
  writeFileSync(join(folder, 'api.key'), renewed.key, { mode: 0o600 });
  assert.notEqual(await nameShownAt(apiPort), 'renewed');
  for (const part of [control, router, gateway, agent]) {
    process.kill(part.pid, 'SIGHUP');
    await until(
      `${part.name} reads again`,
      () => part.output,
      (output) => READ_AGAIN.test(output),
    );
    assert.deepEqual(await service.take(2), ['RELOADING=1', 'READY=1'], part.name);
    assert.ok(part.isRunning, part.name);
  }
  await until(
    'the new certificate',
    () => nameShownAt(apiPort),
    (name) => name === 'renewed',
  );
  writeFileSync(join(folder, 'api.pem'), 'half');
  process.kill(control.pid, 'SIGHUP');
  await until(
    'the refusal of the half certificate',
    () => control.output,
    (output) => output.includes('what was read before stays'),
  );
  assert.equal(await nameShownAt(apiPort), 'renewed');
  const { environmentId } = await callAgent(parts.agentSocket, { op: 'status' }, 5_000);
  assert.ok(environmentId);
});

test('the demo continues after SIGHUP to all of its processes, and ends when its launcher is killed', async (t) => {
  const dataDir = makeDataDir();
  const demo = await startDemoProcess(dataDir);
  t.after(async () => {
    await demo.destroy();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const { pids, shareHost } = demo.ready;
  const all = [pids.up, pids.agent, pids.sample];
  for (const pid of [demo.child.pid!, ...all]) kill(pid, 'SIGHUP');
  const { status } = await httpGet(demo.port, shareHost, '/');
  assert.equal(status, 200);
  assert.deepEqual([demo.child.pid!, ...all].map(isAlive), [true, true, true, true]);
  assert.equal(agentPid(dataDir), pids.agent);
  demo.child.kill('SIGKILL');
  await until(
    'the end of all processes',
    () => all.filter(isAlive),
    (left) => left.length === 0,
  );
});
