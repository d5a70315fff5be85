/**
 * A tunnel in mode `tproxy` with its controller and the programs that it leads to in one process, for a network namespace of
 * a test. It prints `ready`, and ends in order when its standard input ends. `web` answers requests of HTTP with what the
 * router reported of the dial; `echo` returns bytes and datagrams; `relay` has ports that lead to programs.
 * `tproxy-program.ts NAMES_FILE [LAN_INTERFACE [TARGETS [UPSTREAMS]]]`
 */
import { createServer } from 'node:http';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import process from 'node:process';
import { pipeline, type Duplex } from 'node:stream';
import type { TestContext } from 'node:test';
import { messageOf, systemClock } from '#base';
import { headerId } from '#wire';
import { UdpDialer } from '#net/datagrams';
import type { UpstreamConfig } from '../../src/router/config/schema/tunnel-schema.ts';
import { NameServer } from '../../src/router/tunnel/dns/name-server.ts';
import { MachineRecord } from '../../src/router/tunnel/machine/machine-record.ts';
import { peerDataOf, ROUTER_ID, TunnelWorld } from '../../src/router/tunnel/testing/tunnel-world.ts';
import { removeLeftovers } from '../../src/router/tunnel/tproxy/leftovers.ts';
import { TproxyPart } from '../../src/router/tunnel/tproxy/tproxy-part.ts';
import { lineOf, recordingLog } from './recording-log.ts';
import { grantChanges, identityChange, type DataModelChange } from './token-signer.ts';

const { appData } = headerId.peerData;

/** Where the ports of `relay` lead to: options of `connect`, or the port of UDP on 127.0.0.1, as JSON by protocol and port. */
type RelayTargets = Readonly<Record<string, Readonly<Record<string, { port?: number; path?: string }>>>>;

const [namesFile = '', lanInterface, targetsText = '{}', upstreamsText = '[]'] = process.argv.slice(2);
const targets = JSON.parse(targetsText) as RelayTargets;
const dnsUpstreams = JSON.parse(upstreamsText) as UpstreamConfig[];
const log = recordingLog((record) => {
  if (record.level !== 'debug') console.error(lineOf(record));
});
const ECHO_PORT = 7_000;
const DIAL_TIMEOUT_MS = 5_000;
const closers: (() => void)[] = [];
const world = new TunnelWorld({ after: (close: () => void) => void closers.push(close) } as TestContext, {
  log,
});
const web = createServer((request, response) => {
  const dial = world.requests.findLast(({ serviceName }) => serviceName === 'web')!;
  response.end(`${request.url} ${String(Buffer.from(peerDataOf(dial).get(appData)!))}\n`);
});
world.onCircuit = (connection, peerData) => {
  const dial = JSON.parse(String(Buffer.from(peerData.get(appData)!))) as Record<string, string>;
  const port = Number(dial['dst_port']);
  const protocol = dial['dst_protocol'] ?? '';
  const target = targets[protocol]?.[port];
  if (target === undefined) {
    if (port === ECHO_PORT) void connection.pipe(connection);
    else web.emit('connection', connection as unknown as Socket);
  } else if (protocol === 'udp') void relayDatagrams(connection, target.port!);
  else {
    const far = connect({ ...target, allowHalfOpen: true } as NetConnectOpts);
    pipeline(far, connection, far, () => {});
  }
};

async function relayDatagrams(connection: Duplex, port: number): Promise<void> {
  const far = await new UdpDialer(systemClock).dial({
    network: 'udp',
    host: '127.0.0.1',
    port,
    timeoutMs: DIAL_TIMEOUT_MS,
  });
  pipeline(far, connection, far, () => {});
}

function interceptedService(id: string, config: object): DataModelChange[] {
  const dataJson = JSON.stringify(config);
  return [
    { case: 'config', value: { id: `config-${id}`, typeId: 'intercept', name: id, dataJson } },
    { case: 'service', value: { id, name: id, configs: [`config-${id}`] } },
    ...grantChanges(`dial-${id}`, 'Dial', ROUTER_ID, id),
  ];
}
world.change([
  { case: 'configType', value: { id: 'intercept', name: 'intercept.v1' } },
  identityChange(ROUTER_ID),
  ...interceptedService('web', {
    protocols: ['tcp'],
    addresses: ['10.9.0.0/16', 'fd09::/64', 'web.example', '*.apps.example'],
    portRanges: [{ low: 80, high: 90 }],
  }),
  ...interceptedService('echo', {
    protocols: ['tcp', 'udp'],
    addresses: ['10.9.0.0/16'],
    portRanges: [{ low: ECHO_PORT, high: ECHO_PORT }],
  }),
  ...Object.entries(targets).flatMap(([protocol, ports]) =>
    interceptedService(`relay-${protocol}`, {
      protocols: [protocol],
      addresses: ['10.9.0.0/16'],
      portRanges: Object.keys(ports).map((port) => ({ low: Number(port), high: Number(port) })),
    }),
  ),
]);

const config = {
  path: 'listeners[0]',
  mode: { name: 'tproxy', diverter: undefined },
  resolvers: [{ kind: 'udp', host: '127.0.0.1', port: 53 }],
  dnsSvcIpRange: '100.64.0.1/10',
  dnsUpstreams,
  dnsUpstreamMode: 'parallel',
  dnsUnanswerable: 'refused',
  lanInterfaces: lanInterface === undefined ? [] : [{ name: lanInterface, address: '' }],
  udpIdleTimeoutMs: 300_000,
  udpCheckIntervalMs: 30_000,
} as const;
const places = { placeOf: (path: string) => `router.yml:1: ${path}`, clock: systemClock, log };

// Services are derived a moment after the change. The rules of the start contain them.
const derived = Promise.withResolvers<void>();
world.services.follow({
  gained: ({ name }) => void (name === 'echo' && derived.resolve()),
  changed: () => {},
  lost: () => {},
});
await derived.promise;

const record = await MachineRecord.load(`${namesFile}.machine`, log);
await removeLeftovers(record, log);
try {
  const part = await TproxyPart.open({
    ...places,
    routerId: ROUTER_ID,
    ordinal: 0,
    record,
    config,
    openNames: (isInUse) => NameServer.open({ ...places, config, file: namesFile, isInUse }),
    services: world.services,
    dialer: {
      dial: (request) => {
        world.isDatagrams = request.protocol === 'udp';
        return world.circuits.dial(request);
      },
    },
  });
  console.log('ready');
  process.stdin.resume().once('end', () => {
    web.close();
    void part.close().then(() => closers.forEach((close) => close()));
  });
} catch (error) {
  console.error(messageOf(error));
  process.exit(1);
}
