// The agent's start command in its two spellings, as processes behind the launcher.
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { callAgent } from '#cli';
import { AGENT_SOCKET_FILE } from '#domain/agent-shapes';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { until, within } from '../support/deadline.ts';
import { openWorld, type World } from '../support/world.ts';

const run = promisify(execFile);
const bin = (name: string): string => join(repositoryRoot, 'bin', name);
const children = new Set<ChildProcess>();
let world: World;

before(async () => {
  world = await openWorld();
});
after(async () => {
  for (const child of children) child.kill('SIGKILL');
  await world?.close();
});

test('frontdoor-agent start is the same command as frontdoor agent start', async () => {
  const [own, long] = await Promise.all([
    run(process.execPath, [bin('frontdoor-agent.js'), 'start', '--help']),
    run(process.execPath, [bin('frontdoor.js'), 'agent', 'start', '--help']),
  ]);
  assert.equal(own.stdout, long.stdout);
  assert.match(own.stdout, /--enrollment-token <code>/);
});

test('the start command enrolls with the code of an enrollment, and later starts need none', async () => {
  const dataDir = join(world.dataDir, 'agent-process');
  const args = ['start', '--data-dir', dataDir, '--name', 'by-command', '--api', world.up.control.apiUrl];
  const activeId = async (): Promise<string | undefined> => {
    const { json } = await world.call('GET', '/environments');
    const { content } = json as { content: { id: string; name: string; status: string }[] };
    return content.find(({ name, status }) => name === 'by-command' && status === 'ACTIVE')?.id;
  };
  const ids: (string | undefined)[] = [];
  for (const code of [['--enrollment-token', await world.enrollmentCode()], []]) {
    const child = spawn(process.execPath, [bin('frontdoor-agent.js'), ...args, ...code], { stdio: 'ignore' });
    children.add(child);
    ids.push((await until('the active environment', activeId, (id) => id !== undefined)).value);
    child.kill('SIGTERM');
    assert.deepEqual(await within('the end of the agent', once(child, 'exit')), [0, null]);
    await until('the inactive environment', activeId, (id) => id === undefined);
  }
  assert.equal(ids[0], ids[1]);
});

test('a running agent follows its file: shares with guards are made, and released when they leave the file', async () => {
  const dataDir = join(world.dataDir, 'agent-of-a-file');
  mkdirSync(dataDir, { mode: 0o700 });
  const file = join(dataDir, 'agent.yml');
  const target = 'http://127.0.0.1:9';
  const kept = { name: 'kept', mode: 'public', target };
  const left = { name: 'left', mode: 'public', target, policy: { ipDeny: ['192.0.2.0/24'] } };
  const write = (text: string): void => writeFileSync(file, text, { mode: 0o600 });
  const tokens = async (): Promise<string> => {
    const { json } = await world.call('GET', '/shares?sort=name&size=100');
    const { content } = json as { content: { token: string }[] };
    return content
      .map(({ token }) => token)
      .filter((token) => [kept.name, left.name].includes(token))
      .sort()
      .join();
  };
  write(JSON.stringify({ shares: [kept, left] }));
  const code = await world.enrollmentCode();
  const where = ['--data-dir', dataDir, '--name', 'by-file', '--api', world.up.control.apiUrl];
  const args = ['start', ...where, '--config', file, '--enrollment-token', code];
  const child = spawn(process.execPath, [bin('frontdoor-agent.js'), ...args], { stdio: 'ignore' });
  children.add(child);
  await until('both shares', tokens, (listed) => listed === 'kept,left');
  const { json } = await world.call('GET', '/shares/left/policy');
  assert.deepEqual((json as { ipDeny: string[] }).ipDeny, ['192.0.2.0/24']);
  const status = () => callAgent(join(dataDir, AGENT_SOCKET_FILE), { op: 'status' });
  await until(
    'the socket',
    () => status().catch(() => undefined),
    (is) => is !== undefined,
  );
  write('shares: [{ name: kept }]');
  child.kill('SIGHUP');
  await until('the problem', status, ({ fileProblem }) => fileProblem?.includes('agent.yml:1:') === true);
  assert.equal(await tokens(), 'kept,left');
  write(JSON.stringify({ shares: [kept] }));
  child.kill('SIGHUP');
  await until('one share', tokens, (listed) => listed === 'kept');
  assert.equal((await status()).fileProblem, null);
  child.kill('SIGTERM');
  await within('the end of the agent', once(child, 'exit'));
});
