/**
 * `npm run bench:fabric`: routers on loopback, one and three in a row, beside a plain TLS relay in Node, haproxy in TCP
 * mode and, with ZITI_BIN, OpenZiti's routers.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { zitiBinary } from '../../support/ziti-command.ts';
import { cpuTimeUs, residentBytes } from '../bench-process.ts';
import type { BenchRun } from '../bench-run.ts';
import type { Benchmark } from '../benchmark.ts';
import { HAPROXY } from '../haproxy.ts';
import { startScript } from '../script-process.ts';
import { chainName, GO, OURS, relayOf, type Chain, type Chains } from './chain.ts';
import { FABRIC_GOALS, hopColumn, IDLE_TABLE, PAYLOADS_COLUMN, PAYLOADS_TABLE } from './fabric-goal-table.ts';
import type { LoadArguments, LoadKind, LoadResult } from './load-process.ts';
import { SMALL_PAYLOAD_BYTES, startOurRouters } from './our-chains.ts';
import { startGoRouters, startHaproxyChains, startRelays } from './peer-chains.ts';
import { runStreams, STREAM_LOAD, streamSampler } from './stream-load.ts';

interface Scenario {
  readonly name: string;
  readonly kind: LoadKind;
  readonly connections: number;
}

const ONE_MESSAGE = 'messages, 1 circuit';

const SCENARIOS: readonly Scenario[] = [
  { name: 'download, 1 circuit', kind: 'download', connections: 1 },
  { name: 'download, 32 circuits', kind: 'download', connections: 32 },
  { name: ONE_MESSAGE, kind: 'messages', connections: 1 },
  { name: 'messages, 32 circuits', kind: 'messages', connections: 32 },
  { name: 'circuits', kind: 'circuits', connections: 32 },
];

const UNITS = { download: 'MB', messages: 'message', circuits: 'circuit', idle: 'circuit' } as const;
const IDLE = 'idle circuits';
const IDLE_CIRCUITS = { full: 2_000, quick: 500 };
/** What the set-up of idle circuits left behind goes first. */
const SETTLE_MS = 2_000;

export const FABRIC_BENCHMARK: Benchmark = {
  name: 'bench:fabric',
  full: { rounds: 5, roundSeconds: 3, singleRounds: 5 },
  quick: { rounds: 1, roundSeconds: 1, singleRounds: 1 },
  // The load runs for a while before it counts.
  warmUpRounds: 0,
  reference: relayOf,
  goals: () => ({ 'goals (× is a ratio of medians)': FABRIC_GOALS }),
  measure,
};

async function measure(run: BenchRun): Promise<void> {
  const service = await startScript('fabric/service-process.ts');
  run.defer(() => service.stop());
  const { chains, smallPayloads } = await startChains(run, Number(service.line));
  // Before any load: memory that a load has freed would be used again.
  if (run.wants(IDLE)) await measureIdle(run, chains);
  for (const { name, kind, connections } of SCENARIOS) {
    const sampler = streamSampler<Chain>(({ port }) => ({ kind, port, connections }));
    const measured = await run.measure(name, UNITS[kind], chains, sampler);
    if (name !== ONE_MESSAGE || measured === undefined) continue;
    for (const maker of new Set(chains.map((chain) => chain.maker))) {
      // What each of the two further hops adds.
      const added = (field: 'p50Us' | 'p99Us'): number =>
        (measured[chainName(maker, 3)]![field]!.median - measured[chainName(maker, 1)]![field]!.median) / 2;
      run.record('added per hop', maker, { 'p50 µs': added('p50Us'), 'p99 µs': added('p99Us') });
    }
  }
  if (!run.wants(PAYLOADS_TABLE)) return;
  run.report(`measuring: ${PAYLOADS_TABLE}`);
  run.record(PAYLOADS_TABLE, OURS, {
    [PAYLOADS_COLUMN]: await payloadsPerCore(smallPayloads, run.options.roundSeconds),
  });
}

async function startChains(
  run: BenchRun,
  servicePort: number,
): Promise<{ readonly chains: readonly Chain[]; readonly smallPayloads: Chain }> {
  const chains: Chain[] = [];
  const add = <T extends Chains>(started: T): T => {
    chains.push(...started.chains);
    run.defer(() => started.stop());
    return started;
  };
  run.report('starting our routers');
  const { smallPayloads } = add(await startOurRouters(servicePort, run.options.cpuProfileDir));
  add(await startRelays(servicePort));
  const haproxy = await startHaproxyChains(run.folder, servicePort);
  if (haproxy === undefined) run.skip(HAPROXY, 'not in PATH');
  else add(haproxy);
  const binary = zitiBinary();
  if (binary === undefined) run.skip(GO, 'ZITI_BIN is not set');
  else {
    run.report("starting OpenZiti's routers");
    add(await startGoRouters(binary, servicePort));
  }
  return { chains, smallPayloads };
}

async function measureIdle(run: BenchRun, chains: readonly Chain[]): Promise<void> {
  run.report(`measuring: ${IDLE}`);
  const circuits = run.options.isQuick ? IDLE_CIRCUITS.quick : IDLE_CIRCUITS.full;
  for (const { name, maker, port, pids } of chains) {
    if (maker !== OURS && maker !== GO) continue;
    const before = pids.map(residentBytes);
    const load: LoadArguments = { kind: 'idle', port, connections: circuits, seconds: 0 };
    const script = await startScript(STREAM_LOAD, load);
    try {
      const { rate: held } = JSON.parse(script.line) as LoadResult;
      if (held !== circuits) throw new Error(`${name}: ${held} of ${circuits} idle circuits were answered`);
      await pause(SETTLE_MS);
      const columns = pids.map((pid, hop) => [
        hopColumn(hop + 1),
        (residentBytes(pid) - before[hop]!) / circuits,
      ]);
      run.record(IDLE_TABLE, name, Object.fromEntries(columns));
    } finally {
      await script.stop();
    }
  }
}

async function payloadsPerCore({ port, pids }: Chain, seconds: number): Promise<number> {
  const [, middle] = pids;
  const before = cpuTimeUs(middle!);
  const { rate } = await runStreams({ kind: 'download', connections: 32, port, seconds });
  const cpuSeconds = (cpuTimeUs(middle!) - before) / 1e6;
  // Warm-up and start of the generator count as CPU time but not as bytes: the figure is on the low side.
  return (rate * seconds) / SMALL_PAYLOAD_BYTES / cpuSeconds;
}
