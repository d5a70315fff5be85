// The agent's start command in its two spellings, as processes behind the launcher.
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
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
