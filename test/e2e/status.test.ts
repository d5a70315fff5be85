// A share's status is measured: what stops or freezes shows within 15 s, and so does what comes back.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startCanary } from '../support/canary.ts';
import { until } from '../support/deadline.ts';
import { startHttpService, type FaultyService } from '../support/faulty-service.ts';
import { kill, startAgentProcess, type AgentProcess } from '../support/product-process.ts';
import { askRaw } from '../support/raw-http-client.ts';
import { openWorld, type World } from '../support/world.ts';

const SHOWS_WITHIN_MS = 15_000;

let world: World;
let service: FaultyService;
let calmService: FaultyService;
let agent: AgentProcess;

before(async () => {
  service = await startHttpService((_request, response) => response.end('page'));
  calmService = await startHttpService((_request, response) => response.end('calm'));
  world = await openWorld();
  const calm = await world.startAgent('calm');
  await calm.share(calmService.target, { name: 'canary' });
  agent = await startAgentProcess({
    dataDir: join(world.dataDir, 'measured'),
    apiUrl: world.up.control.apiUrl,
    code: await world.enrollmentCode(),
  });
  await agent.share(service.target, 'measured');
  await until('DEPLOYED', shareStatus, (status) => status === 'DEPLOYED');
});

after(async () => {
  for (const signal of ['SIGCONT', 'SIGKILL'] as const) if (agent?.pid) kill(agent.pid, signal);
  await agent?.exit;
  await world?.close();
  await Promise.all([service?.stop(), calmService?.stop()]);
});

async function shareStatus(): Promise<unknown> {
  return ((await world.call('GET', '/shares/measured')).json as { status?: unknown }).status;
}

async function environmentStatus(): Promise<unknown> {
  return ((await world.call('GET', `/environments/${agent.environmentId}`)).json as { status?: unknown })
    .status;
}

function untilStatus(share: string, environment: string): Promise<unknown> {
  return until(
    `share ${share}, environment ${environment}`,
    async () => [await shareStatus(), await environmentStatus()],
    (now) => now[0] === share && now[1] === environment,
    SHOWS_WITHIN_MS,
  );
}

describe('within 15 seconds', () => {
  it('a stopped private service shows as FAILED with its agent still ACTIVE, and as DEPLOYED once it is back', async () => {
    await using canary = startCanary(world.up.httpPort, 'canary.share.localhost', '/', 'calm'.length);
    await service.stop();
    await untilStatus('FAILED', 'ACTIVE');
    await service.start();
    await untilStatus('DEPLOYED', 'ACTIVE');
    await canary.stop(20);
  });

  it('a frozen agent shows as FAILED and INACTIVE, and as DEPLOYED and ACTIVE once it continues', async () => {
    await using canary = startCanary(world.up.httpPort, 'canary.share.localhost', '/', 'calm'.length);
    kill(agent.pid, 'SIGSTOP');
    await untilStatus('FAILED', 'INACTIVE');
    kill(agent.pid, 'SIGCONT');
    await untilStatus('DEPLOYED', 'ACTIVE');
    const answer = await askRaw(world.up.httpPort, { path: '/', host: 'measured.share.localhost' });
    assert.equal(answer.text, 'page');
    await canary.stop(20);
  });

  it('a killed agent shows as FAILED and INACTIVE, and as DEPLOYED and ACTIVE once it is started again', async () => {
    kill(agent.pid, 'SIGKILL');
    await agent.exit;
    await untilStatus('FAILED', 'INACTIVE');
    agent = await startAgentProcess({
      dataDir: join(world.dataDir, 'measured'),
      apiUrl: world.up.control.apiUrl,
    });
    await untilStatus('DEPLOYED', 'ACTIVE');
  });
});
