// The promises of the Management API about agents and shares, checked from outside of a running product.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FrontdoorError, silentLog } from '#base';
import { CircuitError, OverlayClient } from '#sdk';
import { until } from '../support/deadline.ts';
import { startPrivateService, type PrivateService } from '../support/private-service.ts';
import { openWorld, type World, type WorldAgent } from '../support/world.ts';

let world: World;
let service: PrivateService;
let host: WorldAgent;

before(async () => {
  world = await openWorld();
  service = await startPrivateService();
  host = await world.startAgent('host');
});
after(async () => {
  await world?.close();
  await service?.close();
});

async function environmentStatus(id: string): Promise<unknown> {
  const { status, json } = await world.call('GET', `/environments/${id}`);
  return status === 200 ? (json as { status: string }).status : status;
}

const targetOf = (): string => `http://127.0.0.1:${service.port}`;

test('an agent that enrolled with a code and runs is an active environment with its version', async () => {
  await until(
    'the environment',
    () => environmentStatus(host.environmentId),
    (status) => status === 'ACTIVE',
  );
  const { json } = await world.call('GET', '/environments');
  assert.deepEqual(
    (json as { content: unknown[] }).content.find(
      (entry) => (entry as { id: string }).id === host.environmentId,
    ),
    { id: host.environmentId, name: 'host', status: 'ACTIVE' },
  );
  const version = await world.call('GET', `/agents/${host.environmentId}/version`);
  assert.deepEqual(version.json, { frontdoorId: world.credentials.frontdoorId, version: '0.0.0-test' });
});

test('a public share answers at each of its frontend endpoints, and its status is measured', async () => {
  const { readiness } = await host.share(targetOf(), { name: 'public' });
  assert.equal(readiness.ready, true);
  const shareOf = async (): Promise<{ status: string; frontendEndpoints: string[] }> =>
    (await world.call('GET', '/shares/public')).json as { status: string; frontendEndpoints: string[] };
  const { value } = await until('DEPLOYED', shareOf, ({ status }) => status === 'DEPLOYED');
  assert.equal(value.frontendEndpoints.length, 1);
  for (const endpoint of value.frontendEndpoints) {
    const { hostname, port } = new URL(endpoint);
    assert.equal(Number(port), world.up.httpPort);
    const answer = await world.get(hostname, '/');
    assert.deepEqual([answer.status, String(answer.body)], [200, 'private']);
  }
  const { json } = await world.call('GET', `/agents/${host.environmentId}/status`);
  const { shares } = json as { shares: { token: string; status: string; backendEndpoint: string }[] };
  assert.deepEqual(
    shares.map(({ token, status, backendEndpoint }) => [token, status, backendEndpoint]),
    [['public', 'DEPLOYED', targetOf()]],
  );
});

test('a private share is dialed by the environments of its grants alone, and by no client of the gateway', async () => {
  const guest = await world.enrollEnvironment('guest');
  const stranger = await world.enrollEnvironment('stranger');
  const made = await host.share(targetOf(), { name: 'inner', mode: 'private', grants: [guest.id] });
  assert.equal(made.readiness.ready, true);
  const services = await guest.api.services();
  assert.deepEqual(
    services.map(({ name }) => name),
    ['inner'],
  );
  assert.deepEqual(await stranger.api.services(), []);
  const { id } = services[0]!;
  const [mayDial, mayNot] = [guest, stranger].map(
    ({ api }) => new OverlayClient({ api, log: silentLog, name: 'x' }),
  );
  try {
    (await mayDial!.dial(id, 10_000)).destroy();
    await assert.rejects(
      mayNot!.dial(id, 10_000),
      (error) => error instanceof CircuitError && error.code === 'not-authorized',
    );
  } finally {
    mayDial!.close();
    mayNot!.close();
  }
  assert.equal((await world.get('inner.share.localhost', '/')).status, 404);
});

test('a deleted agent loses its connections within ten seconds, and its shares are gone', async () => {
  const agent = await world.startAgent('doomed');
  await agent.share(targetOf(), { name: 'doomed' });
  await until(
    'the share',
    () => world.get('doomed.share.localhost', '/'),
    ({ status }) => status === 200,
  );
  const overlay = agent.overlay;
  assert.equal(overlay.isAttached, true);
  assert.equal((await world.call('DELETE', `/agents/${agent.environmentId}`)).status, 204);
  await until(
    'no connection',
    () => overlay.isAttached,
    (isAttached) => !isAttached,
  );
  assert.equal((await world.call('GET', '/shares/doomed')).status, 404);
  assert.equal(await environmentStatus(agent.environmentId), 404);
  await until(
    'no share',
    () => world.get('doomed.share.localhost', '/'),
    ({ status }) => status === 404,
  );
});

test('a deleted environment has to enroll again: its session and its certificate open nothing', async () => {
  const { id, api } = await world.enrollEnvironment('gone');
  assert.deepEqual(await api.services(), []);
  assert.equal((await world.call('DELETE', `/environments/${id}`)).status, 204);
  await assert.rejects(
    api.services(),
    (error) => error instanceof FrontdoorError && error.kind === 'unauthenticated',
  );
  const again = await world.enrollEnvironment('gone');
  assert.notEqual(again.id, id);
  assert.deepEqual(await again.api.services(), []);
});
