/** What the fabric is meant to reach. Ratios are between figures of one run. */
import { GO, OURS, RELAY } from './chain.ts';
import type { FabricResults, FabricFigures } from './fabric-results.ts';

export interface FabricGoal {
  readonly name: string;
  readonly unit: string;
  readonly limit: number;
  readonly sense: 'least' | 'most';
  value(results: FabricResults): number | undefined;
}

/** OpenZiti's circuits per second in an earlier measurement, both ends as `ziti tunnel`: 47 to 84. */
const OPENZITI_TUNNEL_CIRCUITS = 84;

type Pick = (measured: FabricFigures) => number;

function ratio(scenario: string, hops: 1 | 3, peer: string, pick: Pick, isCost = false) {
  return (results: FabricResults): number | undefined => {
    const of = (maker: string): FabricFigures | undefined =>
      results.scenarios.get(scenario)?.get(`${maker} ${hops}`);
    const [ours, theirs] = [of(OURS), of(peer)];
    if (ours === undefined || theirs === undefined) return undefined;
    return isCost ? pick(theirs) / pick(ours) : pick(ours) / pick(theirs);
  };
}

const rate: Pick = (measured) => measured.rate.median;
const p50: Pick = (measured) => measured.p50Us.median;
const p99: Pick = (measured) => measured.p99Us.median;

const aheadOfGo: FabricGoal[] = ([1, 3] as const).flatMap((hops) => [
  ahead(`MB/s, 1 circuit, ${hops} hop(s)`, ratio('download, 1 circuit', hops, GO, rate)),
  ahead(`MB/s, 32 circuits, ${hops} hop(s)`, ratio('download, 32 circuits', hops, GO, rate)),
  ahead(`messages/s, 32 circuits, ${hops} hop(s)`, ratio('messages, 32 circuits', hops, GO, rate)),
  ahead(`p50 of a message, ${hops} hop(s)`, ratio('messages, 1 circuit', hops, GO, p50, true)),
  ahead(`p99 of a message, ${hops} hop(s)`, ratio('messages, 1 circuit', hops, GO, p99, true)),
  ahead(`circuits/s, ${hops} hop(s)`, ratio('circuits', hops, GO, rate)),
]);

function ahead(name: string, value: FabricGoal['value']): FabricGoal {
  return { name: `beside OpenZiti's router: ${name}`, unit: '×', limit: 1, sense: 'least', value };
}

export const FABRIC_GOALS: readonly FabricGoal[] = [
  ...aheadOfGo,
  {
    name: 'throughput of three in a row, 32 circuits, to plain relays',
    unit: '×',
    limit: 0.6,
    sense: 'least',
    value: ratio('download, 32 circuits', 3, RELAY, rate),
  },
  {
    name: 'payloads of 100 bytes forwarded, per core of the middle router',
    unit: '/s',
    limit: 100_000,
    sense: 'least',
    value: ({ payloadsPerCore }) => payloadsPerCore,
  },
  {
    name: 'memory per idle circuit, middle router',
    unit: 'KiB',
    limit: 12,
    sense: 'most',
    value: ({ idleBytes }) => {
      const bytes = idleBytes.get(`${OURS} 3`)?.[1];
      return bytes === undefined ? undefined : bytes / 1024;
    },
  },
  {
    name: `circuits/s, to the ${OPENZITI_TUNNEL_CIRCUITS}/s of OpenZiti's tunnels in an earlier run`,
    unit: '×',
    limit: 12,
    sense: 'least',
    value: ({ scenarios }) => {
      const measured = scenarios.get('circuits')?.get(`${OURS} 3`)?.rate.median;
      return measured === undefined ? undefined : measured / OPENZITI_TUNNEL_CIRCUITS;
    },
  },
];
