import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { FrontdoorError } from '#base';
import type { Agent } from './agent.ts';
import { ask } from './ask-agent.ts';
import { cleanUp, folder, hello, world } from './testing/agent-world.ts';
import { MemoryNetwork } from './testing/memory-network.ts';

afterEach(cleanUp);

const AWAY = new FrontdoorError('unavailable', 'unreachable', 'cannot be reached');
const BY_HAND = { op: 'share', mode: 'public', grants: [] } as const;

interface Site {
  readonly network: MemoryNetwork;
  readonly target: string;
  write(...names: readonly string[]): void;
  writeText(text: string): void;
  start(configFile?: string): Promise<Agent>;
}

/** A directory with a configuration file, whose agent can be started several times. */
async function site(): Promise<Site> {
  const dataDir = folder();
  const configFile = join(dataDir, 'agent.yml');
  const network = new MemoryNetwork();
  const target = await hello();
  const writeText = (text: string): void => writeFileSync(configFile, text, { mode: 0o600 });
  return {
    network,
    target,
    writeText,
    write: (...names) =>
      writeText(JSON.stringify({ shares: names.map((name) => ({ name, mode: 'public', target })) })),
    start: async (file: string | undefined = configFile) =>
      (
        await world({
          dataDir,
          configFile: file === '' ? undefined : { path: file, env: {} },
          openNetwork: async () => network,
        })
      ).agent,
  };
}

describe('a share that the configuration file no longer has', () => {
  it('is released when the file is read again', async () => {
    const { network, write, start } = await site();
    write('app', 'old');
    const agent = await start();
    assert.deepEqual([...network.records.keys()], ['app', 'old']);
    write('app');
    await agent.reload();
    assert.deepEqual([...network.records.keys()], ['app']);
    assert.equal(network.hosted.has('old'), false);
  });

  it('is released at the start, if it was removed while the agent was stopped', async () => {
    const { network, write, start } = await site();
    write('app', 'old');
    await (await start()).close();
    write();
    await start();
    assert.deepEqual([...network.records.keys()], []);
  });

  it('is not hosted from then on, and is released once the control plane can be reached', async () => {
    const { network, write, start } = await site();
    write('old');
    let agent = await start();
    await network.until(() => network.hosted.has('old'));
    network.failure = AWAY;
    write();
    await agent.reload();
    assert.equal(network.hosted.has('old'), false);
    assert.deepEqual((await ask(agent.socketPath, { op: 'status' })).failedEntries, [
      { name: 'old', reason: 'cannot be reached' },
    ]);
    await agent.close();
    agent = await start();
    network.failure = undefined;
    await network.until(() => !network.records.has('old'));
    assert.equal(network.hosted.has('old'), false);
  });

  it('is left alone if it was made by a command or is another share of its name', async () => {
    const { network, target, write, start } = await site();
    write('old');
    let agent = await start();
    await ask(agent.socketPath, { ...BY_HAND, name: 'mine', target });
    await agent.close();
    network.remove('old');
    network.put({ name: 'old', shareMode: 'public', backendMode: 'proxy', target }, false);
    write();
    agent = await start();
    assert.deepEqual([...network.records.keys()], ['mine', 'old']);
    await agent.reload();
    assert.deepEqual([...network.records.keys()], ['mine', 'old']);
  });

  it('is kept by a command that shares it before it is released', async () => {
    const { network, target, write, start } = await site();
    write('app');
    const agent = await start();
    network.failure = AWAY;
    write();
    await agent.reload();
    network.failure = undefined;
    await ask(agent.socketPath, { ...BY_HAND, name: 'app', target });
    await agent.reload();
    assert.deepEqual([...network.records.keys()], ['app']);
    await network.until(() => network.hosted.has('app'));
  });

  it('stays while the file has no list of shares, when it is read again and at a start', async () => {
    const { network, write, writeText, start } = await site();
    write('app');
    const agent = await start();
    writeText('agent: { name: here }\naccesses: []\n');
    await agent.reload();
    await agent.close();
    await start();
    assert.deepEqual([[...network.records.keys()], network.hosted.has('app')], [['app'], true]);
  });

  it('stays when the agent is started without a configuration file', async () => {
    const { network, write, start } = await site();
    write('app');
    await (await start()).close();
    await start('');
    assert.deepEqual([...network.records.keys()], ['app']);
  });
});

describe('a configuration file', () => {
  it('with an error changes nothing when it is read again, and status names the line', async () => {
    const { network, target, write, writeText, start } = await site();
    write('app', 'old');
    const agent = await start();
    network.calls.length = 0;
    writeText(`shares:\n  - { name: app, mode: public, target: ${target} }\n  - { nam: new }\n`);
    await assert.rejects(agent.reload(), /agent\.yml:3:/);
    assert.deepEqual([...network.records.keys()], ['app', 'old']);
    assert.equal(network.calls.includes('releaseShare'), false);
    assert.match((await ask(agent.socketPath, { op: 'status' })).fileProblem!, /agent\.yml:3:/);
    write('app', 'old');
    await agent.reload();
    assert.equal((await ask(agent.socketPath, { op: 'status' })).fileProblem, null);
  });

  it('that is missing changes nothing', async () => {
    const { network, write, start } = await site();
    write('app');
    await (await start()).close();
    await assert.rejects(start('/nowhere/agent.yml'), /cannot read/);
    assert.deepEqual([...network.records.keys()], ['app']);
  });

  it('that no longer has an upstream setting resets it to its default', async () => {
    const { network, target, writeText, start } = await site();
    const app = { name: 'app', mode: 'public', target };
    const write = (upstream?: object): void => writeText(JSON.stringify({ shares: [{ ...app, upstream }] }));
    write({ hostHeader: 'localhost', lenient: true });
    const agent = await start();
    write({ lenient: true });
    await agent.reload();
    assert.deepEqual(network.records.get('app')?.upstream, { hostHeader: 'preserve', lenient: true });
    write();
    await agent.reload();
    assert.deepEqual(network.records.get('app')?.upstream, { lenient: false });
  });

  it('with guards sends them with the share, at every start', async () => {
    const { network, target, writeText, start } = await site();
    const guards = { authProviders: ['staff'], policy: { ipDeny: ['192.0.2.0/24'] } };
    writeText(JSON.stringify({ shares: [{ name: 'app', mode: 'public', target, ...guards }] }));
    for (const _start of ['first', 'second']) {
      network.requests.clear();
      const agent = await start();
      const { authProviders, policy } = network.requests.get('app')!;
      assert.deepEqual({ authProviders, policy }, guards);
      await agent.close();
    }
  });
});
