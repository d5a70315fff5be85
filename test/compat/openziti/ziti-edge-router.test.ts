// Routers that `ziti edge create edge-router -t` makes at our control plane, OpenZiti's and ours: each hosts and dials an
// encrypted service by its tunnel listener. ZITI_BIN names the binary (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { until } from '../../support/deadline.ts';
import { freePort } from '../../support/free-port.ts';
import { digestOf } from '../../support/private-service.ts';
import { httpGet } from '../../support/world.ts';
import { runZiti, zitiBinary, zitiEnvironment } from '../../support/ziti-command.ts';
import { openZitiEdgeWorld, type ZitiEdgeWorld } from './ziti-edge-world.ts';

const BINARY = zitiBinary() ?? '';
const skip = BINARY === '' ? 'ZITI_BIN is not set' : false;
const BODY_BYTES = 1024 * 1024;
const READY_MS = 25_000;
const CUT_MS = 5_000;
const OURS = join(import.meta.dirname, '../../../bin/frontdoor.js');

let world: ZitiEdgeWorld;

before(async () => {
  if (skip === false) world = await openZitiEdgeWorld(BINARY);
});
after(() => world?.close());

async function startRouter(t: TestContext, name: string, isOurs: boolean, port: number): Promise<void> {
  const { folder } = world;
  const at = (ending: string): string => join(folder, `${name}.${ending}`);
  const [edgePort, linkPort] = [await freePort(), await freePort()];
  const file = world.write(
    `${name}.yml`,
    `v: 3
identity: { cert: ${at('cert')}, server_cert: ${at('server.cert')}, key: ${at('key')}, ca: ${at('ca')} }
ctrl: { endpoint: "${world.up.control.ctrlAddress}" }
link:
  dialers: [{ binding: transport }]
  listeners: [{ binding: transport, bind: "tls:127.0.0.1:${linkPort}", advertise: "tls:localhost:${linkPort}" }]
edge: { csr: { sans: { dns: [localhost], ip: ["127.0.0.1"] } } }
dialers: [{ binding: edge }, { binding: tunnel }]
listeners:
  - { binding: edge, address: "tls:127.0.0.1:${edgePort}", options: { advertise: "localhost:${edgePort}" } }
  - { binding: tunnel, options: { mode: proxy, services: ["${name}:${port}"] } }
`,
  );
  await world.edge('create', 'edge-router', name, '-t', '--jwt-output-file', at('jwt'));
  const [program, first] = isOurs ? [process.execPath, [OURS]] : [BINARY, []];
  const enrolled = await runZiti(program, folder, [...first, 'router', 'enroll', file, '--jwt', at('jwt')]);
  assert.equal(enrolled.status, 0, enrolled.output);
  const env = zitiEnvironment(folder);
  const child = spawn(program, [...first, 'router', 'run', file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream.resume();
  t.after(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  });
}

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
  await edge('delete', 'service-policy', `${name}-dial`);
  await until('the end of dialing', answer, ({ status }) => status === 0, CUT_MS);
  await edge('delete', 'service-policy', `${name}-bind`);
  const terminators = () => edge('list', 'terminators');
  await until('the end of hosting', terminators, (list) => !list.includes(name), CUT_MS);
}
