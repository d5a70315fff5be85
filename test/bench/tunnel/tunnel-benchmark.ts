/**
 * `npm run bench:tunnel`: mode `proxy` of our router beside that of OpenZiti's, both at one controller of OpenZiti, with
 * and without end-to-end encryption, and datagrams through the bindings `proxy_udp` and `transport_udp`. It needs ZITI_BIN.
 * `npm run bench:tproxy`: the same for mode `tproxy`, in a network namespace.
 */
import { zitiBinary } from '../../support/ziti-command.ts';
import { until } from '../bench-process.ts';
import type { BenchRun, Sampler } from '../bench-run.ts';
import type { Benchmark } from '../benchmark.ts';
import type { LoadKind, LoadResult } from '../fabric/load-process.ts';
import { STREAM_LOAD, streamSampler } from '../fabric/stream-load.ts';
import { between, least, type Goal } from '../goal.ts';
import { runScript, startScript } from '../script-process.ts';
import type { DatagramArguments, DatagramResult } from './datagram-load-process.ts';
import {
  BINDINGS_UDP,
  GO,
  OURS,
  SERVICE_KINDS,
  startTunnels,
  type ServiceKind,
  type TunnelDoors,
  type InterceptionMode,
  type TunnelNetwork,
} from './tunnel-doors.ts';

interface StreamScenario {
  readonly name: string;
  readonly kind: LoadKind;
  readonly connections: number;
}

const STREAM_SCENARIOS: readonly StreamScenario[] = [
  { name: 'download, 1 connection', kind: 'download', connections: 1 },
  { name: 'download, 32 connections', kind: 'download', connections: 32 },
  { name: 'requests, 1 connection', kind: 'messages', connections: 1 },
  { name: 'requests, 32 connections', kind: 'messages', connections: 32 },
  { name: 'new connections', kind: 'circuits', connections: 32 },
];
const DATAGRAMS = 'datagrams, 32 sources';
const BINDING_DATAGRAMS = 'datagrams, 32 sources, proxy_udp to transport_udp';
const SOURCES = 32;
const UNITS = { download: 'MB', messages: 'request', circuits: 'circuit', idle: 'circuit' } as const;
const DATAGRAM_LOAD = 'tunnel/datagram-load-process.ts';
const SERVED_MS = 60_000;
const TRIAL_SECONDS = 0.2;

export const TUNNEL_BENCHMARK: Benchmark = {
  name: 'bench:tunnel',
  full: { rounds: 5, roundSeconds: 3, singleRounds: 5 },
  quick: { rounds: 1, roundSeconds: 2, singleRounds: 1 },
  // The load runs for a while before it counts.
  warmUpRounds: 0,
  reference: () => GO,
  goals: () => goalsOf([...SERVICE_KINDS.flatMap(scenariosOf), BINDING_DATAGRAMS]),
  measure: async (run) => {
    const network = await measure(run, 'proxy');
    if (network !== undefined)
      await run.measure(BINDING_DATAGRAMS, 'message', network.doors, datagrams(BINDINGS_UDP));
  },
};

export const TPROXY_BENCHMARK: Benchmark = {
  ...TUNNEL_BENCHMARK,
  name: 'bench:tproxy',
  needsNamespace: true,
  goals: () => goalsOf(SERVICE_KINDS.flatMap(scenariosOf)),
  measure: async (run) => void (await measure(run, 'tproxy')),
};

function goalsOf(names: readonly string[]): Readonly<Record<string, readonly Goal[]>> {
  const goals = names.map((name) => least(name, '×', 1, between(name, OURS, GO)));
  return { "goals beside OpenZiti's router (× is a ratio of medians)": goals };
}

function scenariosOf(kind: ServiceKind): string[] {
  const names = kind.endsWith('-udp') ? [DATAGRAMS] : STREAM_SCENARIOS.map(({ name }) => name);
  return names.map((name) => scenarioName(name, kind));
}

function scenarioName(name: string, kind: ServiceKind): string {
  return `${name}, ${kind.startsWith('sealed') ? 'encrypted' : 'in clear'}`;
}

/** Returns the network, unless all is skipped. */
async function measure(run: BenchRun, mode: InterceptionMode): Promise<TunnelNetwork | undefined> {
  const binary = zitiBinary();
  if (binary === undefined) {
    run.skip('all of it', 'ZITI_BIN is not set');
    return undefined;
  }
  const service = await startScript('fabric/service-process.ts');
  run.defer(() => service.stop());
  const echo = await startScript(DATAGRAM_LOAD, { kind: 'echo', port: 0, sources: 0, seconds: 0 });
  run.defer(() => echo.stop());
  run.report('starting both routers at one controller');
  const backends = { tcpPort: Number(service.line), udpPort: Number(echo.line) };
  const network = await startTunnels(binary, backends, mode);
  run.defer(() => network.stop());
  for (const door of network.doors) await untilServed(door);
  for (const kind of ['sealed', 'plain'] as const) {
    for (const { name, kind: load, connections } of STREAM_SCENARIOS)
      await run.measure(
        scenarioName(name, kind),
        UNITS[load],
        network.doors,
        streams(kind, load, connections),
      );
    const udp = `${kind}-udp` as const;
    await run.measure(scenarioName(DATAGRAMS, udp), 'message', network.doors, datagrams(udp));
  }
  return network;
}

function streams(service: ServiceKind, kind: LoadKind, connections: number): Sampler<TunnelDoors> {
  return streamSampler(({ host, ports }) => ({ kind, host, port: ports[service], connections }));
}

function datagrams(service: ServiceKind | typeof BINDINGS_UDP): Sampler<TunnelDoors> {
  return async ({ host, ports }, seconds, metered) => {
    const load: DatagramArguments = { kind: 'load', host, port: ports[service], sources: SOURCES, seconds };
    const { rate, p50Us, p99Us } = await metered(() => runScript<DatagramResult>(DATAGRAM_LOAD, load));
    return { units: rate * seconds, perSecond: rate, p50Us, p99Us };
  };
}

/** Terminators come seconds after their host. */
async function untilServed({ name, host, ports }: TunnelDoors): Promise<void> {
  for (const service of ['sealed', 'plain'] as const) {
    const trial = { kind: 'circuits', host, port: ports[service], connections: 1, seconds: TRIAL_SECONDS };
    await until(`an answer of ${service} at ${name}`, SERVED_MS, async () => {
      const { rate } = await runScript<LoadResult>(STREAM_LOAD, trial);
      if (rate === 0) throw new Error('no circuit was answered');
    });
  }
}
