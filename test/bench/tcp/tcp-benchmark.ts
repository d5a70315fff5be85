/**
 * `npm run bench:tcp`: a private share of TCP from agent to agent, encrypted end to end, beside `ssh -L`, three relays in a
 * row, chisel, rathole and the service itself.
 */
import { FaultRelay } from '../../support/fault-relay.ts';
import { postgresSkip } from '../../support/postgres.ts';
import type { BenchRun } from '../bench-run.ts';
import type { Benchmark } from '../benchmark.ts';
import { measureLoad, runLoad, type LoadScenario } from '../fabric/port-load.ts';
import { between, least, most, type Goal } from '../goal.ts';
import type { OutsidePeer } from '../outside-peers.ts';
import { startScript } from '../script-process.ts';
import { startTwoAgents, type TwoAgents } from '../separate-product.ts';
import { startPgbench } from './pgbench-load.ts';
import { SSH } from './ssh-peer.ts';
import { DIRECT, openOurs, OURS, RELAYS, startTargets } from './tcp-targets.ts';

const REQUESTS: readonly LoadScenario[] = [1, 8].map((connections) => ({
  name: `requests of 60 bytes, ${connections} connection(s)`,
  unit: 'request',
  kind: 'requests',
  connections,
}));
const STREAMS: readonly LoadScenario[] = (['download', 'upload'] as const).map((kind) => ({
  name: `${kind}, one stream`,
  unit: 'MB',
  kind,
  connections: 1,
}));
/** As many requests as make a p99 of one round. */
const WAVES: LoadScenario = {
  name: '20 MB/s in waves over a lossy path',
  unit: 'MB',
  kind: 'waves',
  connections: 32,
};
const PGBENCH = [1, 8].map((clients) => ({ name: `pgbench -S, ${clients} client(s)`, clients }));

/** Each direction of each crossing; 0.5 % of the packets are lost. */
const LOSSY = { delayMs: 15, jitterMs: 0, bytesPerSecond: Infinity, loss: 0.005 };

const beside = (scenario: string): Goal[] => [
  least(scenario, '×', 0.9, between(scenario, OURS, RELAYS)),
  most(`${scenario}, p99`, '×', 1.5, between(scenario, OURS, RELAYS, 'p99Us')),
];

export const TCP_BENCHMARK: Benchmark = {
  name: 'bench:tcp',
  full: { rounds: 5, roundSeconds: 3, singleRounds: 5 },
  quick: { rounds: 1, roundSeconds: 1, singleRounds: 1 },
  warmUpRounds: 1,
  reference: () => RELAYS,
  goals: () => ({
    [`goals (× is a ratio of medians to ${RELAYS})`]: [
      ...[...REQUESTS, ...PGBENCH].flatMap(({ name }) => beside(name)),
      ...STREAMS.map(({ name }) => least(name, '×', 0.9, between(name, OURS, RELAYS))),
    ],
    [`goals (× is a ratio of medians to ${DIRECT})`]: [
      least(WAVES.name, '×', 0.9, between(WAVES.name, OURS, DIRECT)),
      most(`${WAVES.name}, p99 of a request`, '×', 3, between(WAVES.name, OURS, DIRECT, 'p99Us')),
    ],
  }),
  measure,
};

async function measure(run: BenchRun): Promise<void> {
  const service = Number(run.keep(await startScript('fabric/service-process.ts')).line);
  await run.part(async () => {
    if (![...REQUESTS, ...STREAMS, ...PGBENCH].some(({ name }) => run.wants(name))) return;
    const product = await startTwoAgents(run, 'two agents');
    await run.part(async () => {
      const targets = await startTargets(run, product, service);
      for (const scenario of [...REQUESTS, ...STREAMS]) await measureScenario(run, scenario, targets);
    });
    await run.part(() => measurePgbench(run, product));
  });
  if (run.wants(WAVES.name)) await run.part(() => measureLossyPath(run, service));
}

async function measureScenario(
  run: BenchRun,
  scenario: LoadScenario,
  targets: readonly OutsidePeer[],
): Promise<void> {
  const measured = await measureLoad(run, scenario, targets, ({ port }, load) => runLoad({ ...load, port }));
  recordToSsh(run, scenario.name, measured);
}

async function measurePgbench(run: BenchRun, product: TwoAgents): Promise<void> {
  if (!PGBENCH.some(({ name }) => run.wants(name))) return;
  if (postgresSkip !== false) return run.skip('pgbench', postgresSkip);
  const pgbench = await startPgbench(run);
  const targets = await startTargets(run, product, pgbench.port);
  for (const { name, clients } of PGBENCH) {
    const measured = await run.measure(name, 'request', targets, ({ port }, seconds, metered) =>
      metered(() => pgbench.load(port, clients, seconds)),
    );
    recordToSsh(run, name, measured);
  }
}

function recordToSsh(
  run: BenchRun,
  scenario: string,
  measured: Awaited<ReturnType<BenchRun['measure']>>,
): void {
  const [ours, ssh] = [measured?.[OURS], measured?.[SSH]];
  if (ours === undefined || ssh === undefined) return;
  run.record(`${OURS} to ${SSH}`, scenario, { 'rate, ×': ours.rate.median / ssh.rate.median });
}

/** Both agents cross such a path to the router, so a direct connection crosses two. */
async function measureLossyPath(run: BenchRun, service: number): Promise<void> {
  const paths: FaultRelay[] = [];
  const openPath = async (to: number): Promise<number> => {
    const path = await FaultRelay.open(to);
    run.defer(() => path.close());
    paths.push(path);
    return path.port;
  };
  const direct = await openPath(await openPath(service));
  const product = await startTwoAgents(run, 'over a lossy path', { advertiseEdge: openPath });
  const ours = await openOurs(product, service);
  for (const path of paths) await path.worsen(LOSSY);
  await measureScenario(run, WAVES, [{ name: DIRECT, port: direct, processes: new Map() }, ours]);
}
