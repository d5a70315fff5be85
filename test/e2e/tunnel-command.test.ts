// `frontdoor tunnel` as real processes, with identities and services of the edge management API.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, copyFileSync, readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { after, before, test, type TestContext } from 'node:test';
import { enroll, openOverlay, SdkError, type Overlay } from '#sdk/library';
import { until, within } from '../support/deadline.ts';
import { countedExchange, returnCounted } from '../support/echo-stream.ts';
import { openEdgeInstallation, type EdgeInstallation } from '../support/edge-installation.ts';
import type { EdgeManagementClient } from '../support/edge-management-client.ts';
import { FaultFile } from '../support/fault-file.ts';
import { freePort } from '../support/free-port.ts';
import { PartProcess, runCommand } from '../support/part-process.ts';
import { PrometheusText } from '../support/prometheus-text.ts';
import { startUdpEcho, udpClient } from '../support/port-client.ts';

const BYTES = 3_000_000;
const GUIDE = readFileSync(new URL('../../docs/guide/metrics.md', import.meta.url), 'utf8');

interface ProxyReady {
  readonly identity: string;
  readonly services: readonly {
    readonly service: string;
    readonly protocol: string;
    readonly listen: string;
  }[];
}

interface HostReady {
  readonly identity: string;
  readonly services: readonly { readonly service: string }[];
}

let installation: EdgeInstallation;
let admin: EdgeManagementClient;
let overlay: Overlay;

before(async () => {
  installation = await openEdgeInstallation();
  admin = await installation.logIn();
  const semantic = 'AnyOf';
  const edgeRouterRoles = ['#all'];
  await admin.create('edge-router-policies', {
    name: 'all',
    semantic,
    edgeRouterRoles,
    identityRoles: ['#all'],
  });
  await admin.create('service-edge-router-policies', {
    name: 'all',
    semantic,
    edgeRouterRoles,
    serviceRoles: ['#all'],
  });
  for (const name of ['program', 'site']) await addIdentity(name);
  await addService('clear', false);
  await addService('sealed', true);
  for (const name of ['clear', 'sealed']) await permit(name, 'program', 'Bind');
  overlay = await openOverlay({ identityFile: fileOf('program') });
  for (const name of ['clear', 'sealed']) (await overlay.bind(name)).on('connection', answer);
});
after(async () => {
  await overlay?.close();
  await installation?.close();
});

const fileOf = (name: string): string => join(installation.folder, `${name}.json`);

/** Also ends when a client ends early. */
function answer(stream: Duplex): void {
  returnCounted(stream);
  stream.once('end', () => stream.end());
}

async function addIdentity(name: string): Promise<void> {
  const body = { name, type: 'Default', isAdmin: false, enrollment: { ott: true } };
  const id = await admin.create('identities', body);
  const { data } = JSON.parse(await admin.call('GET', `identities/${id}`)) as {
    data: { enrollment: { ott: { jwt: string } } };
  };
  await enroll({ token: data.enrollment.ott.jwt, identityFile: fileOf(name) });
}

async function addService(
  name: string,
  encryptionRequired: boolean,
  configs: readonly string[] = [],
): Promise<string> {
  return admin.create('services', { name, encryptionRequired, configs });
}

async function addHostConfig(name: string, data: object): Promise<string> {
  return admin.create('configs', { name, configTypeId: await admin.find('config-types', 'host.v1'), data });
}

async function permit(service: string, identity: string, type: 'Dial' | 'Bind'): Promise<string> {
  const [serviceId, identityId] = await Promise.all([
    admin.find('services', service),
    admin.find('identities', identity),
  ]);
  return admin.create('service-policies', {
    name: `${identity} ${type} ${service}`,
    type,
    semantic: 'AnyOf',
    serviceRoles: [`@${serviceId}`],
    identityRoles: [`@${identityId}`],
  });
}

async function startProxy(
  t: TestContext,
  services: readonly string[],
  args: readonly string[] = [],
  process: Partial<FaultFile['process']> = {},
): Promise<PartProcess<ProxyReady>> {
  const readyFile = join(installation.folder, 'proxy.json');
  const part = new PartProcess<ProxyReady>({
    ...process,
    name: 'tunnel proxy',
    readyFile,
    args: () => [
      'tunnel',
      'proxy',
      '--identity',
      fileOf('site'),
      '--ready-file',
      readyFile,
      ...services.flatMap((one) => ['--service', one]),
      ...args,
    ],
  });
  t.after(() => part.kill());
  await part.start();
  return part;
}

async function startHost(
  t: TestContext,
  services: readonly string[],
  process: Partial<FaultFile['process']> = {},
): Promise<PartProcess<HostReady>> {
  const readyFile = join(installation.folder, 'host.json');
  const part = new PartProcess<HostReady>({
    ...process,
    name: 'tunnel host',
    readyFile,
    args: () => [
      'tunnel',
      'host',
      '--identity',
      fileOf('site'),
      '--ready-file',
      readyFile,
      ...services.flatMap((one) => ['--service', one]),
    ],
  });
  t.after(() => part.kill());
  await part.start();
  return part;
}

/** Sends bytes to a service and expects them back. */
async function dialed(service: string, terminator?: string): Promise<void> {
  const stream = await overlay.dial(service, { terminator });
  await within('the exchange', countedExchange(stream, BYTES));
}

/** The code of the error of a dial; empty if it succeeds. */
async function refusalOf(service: string, terminator?: string): Promise<string> {
  try {
    (await overlay.dial(service, { terminator })).destroy();
    return '';
  } catch (error) {
    return error instanceof SdkError ? error.code : String(error);
  }
}

async function openPort(listen: string): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: Number(listen.split(':')[1]), allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}

const exchange = async (listen: string, bytes: number): Promise<void> =>
  within('the exchange', countedExchange(await openPort(listen), bytes));

const isServed = (listen: string): Promise<boolean> =>
  exchange(listen, 1).then(
    () => true,
    () => false,
  );

test('tunnel proxy carries connections to services, in clear and encrypted, from the moment a policy lets it', async (t) => {
  const metricsPort = await freePort();
  const part = await startProxy(t, ['clear:0', 'sealed:0'], ['--metrics-listen', `127.0.0.1:${metricsPort}`]);
  const { identity, services } = part.ready;
  assert.equal(identity, 'site');
  assert.deepEqual(
    services.map(({ service }) => service),
    ['clear', 'sealed'],
  );
  const [clear, sealed] = services.map(({ listen }) => listen) as [string, string];
  assert.match(part.output, /let a service policy of type Dial name the service and site/);
  assert.equal(await isServed(clear), false);
  for (const name of ['clear', 'sealed']) await permit(name, 'site', 'Dial');
  for (const listen of [clear, sealed]) {
    await until('the service', () => isServed(listen), Boolean);
    await exchange(listen, BYTES);
  }

  // A stop waits for what is open, and takes nothing new.
  const open = await openPort(sealed);
  const head = Buffer.alloc(8);
  head.writeBigUInt64BE(2n);
  open.write(Buffer.concat([head, Buffer.from('1')]));
  await once(open, 'data');
  const observed = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${metricsPort}${path}`);
  assert.equal((await observed('/health/live')).status, 200);
  const ready = await observed('/health/ready');
  const { version, ...readiness } = (await ready.json()) as Readonly<Record<string, unknown>>;
  assert.match(String(version), /^\d+\.\d+\.\d+/);
  assert.deepEqual([ready.status, readiness], [200, { status: 'ready', checks: { router: true } }]);
  const metrics = new PrometheusText(await (await observed('/metrics')).text());
  assert.equal(metrics.value('frontdoor_tunnel_routers'), 1);
  assert.ok(metrics.value('frontdoor_tunnel_open_circuits')! >= 1);
  const certificate = 'identity';
  const ends = metrics.value('frontdoor_tunnel_certificate_expiry_timestamp_seconds', { certificate })!;
  assert.ok(ends > Date.now() / 1_000);
  const ours = [...metrics.types.keys()].filter((name) => name.startsWith('frontdoor_'));
  assert.ok(ours.includes('frontdoor_build_info'));
  for (const name of ours) assert.ok(GUIDE.includes(`\`${name}\``), `${name} is in docs/guide/metrics.md`);
  const stopped = part.stop('SIGTERM');
  await until(
    'the closed port',
    () =>
      openPort(sealed).then(
        (socket) => void socket.destroy(),
        () => 'closed',
      ),
    (state) => state === 'closed',
  );
  assert.equal((await observed('/health/ready')).status, 503);
  open.end('2');
  const [last] = (await once(open, 'data')) as [Buffer];
  assert.equal(String(last), '2');
  open.destroy();
  assert.equal(await stopped, 0);
});

test('tunnel host hosts services by their configs and by targets, encrypted where the service asks for it', async (t) => {
  const service = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    answer(socket);
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  t.after(() => service.close());
  const { port } = service.address() as AddressInfo;
  const listenOptions = { bindUsingEdgeIdentity: true };
  const fixed = await addHostConfig('fixed', { protocol: 'tcp', address: '127.0.0.1', port, listenOptions });
  const forwarded = await addHostConfig('forwarded', {
    protocol: 'tcp',
    forwardAddress: true,
    allowedAddresses: ['127.0.0.1'],
    port,
  });
  await addService('by-config', true, [fixed]);
  await addService('by-dialer', false, [forwarded]);
  await addService('by-target', false);
  for (const name of ['by-config', 'by-dialer', 'by-target']) {
    await permit(name, 'site', 'Bind');
    await permit(name, 'program', 'Dial');
  }
  const part = await startHost(t, ['by-config', 'by-dialer', `by-target=127.0.0.1:${port}`]);
  assert.deepEqual(part.ready.services.map((one) => one.service).toSorted(), [
    'by-config',
    'by-dialer',
    'by-target',
  ]);
  await dialed('by-config', 'site');
  await dialed('by-target');
  // The dialer has to say which address it means, which a proxy does.
  await assert.rejects(dialed('by-dialer'), { code: 'service-refused' });
  assert.match(part.output, /dst_ip required but not provided/);
  await permit('by-dialer', 'site', 'Dial');
  const proxy = await startProxy(t, ['by-dialer:0']);
  await exchange(proxy.ready.services[0]!.listen, BYTES);
  await proxy.stop();

  const gone = await addHostConfig('gone', { protocol: 'tcp', address: '127.0.0.1', port: 1, listenOptions });
  await admin.call('PATCH', `services/${await admin.find('services', 'by-config')}`, { configs: [gone] });
  await until(
    'the changed config',
    () => refusalOf('by-config', 'site'),
    (code) => code === 'service-refused',
  );

  const open = await overlay.dial('by-target');
  const head = Buffer.alloc(8);
  head.writeBigUInt64BE(2n);
  open.write(Buffer.concat([head, Buffer.from('1')]));
  await once(open, 'data');
  const stopped = part.stop('SIGTERM');
  await until(
    'the end of its offer',
    () => refusalOf('by-target'),
    (code) => code === 'no-terminator',
  );
  open.end('2');
  const [last] = (await once(open, 'data')) as [Buffer];
  assert.equal(String(last), '2');
  open.destroy();
  assert.equal(await stopped, 0);
});

test('datagrams reach a hosted service from many sources, whole and apart, in clear and encrypted', async (t) => {
  const service = await startUdpEcho();
  t.after(() => void service.close());
  const config = await addHostConfig('datagrams', {
    protocol: 'udp',
    address: '127.0.0.1',
    port: service.address().port,
  });
  const names = ['clear-udp', 'sealed-udp'];
  for (const name of names) {
    await addService(name, name === 'sealed-udp', [config]);
    await permit(name, 'site', 'Bind');
    await permit(name, 'site', 'Dial');
  }
  const host = await startHost(t, names);
  const proxy = await startProxy(t, [...names.map((name) => `${name}:0:udp`), 'clear:0']);
  assert.deepEqual(
    proxy.ready.services.map(({ protocol }) => protocol),
    ['udp', 'udp', 'tcp'],
  );
  for (const { listen } of proxy.ready.services.slice(0, 2)) {
    const port = Number(listen.split(':')[1]);
    const clients = await Promise.all(Array.from({ length: 20 }, () => udpClient()));
    t.after(() => {
      for (const client of clients) client.close();
    });
    await Promise.all(
      clients.map(async (client, index) => {
        for (const bytes of [1, 1_472, 9_000, 60_000]) {
          const text = `${index}:`.padEnd(bytes, String(index % 10)).slice(0, bytes);
          const echoed = (): Promise<string | undefined> => client.exchange(port, text);
          await until(`the echo of source ${index}`, echoed, (it) => it === text);
        }
      }),
    );
  }
  // Sources that are quiet do not delay a stop.
  for (const part of [proxy, host]) assert.equal(await part.stop(), 0);
});

test('an exception in a tunnel ends one connection or message, logged with its id and counted', async (t) => {
  const faults = new FaultFile(installation.folder);
  const service = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    answer(socket);
  }).listen(0, '127.0.0.1');
  t.after(() => void service.close());
  await once(service, 'listening');
  const { port } = service.address() as AddressInfo;
  await addService('fragile', false);
  for (const type of ['Bind', 'Dial'] as const) await permit('fragile', 'site', type);
  const host = await startHost(t, [`fragile=127.0.0.1:${port}`], faults.process);
  const metricsPort = await freePort();
  const listen = ['--metrics-listen', `127.0.0.1:${metricsPort}`];
  const proxy = await startProxy(t, ['fragile:0'], listen, faults.process);
  const [{ listen: place } = { listen: '' }] = proxy.ready.services;
  await until('the service', () => isServed(place), Boolean);
  for (const [name, parts] of [
    ['tunnel-connection', [proxy]],
    ['tunnel-data', [proxy, host]],
  ] as const) {
    faults.plant(name);
    await until(
      `${name} in each`,
      async () => {
        await isServed(place);
        return parts.every(({ output }) => output.includes(`planted ${name}`));
      },
      Boolean,
    );
    faults.clear();
    await until('the service again', () => isServed(place), Boolean);
    for (const { output } of parts)
      assert.match(
        output,
        new RegExp(`defect: this one thing ends[^]*planted at ${name}|planted at ${name}[^]*defect`),
      );
  }
  const text = new PrometheusText(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
  const counted = (kind: string) => text.value('frontdoor_contained_exceptions_total', { kind });
  assert.deepEqual([counted('connection'), counted('message'), counted('process')], [1, 1, 0]);
  for (const part of [proxy, host]) assert.equal(await part.stop('SIGTERM'), 0);
});

test('what cannot work is refused with the place and the remedy', async (t) => {
  const refused = async (identity: string, message: RegExp): Promise<void> => {
    const args = ['tunnel', 'proxy', '--identity', identity, '--service', 'clear:0'];
    await assert.rejects(runCommand(args), { message });
  };
  await refused(fileOf('nobody'), /failed \(5\): .*there is no identity file .*nobody\.json/s);
  const open = fileOf('open');
  copyFileSync(fileOf('site'), open);
  chmodSync(open, 0o644);
  await refused(open, /failed \(2\): .*open\.json is refused: .*chmod 600/s);
  await addIdentity('former');
  await admin.call('DELETE', `identities/${await admin.find('identities', 'former')}`);
  await refused(fileOf('former'), /failed \(3\): .*former\.json: .*enroll the identity again/s);

  const part = await startProxy(t, ['clear:0']);
  const { port } = new URL(`tcp://${part.ready.services[0]!.listen}`);
  const args = ['tunnel', 'proxy', '--identity', fileOf('site'), '--service', `clear:${port}`];
  await assert.rejects(runCommand(args), {
    message: new RegExp(`127\\.0\\.0\\.1:${port} is taken; choose another with --service NAME:PORT`),
  });
});
