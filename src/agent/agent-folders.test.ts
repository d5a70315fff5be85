// Shares of folders, from the command of the operator and from the API.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { ask } from './ask-agent.ts';
import { cleanUp, folder, get, world } from './testing/agent-world.ts';

afterEach(cleanUp);

test('a folder is shared, also by the agent that starts next, and its loss and return are seen', async () => {
  const dataDir = folder();
  const site = folder();
  writeFileSync(join(site, 'index.html'), 'hello');
  const { agent, network } = await world({ dataDir });
  const target = `file://${site}`;
  const { readiness } = await ask(agent.socketPath, {
    op: 'share',
    mode: 'public',
    target,
    name: 'site',
    grants: [],
  });
  assert.deepEqual(readiness, { ready: true });
  assert.equal(network.records.get('site')?.backendMode, 'web');
  assert.match(await get(await network.dial('site')), /\r\n\r\nhello$/);
  await agent.close();
  const { agent: next } = await world({ dataDir, openNetwork: async () => network });
  await network.until(() => network.hosted.get('site')?.reports.at(-1) === true);
  rmSync(site, { recursive: true });
  await network.until(() => network.hosted.get('site')?.reports.at(-1) === false);
  await assert.rejects(network.dial('site'), /does not exist: create it, or change the target/);
  const { shares } = await ask(next.socketPath, { op: 'status' });
  assert.match(shares[0]?.problem ?? '', /does not exist: create it/);
  mkdirSync(site);
  writeFileSync(join(site, 'index.html'), 'hello again');
  await network.until(() => network.hosted.get('site')?.reports.at(-1) === true);
  assert.match(await get(await network.dial('site')), /hello again$/);
});

test('a folder that the API sets is served if the operator allowed it', async () => {
  const [allowed, other] = [folder(), folder()];
  for (const site of [allowed, other]) writeFileSync(join(site, 'index.html'), 'hello');
  const { agent, network } = await world({ allowTargets: ['127.0.0.1:*', allowed] });
  const web = { shareMode: 'public', backendMode: 'web' } as const;
  network.put({ ...web, name: 'one', target: `file://${allowed}` }, false);
  network.put({ ...web, name: 'two', target: `file://${other}` }, false);
  await network.until(() => ['one', 'two'].every((name) => network.hosted.get(name)?.reports.length === 1));
  assert.match(await get(await network.dial('one')), /hello$/);
  await assert.rejects(network.dial('two'), /is not allowed on this agent; start it with --allow-target \//);
  const { shares } = await ask(agent.socketPath, { op: 'status' });
  assert.deepEqual(
    shares.map(({ healthy }) => healthy),
    [true, false],
  );
});
