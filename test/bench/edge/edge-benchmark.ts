/**
 * `npm run bench:edge`: programs on OpenZiti's Go SDK, which dial each other through our router and OpenZiti's, both at one
 * controller of OpenZiti, and through our router at our control plane. It needs ZITI_BIN and `go`.
 */
import { GoPeer, skipGoPeer, type GoLoad } from '../../compat/openziti/go-peer.ts';
import type { BenchRun } from '../bench-run.ts';
import type { Benchmark } from '../benchmark.ts';
import { measureLoad, type LoadScenario } from '../fabric/port-load.ts';
import { between, figure, least, type Goal } from '../goal.ts';
import { FRONTDOOR, GO, OUR_ROUTER, startPlaces, TERMINATORS_PER_SERVICE } from './edge-places.ts';

const DIALS = 'dial to first byte, one at a time';
const MANY_DIALS = 'dials, 32 at once';
const DOWNLOAD = 'download, 1 stream';
const REQUESTS = 'requests, 1 stream';
const MANY_REQUESTS = 'requests, 32 streams';
const CROWDED_DIALS = 'dial to first byte beside 10,000 terminators';

type EdgeScenario = LoadScenario<GoLoad['kind']>;

const SCENARIOS: readonly EdgeScenario[] = [
  { name: DIALS, unit: 'circuit', kind: 'circuits', connections: 1 },
  { name: MANY_DIALS, unit: 'circuit', kind: 'circuits', connections: 32 },
  { name: DOWNLOAD, unit: 'MB', kind: 'download', connections: 1 },
  { name: REQUESTS, unit: 'request', kind: 'messages', connections: 1 },
  { name: MANY_REQUESTS, unit: 'request', kind: 'messages', connections: 32 },
];
const CROWDED: EdgeScenario = { name: CROWDED_DIALS, unit: 'circuit', kind: 'circuits', connections: 1 };
const TERMINATORS = 10_000;
const QUICK_TERMINATORS = 1_000;

export const EDGE_BENCHMARK: Benchmark = {
  name: 'bench:edge',
  full: { rounds: 5, roundSeconds: 3, singleRounds: 5 },
  quick: { rounds: 1, roundSeconds: 2, singleRounds: 1 },
  // The load runs for a while before it counts.
  warmUpRounds: 0,
  reference: () => GO,
  goals: () => ({
    "our router at OpenZiti's controller, beside theirs": goalsOf(OUR_ROUTER),
    "our router at our control plane, beside theirs at OpenZiti's": [
      ...goalsOf(FRONTDOOR),
      least('dials per second', '/s', 1_000, figure(MANY_DIALS, FRONTDOOR)),
    ],
  }),
  skip: skipGoPeer,
  measure,
};

function goalsOf(ours: string): Goal[] {
  const ahead = (name: string, value: Goal['value']): Goal => least(name, '×', 1, value);
  return [
    // The shorter the better: theirs to ours.
    ahead('p50 of dial to first byte', between(DIALS, GO, ours, 'p50Us')),
    ahead('p99 of dial to first byte', between(DIALS, GO, ours, 'p99Us')),
    ahead('p99 beside 10,000 terminators', between(CROWDED_DIALS, GO, ours, 'p99Us')),
    ahead('dials/s', between(MANY_DIALS, ours, GO)),
    ahead('MB/s, 1 stream', between(DOWNLOAD, ours, GO)),
    ahead('requests/s, 1 stream', between(REQUESTS, ours, GO)),
    ahead('requests/s, 32 streams', between(MANY_REQUESTS, ours, GO)),
  ];
}

async function measure(run: BenchRun): Promise<void> {
  const peer = await GoPeer.build(run.folder);
  const terminators = run.options.isQuick ? QUICK_TERMINATORS : TERMINATORS;
  const places = await startPlaces(run, peer, run.wants(CROWDED_DIALS) ? terminators : 0);
  const measureScenario = (scenario: EdgeScenario) =>
    measureLoad(run, scenario, places, ({ dialer, service }, load) => peer.load(dialer, service, load));
  for (const scenario of SCENARIOS) await measureScenario(scenario);
  if (!run.wants(CROWDED_DIALS)) return;
  for (const { name, host, crowded } of places) {
    run.report(`making ${terminators} terminators at ${name}`);
    const startedMs = performance.now();
    const hosting = await peer.serve(host, crowded, TERMINATORS_PER_SERVICE);
    run.defer(() => hosting.kill());
    run.record('terminators', name, {
      'made per second': (terminators * 1000) / (performance.now() - startedMs),
    });
  }
  await measureScenario(CROWDED);
}
