// Routers that host and dial a service by their tunnel listeners, at two control planes over one PostgreSQL: one of these is
// killed, the policies change at the other, and it comes back.
import assert from 'node:assert/strict';
import type { AddressInfo, Server } from 'node:net';
import { after, afterEach, before, describe, test } from 'node:test';
import { until } from '../support/deadline.ts';
import { EchoSocket, exchange, startEcho } from '../support/echo-service.ts';
import { EdgeManagementClient } from '../support/edge-management-client.ts';
import { freePort } from '../support/free-port.ts';
import type { MeshRouter } from '../support/fabric-mesh.ts';
import { postgresSkip } from '../support/postgres.ts';
import { ReplicatedMesh, type Replica } from '../support/replicated-mesh.ts';

const BODY_BYTES = 1024 * 1024;
const READY_MS = 60_000;
const CUT_MS = 5_000;

describe('tunnel routers at two control planes', { skip: postgresSkip }, () => {
  let mesh: ReplicatedMesh;
  let echo: Server;
  let a: Replica;
  let b: Replica;
  let admin: EdgeManagementClient;
  let host: MeshRouter;
  let client: MeshRouter;
  let door = 0;
  let serviceId = '';
  let dialPolicyId = '';
  let bindPolicyId = '';
  let standing: EchoSocket | undefined;

  const mayDial = (): Promise<string> => policy('dial', 'Dial', client);
  const policy = (name: string, type: 'Dial' | 'Bind', router: MeshRouter): Promise<string> =>
    admin.create('service-policies', {
      name,
      type,
      semantic: 'AnyOf',
      serviceRoles: [`@${serviceId}`],
      identityRoles: [`@${router.id}`],
    });
  const echoes = (): Promise<boolean> =>
    exchange(door, 100).then(
      ({ sent, received }) => sent === received,
      () => false,
    );

  before(async () => {
    echo = await startEcho();
    door = await freePort();
    mesh = await ReplicatedMesh.start();
    a = await mesh.replica('a', '--edge-management');
    b = await mesh.replica('b', '--edge-management');
    admin = await EdgeManagementClient.logIn(b.ready.edgeApiUrl, await mesh.admin(b));
    const groups = ['default'];
    const tunnel = (options: object): Record<string, unknown> => ({
      edge: {},
      dialers: [{ binding: 'tunnel' }],
      listeners: [{ binding: 'tunnel', options }],
    });
    host = await mesh.router(
      b,
      'host',
      { linkListener: { port: await freePort(), groups }, sections: tunnel({ mode: 'host' }) },
      '--tunneler',
    );
    const services = [`echo:${door}`];
    client = await mesh.router(
      a,
      'client',
      { dialGroups: groups, sections: tunnel({ mode: 'proxy', services }) },
      '--tunneler',
    );
    const configId = await admin.create('configs', {
      name: 'echo',
      configTypeId: await admin.find('config-types', 'host.v1'),
      data: { protocol: 'tcp', address: '127.0.0.1', port: (echo.address() as AddressInfo).port },
    });
    serviceId = await admin.create('services', {
      name: 'echo',
      configs: [configId],
      encryptionRequired: true,
    });
    await admin.create('service-edge-router-policies', {
      name: 'echo',
      semantic: 'AnyOf',
      edgeRouterRoles: ['#all'],
      serviceRoles: [`@${serviceId}`],
    });
    bindPolicyId = await policy('bind', 'Bind', host);
    dialPolicyId = await mayDial();
  });
  afterEach((context) => {
    if ('passed' in context && context.passed === false) console.error(mesh?.output);
  });
  after(async () => {
    standing?.close();
    await mesh?.stop();
    echo?.close();
  });

  test('carry a service whose policies the other control plane than that of the client has', async () => {
    await until('an echo', echoes, Boolean, READY_MS);
    const { sent, received } = await exchange(door, BODY_BYTES);
    assert.equal(received, sent);
    standing = await EchoSocket.open(door);
    await standing.echo('first');
  });

  test('continue with what is open, and dial, when one of them is killed', async () => {
    await a.kill();
    await standing!.echo('while a is dead');
    await until('an echo', echoes, Boolean, READY_MS);
    assert.match(await admin.call('GET', 'terminators'), new RegExp(host.id));
  });

  test('cut what a policy at the one that is left forbids, and dial again when it permits it', async () => {
    await admin.call('DELETE', `service-policies/${dialPolicyId}`);
    await until('the end of the connection', () => standing!.isClosed, Boolean, CUT_MS);
    assert.equal(await echoes(), false);
    dialPolicyId = await mayDial();
    await until('an echo', echoes, Boolean, READY_MS);
  });

  test('leave no terminator of what a policy forbids to host, and host again when it permits it', async () => {
    await admin.call('DELETE', `service-policies/${bindPolicyId}`);
    const terminators = (): Promise<string> => admin.call('GET', 'terminators');
    await until('no terminator', terminators, (list) => !list.includes(host.id), CUT_MS);
    bindPolicyId = await policy('bind', 'Bind', host);
    await until('an echo', echoes, Boolean, READY_MS);
  });

  test('continue when it is back and the other is killed', async () => {
    await a.start();
    await mesh.untilMeshed(a, 1);
    await b.kill();
    await until('an echo', echoes, Boolean, READY_MS);
    // The host is restarted at a control plane that has its terminator already.
    await host.process.kill();
    await host.process.start();
    await until('an echo through the new process', echoes, Boolean, READY_MS);
  });
});
