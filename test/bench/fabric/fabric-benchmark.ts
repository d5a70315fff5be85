/**
 * `npm run bench:fabric`: routers on loopback, one and three in a row, beside a plain TLS relay in Node, haproxy in TCP
 * mode and, with ZITI_BIN, OpenZiti's routers.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { zitiBinary } from '../../support/ziti-command.ts';
import { cpuTimeUs, residentBytes } from '../../support/child-process.ts';
import type { BenchRun } from '../bench-run.ts';
import type { Benchmark } from '../benchmark.ts';
import { HAPROXY, hasHaproxy } from '../haproxy.ts';
import { haproxyRows, relayRows } from '../hops.ts';
import { startScript } from '../script-process.ts';
import { chainName, GO, OURS, RELAY, relayOf, type Chain } from './chain.ts';
import { SMALL_PAYLOAD_BYTES, startGoRouters, startOurRouters, startRowChains } from './chains.ts';
import { FABRIC_GOALS, hopColumn, IDLE_TABLE, PAYLOADS_COLUMN, PAYLOADS_TABLE } from './fabric-goal-table.ts';
import type { LoadArguments, LoadResult } from './load-process.ts';
import { measureLoad, runLoad, PORT_LOAD, type LoadScenario } from './port-load.ts';

const ONE_MESSAGE = 'messages, 1 circuit';

const SCENARIOS: readonly LoadScenario[] = [
  { name: 'download, 1 circuit', unit: 'MB', kind: 'download', connections: 1 },
  { name: 'download, 32 circuits', unit: 'MB', kind: 'download', connections: 32 },
  { name: ONE_MESSAGE, unit: 'message', kind: 'messages', connections: 1 },
  { name: 'messages, 32 circuits', unit: 'message', kind: 'messages', connections: 32 },
  { name: 'circuits', unit: 'circuit', kind: 'circuits', connections: 32 },
];

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
  const service = run.keep(await startScript('fabric/service-process.ts'));
  const { chains, smallPayloads } = await startChains(run, Number(service.line));
  // Before any load: memory that a load has freed would be used again.
  if (run.wants(IDLE)) await measureIdle(run, chains);
  for (const scenario of SCENARIOS) {
    const measured = await measureLoad(run, scenario, chains, ({ port }, load) => runLoad({ ...load, port }));
    if (scenario.name !== ONE_MESSAGE || measured === undefined) continue;
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
  run.report('starting our routers');
  const { chains: ours, smallPayloads } = await startOurRouters(run, servicePort);
  const chains = [...ours, ...(await startRowChains(RELAY, servicePort, await relayRows(run)))];
  if (hasHaproxy())
    chains.push(...(await startRowChains(HAPROXY, servicePort, await haproxyRows(run, 'tcp'))));
  else run.skip(HAPROXY, 'not in PATH');
  const binary = zitiBinary();
  if (binary === undefined) run.skip(GO, 'ZITI_BIN is not set');
  else {
    run.report("starting OpenZiti's routers");
    chains.push(...(await startGoRouters(run, binary, servicePort)));
  }
  return { chains, smallPayloads };
}

async function measureIdle(run: BenchRun, chains: readonly Chain[]): Promise<void> {
  run.report(`measuring: ${IDLE}`);
  const circuits = run.options.isQuick ? IDLE_CIRCUITS.quick : IDLE_CIRCUITS.full;
  for (const { name, maker, port, pids } of chains) {
    if (maker !== OURS && maker !== GO) continue;
    await run.part(async () => {
      const before = pids.map(residentBytes);
      const load: LoadArguments = { kind: 'idle', port, connections: circuits, seconds: 0 };
      const { line } = run.keep(await startScript(PORT_LOAD, load));
      const { rate: held } = JSON.parse(line) as LoadResult;
      if (held !== circuits) throw new Error(`${name}: ${held} of ${circuits} idle circuits were answered`);
      await pause(SETTLE_MS);
      const grown = pids.map((pid, hop) => (residentBytes(pid) - before[hop]!) / circuits);
      run.record(
        IDLE_TABLE,
        name,
        Object.fromEntries(grown.map((bytes, hop) => [hopColumn(hop + 1), bytes])),
      );
    });
  }
}

async function payloadsPerCore({ port, pids }: Chain, seconds: number): Promise<number> {
  const [, middle] = pids;
  const before = cpuTimeUs(middle!);
  const { rate } = await runLoad({ kind: 'download', connections: 32, port, seconds });
  const cpuSeconds = (cpuTimeUs(middle!) - before) / 1e6;
  // Warm-up and start of the generator count as CPU time but not as bytes: the figure is on the low side.
  return (rate * seconds) / SMALL_PAYLOAD_BYTES / cpuSeconds;
}
