/**
 * `npm run bench:edge`: programs on OpenZiti's Go SDK, which dial each other through our router and OpenZiti's, both at one
 * controller of OpenZiti, and through our router at our control plane. It needs ZITI_BIN and `go`.
 */
import { GoPeer, skipGoPeer, type GoLoad } from '../../compat/openziti/go-peer.ts';
import { zitiBinary } from '../../support/ziti-command.ts';
import type { BenchRun, Sampler } from '../bench-run.ts';
import type { Benchmark } from '../benchmark.ts';
import { between, figureIn, least, type Goal } from '../goal.ts';
import {
  FRONTDOOR,
  GO,
  OUR_ROUTER,
  startPlaces,
  TERMINATORS_PER_SERVICE,
  type EdgePlace,
} from './edge-places.ts';

const DIALS = 'dial to first byte, one at a time';
const MANY_DIALS = 'dials, 32 at once';
const DOWNLOAD = 'download, 1 stream';
const REQUESTS = 'requests, 1 stream';
const MANY_REQUESTS = 'requests, 32 streams';
const CROWDED_DIALS = 'dial to first byte beside 10,000 terminators';
const BYTES_PER_MB = 1_000_000;
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
      least('dials per second', '/s', 1_000, (result) => figureIn(result, MANY_DIALS, FRONTDOOR)),
    ],
  }),
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
  const reason = skipGoPeer();
  if (reason !== false) {
    run.skip('all of it', reason);
    return;
  }
  const peer = await GoPeer.build(run.folder);
  const terminators = run.options.isQuick ? QUICK_TERMINATORS : TERMINATORS;
  const places = await startPlaces(run, zitiBinary()!, peer, run.wants(CROWDED_DIALS) ? terminators : 0);
  const loads = (kind: GoLoad['kind'], connections: number): Sampler<EdgePlace> =>
    sampler(peer, kind, connections);
  await run.measure(DIALS, 'circuit', places, loads('circuits', 1));
  await run.measure(MANY_DIALS, 'circuit', places, loads('circuits', 32));
  await run.measure(DOWNLOAD, 'MB', places, loads('download', 1));
  await run.measure(REQUESTS, 'request', places, loads('messages', 1));
  await run.measure(MANY_REQUESTS, 'request', places, loads('messages', 32));
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
  await run.measure(CROWDED_DIALS, 'circuit', places, loads('circuits', 1));
}

function sampler(peer: GoPeer, kind: GoLoad['kind'], connections: number): Sampler<EdgePlace> {
  return async ({ dialer, service }, seconds, metered) => {
    const { rate, p50Us, p99Us, failed } = await metered(() =>
      peer.load(dialer, service, { kind, connections, seconds }),
    );
    if (failed > 0) throw new Error(`${failed} connections failed`);
    if (kind === 'download') return { units: (rate * seconds) / BYTES_PER_MB, perSecond: rate };
    return { units: rate * seconds, perSecond: rate, p50Us, p99Us };
  };
}
