import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { adoptOrReplaceAgent } from './agent-adoption.ts';
import { isRunning, processStart } from '#net/files';
import { acquireAgentLock, AGENT_LOCK_FILE, inspectAgentLock } from './agent-lock.ts';

const children: ChildProcess[] = [];
const folders: string[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'agent-lock-'));
  folders.push(path);
  return path;
}

/** A process that takes the lock, optionally answers at its socket, and says "held" or why not. */
async function holder(dataDir: string, answering = false): Promise<{ child: ChildProcess; said: string }> {
  const program = `
    import { acquireAgentLock } from ${JSON.stringify(new URL('./agent-lock.ts', import.meta.url).href)};
    import { openControlSocket } from ${JSON.stringify(new URL('./control-socket.ts', import.meta.url).href)};
    import { silentLog } from ${JSON.stringify(new URL('../base/mod.ts', import.meta.url).href)};
    const socket = ${JSON.stringify(join(dataDir, 'a.sock'))};
    try {
      acquireAgentLock(${JSON.stringify(dataDir)}, socket, '1.0');
      if (${answering}) await openControlSocket({ path: socket, log: silentLog, handle: async () => ({ pid: process.pid, version: '1.0', environmentId: 'e' }) });
      process.on('SIGTERM', () => process.exit(0));
      console.log('held');
    } catch (error) { console.log(error.message); }
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: import.meta.dirname,
  });
  children.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, said: line.toString().trim() };
}

test(
  'a second agent on a directory is refused, and the error names the running one',
  { timeout: 60_000 },
  async () => {
    const dataDir = folder();
    const { child, said } = await holder(dataDir);
    assert.equal(said, 'held');
    assert.throws(
      () => acquireAgentLock(dataDir, '/x', '1.0'),
      new RegExp(`process ${child.pid}.*--data-dir`),
    );
    assert.equal(inspectAgentLock(dataDir)?.pid, child.pid);
  },
);

test('the lock of a killed agent is taken over, and so is a damaged one', { timeout: 60_000 }, async () => {
  const dataDir = folder();
  const { child } = await holder(dataDir);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const lock = acquireAgentLock(dataDir, '/x', '1.0');
  assert.equal(lock.isHeld(), true);
  lock.release();
  assert.equal(existsSync(join(dataDir, AGENT_LOCK_FILE)), false);
  writeFileSync(join(dataDir, AGENT_LOCK_FILE), '{"pid":');
  const second = acquireAgentLock(dataDir, '/x', '1.0');
  writeFileSync(join(dataDir, AGENT_LOCK_FILE), 'someone else');
  assert.equal(second.isHeld(), false);
  second.release();
  assert.equal(readFileSync(join(dataDir, AGENT_LOCK_FILE), 'utf8'), 'someone else');
});

test('a process id that was used again does not count as the agent', () => {
  const dataDir = folder();
  const start = processStart(process.pid);
  assert.ok(start !== undefined);
  const stale = { pid: process.pid, start: `${start}0`, socketPath: '/x', version: '1.0' };
  writeFileSync(join(dataDir, AGENT_LOCK_FILE), JSON.stringify(stale));
  assert.equal(inspectAgentLock(dataDir), undefined);
  acquireAgentLock(dataDir, '/x', '1.0').release();
  assert.equal(isRunning({ pid: process.pid, start }), true);
  assert.equal(isRunning({ pid: 2 ** 22 + 1, start }), false);
});

test('a lock of a newer format is refused with what to do, and is never taken over', () => {
  const dataDir = folder();
  const path = join(dataDir, AGENT_LOCK_FILE);
  writeFileSync(path, JSON.stringify({ format: 2, pid: process.pid }));
  const refusal = { code: 'lock-of-newer-format', message: /agent lock: it has format 2.*stop the agent/ };
  assert.throws(() => acquireAgentLock(dataDir, '/x', '1.0'), refusal);
  assert.match(readFileSync(path, 'utf8'), /"format":2/);
});

test('of many agents that start at once over a stale lock, one wins', { timeout: 60_000 }, async () => {
  const dataDir = folder();
  const dead = { pid: 2 ** 22 + 1, start: 'x', socketPath: '/x', version: '1.0' };
  writeFileSync(join(dataDir, AGENT_LOCK_FILE), JSON.stringify(dead));
  const said = (await Promise.all(Array.from({ length: 6 }, () => holder(dataDir)))).map((each) => each.said);
  assert.equal(said.filter((each) => each === 'held').length, 1, said.join('\n'));
});

test('a running agent of the same version is adopted, another is ended', { timeout: 60_000 }, async () => {
  const dataDir = folder();
  assert.deepEqual(await adoptOrReplaceAgent(dataDir, { version: '1.0' }), { action: 'start' });
  const { child } = await holder(dataDir, true);
  const adoption = await adoptOrReplaceAgent(dataDir, { version: '1.0', answerTimeoutMs: 30_000 });
  assert.equal(adoption.action === 'adopt' && adoption.holder.pid, child.pid);
  const ended = once(child, 'exit');
  assert.deepEqual(await adoptOrReplaceAgent(dataDir, { version: '1.1' }), {
    action: 'start',
    replaced: child.pid,
  });
  await ended;
});

test('a frozen agent is replaced', { timeout: 60_000 }, async () => {
  const dataDir = folder();
  const { child } = await holder(dataDir, true);
  child.kill('SIGSTOP');
  const adoption = await adoptOrReplaceAgent(dataDir, {
    version: '1.0',
    answerTimeoutMs: 200,
    endTimeoutMs: 200,
  });
  assert.deepEqual(adoption, { action: 'start', replaced: child.pid });
  assert.equal(inspectAgentLock(dataDir), undefined);
});
