// Routers that `ziti edge create edge-router -t` makes at our control plane, OpenZiti's and ours: each hosts and dials an
// encrypted service by its tunnel listener, and `ziti fabric stream events` shows its circuits, terminators and bytes. ZITI_BIN names the binary (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { until } from '../../support/deadline.ts';
import { freePort } from '../../support/free-port.ts';
import { digestOf } from '../../support/private-service.ts';
import { httpGet } from '../../support/world.ts';
import { runZiti, zitiBinary } from '../../support/ziti-command.ts';
import { startEventStream, type EventStream, type StreamedEvent } from './event-stream.ts';
import { startTunnelRouter } from './tunnel-router.ts';
import { openZitiEdgeWorld, type ZitiEdgeWorld } from './ziti-edge-world.ts';

const BINARY = zitiBinary() ?? '';
const skip = BINARY === '' ? 'ZITI_BIN is not set' : false;
const BODY_BYTES = 1024 * 1024;
const READY_MS = 25_000;
const CUT_MS = 5_000;
/** Routers report usage every 2 s. */
const REPORTED_MS = 20_000;

let world: ZitiEdgeWorld;
let stream: EventStream;

before(async () => {
  if (skip !== false) return;
  world = await openZitiEdgeWorld(BINARY);
  stream = startEventStream(BINARY, world.folder, '--usage', '--circuits', '--links', '--terminators');
});
after(async () => {
  await stream?.stop();
  await world?.close();
});

const startRouter = (t: TestContext, name: string, isOurs: boolean, port: number): Promise<void> =>
  startTunnelRouter(world, t, { name, binary: isOurs ? undefined : BINARY, services: [`${name}:${port}`] });

test('our router hosts and dials an encrypted service until the policy goes', { skip }, (t) =>
  checkRouter(t, 'ours', true),
);

test('a router of OpenZiti hosts and dials an encrypted service until the policy goes', { skip }, (t) =>
  checkRouter(t, 'theirs', false),
);

for (const [name, isOurs] of [
  ['reports-ours', true],
  ['reports-theirs', false],
] as const) {
  test(`a private share of our agent is dialed by a tunnel router: ${name}`, { skip }, async (t) => {
    const port = await freePort();
    await startRouter(t, name, isOurs, port);
    await world.edge('update', 'edge-router', name, '-t', '-a', world.credentials.frontdoorId);
    const filter = encodeURIComponent(`name="${name}"`);
    const { data } = JSON.parse(await world.read(`edge-routers?filter=${filter}`)) as {
      data: { id: string }[];
    };
    const agent = await world.startAgent(`agent-${name}`);
    const grants = data.map(({ id }) => id);
    await agent.share(`http://127.0.0.1:${world.service.port}`, { name, mode: 'private', grants });
    const get = (path: string) => httpGet(port, name, path);
    const answer = () => get('/').catch(() => ({ status: 0 }));
    await until('an answer through the router', answer, ({ status }) => status === 200, READY_MS);
    const { body } = await get(`/bytes/${BODY_BYTES}`);
    assert.equal(digestOf([body]), digestOf(world.service.bytes(BODY_BYTES)));
    await world.edge('update', 'edge-router', name, '-t', '-a', 'another');
    await until('the end of dialing', answer, ({ status }) => status === 0, CUT_MS);
  });
}

async function checkRouter(t: TestContext, name: string, isOurs: boolean): Promise<void> {
  const { edge, service } = world;
  const address = { protocol: 'tcp', address: '127.0.0.1', port: service.port };
  const port = await freePort();
  await edge('create', 'config', name, 'host.v1', JSON.stringify(address));
  await edge('create', 'service', name, '--configs', name);
  const all = ['--semantic', 'AnyOf', '--edge-router-roles', '#all', '--service-roles', `@${name}`];
  await edge('create', 'service-edge-router-policy', name, ...all);
  await startRouter(t, name, isOurs, port);
  const roles = ['--semantic', 'AnyOf', '--service-roles', `@${name}`, '--identity-roles', `@${name}`];
  await edge('create', 'service-policy', `${name}-bind`, 'Bind', ...roles);
  await edge('create', 'service-policy', `${name}-dial`, 'Dial', ...roles);
  const get = (path: string) => httpGet(port, name, path);
  const answer = () => get('/').catch(() => ({ status: 0 }));
  await until('an answer through the router', answer, ({ status }) => status === 200, READY_MS);
  const { body } = await get(`/bytes/${BODY_BYTES}`);
  assert.equal(digestOf([body]), digestOf(service.bytes(BODY_BYTES)));
  const inspected = await runZiti(BINARY, world.folder, ['fabric', 'inspect', 'ert-terminators', name]);
  assert.match(inspected.output, /createTime: "?20(.*\n)*.*precedence: default\n\s+state: established/);
  await checkEvents(name);
  await edge('delete', 'service-policy', `${name}-dial`);
  await until('the end of dialing', answer, ({ status }) => status === 0, CUT_MS);
  await edge('delete', 'service-policy', `${name}-bind`);
  const terminators = () => edge('list', 'terminators');
  await until('the end of hosting', terminators, (list) => !list.includes(name), CUT_MS);
}

/** Every byte that the dialers got is in a report, and each circuit began and ended. */
async function checkEvents(name: string): Promise<void> {
  const filter = encodeURIComponent(`name="${name}"`);
  const { data } = JSON.parse(await world.read(`services?filter=${filter}`)) as { data: { id: string }[] };
  const ofService = () => stream.events(data[0]!.id);
  const sentBytes = (events: readonly StreamedEvent[]) =>
    events.reduce((sum, { usage }) => sum + (usage?.['ingress.tx'] ?? 0), 0);
  const countOf = (events: readonly StreamedEvent[], kind: string, type: string) =>
    events.filter(({ namespace, event_type }) => namespace === kind && event_type === type).length;
  await until(
    'reports of usage',
    ofService,
    (found) => sentBytes(found) >= BODY_BYTES && countOf(found, 'circuit', 'deleted') > 0,
    REPORTED_MS,
  );
  const events = ofService();
  assert.ok(countOf(events, 'circuit', 'created') >= countOf(events, 'circuit', 'deleted'), stream.output());
  assert.ok(events.some(({ duration = 0 }) => duration > 0));
  assert.ok(countOf(events, 'terminator', 'created') > 0);
}
