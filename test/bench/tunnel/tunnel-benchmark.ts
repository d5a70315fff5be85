/**
 * `npm run bench:tunnel`: mode `proxy` of our router beside that of OpenZiti's, both at one controller of OpenZiti, with
 * and without end-to-end encryption, and datagrams through the bindings `proxy_udp` and `transport_udp`. It needs ZITI_BIN.
 * `npm run bench:tproxy`: the same for mode `tproxy`, in a network namespace.
 */
import { zitiBinary } from '../../support/ziti-command.ts';
import { until } from '../bench-process.ts';
import type { BenchRun } from '../bench-run.ts';
import type { Benchmark } from '../benchmark.ts';
import type { LoadArguments, LoadResult } from '../fabric/load-process.ts';
import { measureLoad, PORT_LOAD, runLoad, type LoadScenario } from '../fabric/port-load.ts';
import { between, least, type Goal } from '../goal.ts';
import { runScript, startScript } from '../script-process.ts';
import {
  BINDINGS_UDP,
  GO,
  OURS,
  SERVICE_KINDS,
  startTunnels,
  type InterceptionMode,
  type ServiceKind,
  type TunnelDoors,
} from './tunnel-doors.ts';

const STREAMS: readonly LoadScenario[] = [
  { name: 'download, 1 connection', unit: 'MB', kind: 'download', connections: 1 },
  { name: 'download, 32 connections', unit: 'MB', kind: 'download', connections: 32 },
  { name: 'requests, 1 connection', unit: 'request', kind: 'messages', connections: 1 },
  { name: 'requests, 32 connections', unit: 'request', kind: 'messages', connections: 32 },
  { name: 'new connections', unit: 'circuit', kind: 'circuits', connections: 32 },
];
const DATAGRAMS: LoadScenario = {
  name: 'datagrams, 32 sources',
  unit: 'message',
  kind: 'datagrams',
  connections: 32,
};
const BINDING_DATAGRAMS: LoadScenario = {
  ...DATAGRAMS,
  name: `${DATAGRAMS.name}, proxy_udp to transport_udp`,
};
const SERVED_MS = 60_000;
const TRIAL = { kind: 'circuits', connections: 1, seconds: 0.2 } as const;

export const TUNNEL_BENCHMARK: Benchmark = {
  name: 'bench:tunnel',
  full: { rounds: 5, roundSeconds: 3, singleRounds: 5 },
  quick: { rounds: 1, roundSeconds: 2, singleRounds: 1 },
  // The load runs for a while before it counts.
  warmUpRounds: 0,
  reference: () => GO,
  goals: () => goalsOf([...SERVICE_KINDS.flatMap(scenariosOf), BINDING_DATAGRAMS]),
  skip: () => zitiBinary() === undefined && 'ZITI_BIN is not set',
  measure: async (run) => {
    const doors = await measure(run, 'proxy');
    await measureService(run, doors, BINDING_DATAGRAMS, BINDINGS_UDP);
  },
};

export const TPROXY_BENCHMARK: Benchmark = {
  ...TUNNEL_BENCHMARK,
  name: 'bench:tproxy',
  needsNamespace: true,
  goals: () => goalsOf(SERVICE_KINDS.flatMap(scenariosOf)),
  measure: async (run) => void (await measure(run, 'tproxy')),
};

function goalsOf(scenarios: readonly LoadScenario[]): Readonly<Record<string, readonly Goal[]>> {
  const goals = scenarios.map(({ name }) => least(name, '×', 1, between(name, OURS, GO)));
  return { "goals beside OpenZiti's router (× is a ratio of medians)": goals };
}

function scenariosOf(kind: ServiceKind): LoadScenario[] {
  const scenarios = kind.endsWith('-udp') ? [DATAGRAMS] : STREAMS;
  const secrecy = kind.startsWith('sealed') ? 'encrypted' : 'in clear';
  return scenarios.map((scenario) => ({ ...scenario, name: `${scenario.name}, ${secrecy}` }));
}

/** Returns the doors. */
async function measure(run: BenchRun, mode: InterceptionMode): Promise<readonly TunnelDoors[]> {
  const service = run.keep(await startScript('fabric/service-process.ts'));
  const echo = run.keep(await startScript('fabric/service-process.ts', 'udp'));
  run.report('starting both routers at one controller');
  const doors = await startTunnels(run, { tcp: Number(service.line), udp: Number(echo.line) }, mode);
  for (const door of doors) await untilServed(door);
  for (const kind of ['sealed', 'sealed-udp', 'plain', 'plain-udp'] as const)
    for (const scenario of scenariosOf(kind)) await measureService(run, doors, scenario, kind);
  return doors;
}

async function measureService(
  run: BenchRun,
  doors: readonly TunnelDoors[],
  scenario: LoadScenario,
  service: keyof TunnelDoors['ports'],
): Promise<void> {
  await measureLoad(run, scenario, doors, ({ host, ports }, load) =>
    runLoad({ ...load, host, port: ports[service] }),
  );
}

/** Terminators come seconds after their host. */
async function untilServed({ name, host, ports }: TunnelDoors): Promise<void> {
  for (const service of ['sealed', 'plain'] as const) {
    const trial: LoadArguments = { ...TRIAL, host, port: ports[service] };
    await until(`an answer of ${service} at ${name}`, SERVED_MS, async () => {
      const { rate } = await runScript<LoadResult>(PORT_LOAD, trial);
      if (rate === 0) throw new Error('no circuit was answered');
    });
  }
}
