/** What the fabric is meant to reach. Ratios are between figures of one run. */
import { between, fact, figure, least, most, quotient, type Goal } from '../goal.ts';
import { chainName, GO, OURS, RELAY } from './chain.ts';

/** Tables of the run, and columns of theirs. */
export const IDLE_TABLE = 'bytes per idle circuit, each process from the door on';
export const hopColumn = (hop: number): string => `hop ${hop}`;
export const PAYLOADS_TABLE = 'payloads of 100 bytes through the middle router';
export const PAYLOADS_COLUMN = 'payloads/s per core';

const aheadOfGo: Goal[] = ([1, 3] as const).flatMap((hops) => {
  const [ours, theirs] = [chainName(OURS, hops), chainName(GO, hops)];
  const ahead = (name: string, value: Goal['value']): Goal =>
    least(`beside OpenZiti's router: ${name}, ${hops} hop(s)`, '×', 1, value);
  return [
    ahead('MB/s, 1 circuit', between('download, 1 circuit', ours, theirs)),
    ahead('MB/s, 32 circuits', between('download, 32 circuits', ours, theirs)),
    ahead('messages/s, 32 circuits', between('messages, 32 circuits', ours, theirs)),
    // The shorter the better: theirs to ours.
    ahead('p50 of a message', between('messages, 1 circuit', theirs, ours, 'p50Us')),
    ahead('p99 of a message', between('messages, 1 circuit', theirs, ours, 'p99Us')),
    ahead('circuits/s', between('circuits', ours, theirs)),
  ];
});

const THREE = chainName(OURS, 3);
const throughput = between('download, 32 circuits', THREE, chainName(RELAY, 3));
const payloads = fact(PAYLOADS_TABLE, OURS, PAYLOADS_COLUMN);
const idleKib = quotient(fact(IDLE_TABLE, THREE, hopColumn(2)), 1024);

export const FABRIC_GOALS: readonly Goal[] = [
  ...aheadOfGo,
  least('throughput of three in a row, 32 circuits, to plain relays', '×', 0.6, throughput),
  least('payloads of 100 bytes forwarded, per core of the middle router', '/s', 100_000, payloads),
  most('memory per idle circuit, middle router', 'KiB', 12, idleKib),
  least('circuits/s of three in a row', '/s', 1_000, figure('circuits', THREE)),
];
