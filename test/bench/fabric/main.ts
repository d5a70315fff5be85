// The fabric's benchmark: `npm run bench:fabric`. Routers on loopback, one and three in a row, beside a plain TLS relay
// in Node, haproxy in TCP mode and, with ZITI_BIN, OpenZiti's routers. Run it on a quiet machine; only ratios of one run count.
import { parseArgs } from 'node:util';
import { messageOf } from '#base';
import { zitiBinary } from '../../support/ziti-command.ts';
import { cpuTimeUs, residentBytes } from '../bench-process.ts';
import { figureOf, interleave } from '../figure.ts';
import { holdIdle, measure, startScript, stopScript } from './bench-load.ts';
import { chainName, GO, OURS, type Chain, type Chains } from './chain.ts';
import { FABRIC_GOALS } from './fabric-goal-table.ts';
import type { FabricResults, FabricFigures } from './fabric-results.ts';
import type { LoadKind, LoadResult } from './load-process.ts';
import { SMALL_PAYLOAD_BYTES, startOurRouters } from './our-chains.ts';
import { startGoRouters, startHaproxy, startRelays } from './peer-chains.ts';

interface Scenario {
  readonly name: string;
  readonly kind: LoadKind;
  readonly connections: number;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'download, 1 circuit', kind: 'download', connections: 1 },
  { name: 'download, 32 circuits', kind: 'download', connections: 32 },
  { name: 'messages, 1 circuit', kind: 'messages', connections: 1 },
  { name: 'messages, 32 circuits', kind: 'messages', connections: 32 },
  { name: 'circuits', kind: 'circuits', connections: 32 },
];

interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly idleCircuits: number;
  readonly nodeArgs: readonly string[];
  readonly only: string | undefined;
}

const tell = (text: string): void => void process.stdout.write(`… ${text}\n`);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      scenario: { type: 'string' },
      'cpu-profile': { type: 'string' },
    },
  });
  const profile = values['cpu-profile'];
  const options: Options = {
    rounds: Number(values.rounds ?? (values.quick ? 1 : 5)),
    seconds: Number(values.seconds ?? (values.quick ? 1 : 3)),
    idleCircuits: values.quick ? 500 : 2_000,
    nodeArgs: profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
    only: values.scenario,
  };
  const stops: (() => Promise<void>)[] = [];
  try {
    const service = await startScript('./service-process.ts');
    stops.push(() => stopScript(service.child));
    const results = await measureAll(Number(service.line), options, stops);
    process.stdout.write(reportText(results) + goalsText(results));
    return 0;
  } catch (error) {
    process.stderr.write(`bench:fabric: ${messageOf(error)}\n`);
    return 1;
  } finally {
    for (const stop of stops.reverse()) await stop().catch((error: unknown) => tell(messageOf(error)));
  }
}

async function measureAll(
  servicePort: number,
  options: Options,
  stops: (() => Promise<void>)[],
): Promise<FabricResults> {
  const chains: Chain[] = [];
  const add = <T extends Chains>(started: T): T => {
    chains.push(...started.chains);
    stops.push(() => started.stop());
    return started;
  };
  tell('starting our routers');
  const ours = add(await startOurRouters(servicePort, options.nodeArgs));
  add(await startRelays(servicePort));
  const haproxy = await startHaproxy(servicePort);
  if (haproxy === undefined) tell('not measured: haproxy is not there');
  else add(haproxy);
  const binary = zitiBinary();
  if (binary === undefined) tell('not measured: OpenZiti (ZITI_BIN is not set)');
  else {
    tell("starting OpenZiti's routers");
    add(await startGoRouters(binary, servicePort));
  }
  const byName = new Map(chains.map((chain) => [`${chain.maker} ${chain.hops}`, chain]));
  const results: FabricResults = { scenarios: new Map(), idleBytes: new Map(), payloadsPerCore: undefined };
  // Before any load: memory that a load has freed would be used again.
  if (options.only === undefined) await measureIdle(byName, options, results);
  for (const { name, kind, connections } of SCENARIOS) {
    if (options.only !== undefined && !name.includes(options.only)) continue;
    tell(name);
    const load = { kind, connections, seconds: options.seconds };
    const rows = await interleave([...byName.keys()], options.rounds, (of) =>
      measure({ ...load, port: byName.get(of)!.port }).catch((error: unknown) => {
        throw new Error(`${of}: ${messageOf(error)}`);
      }),
    );
    results.scenarios.set(name, new Map([...rows].map(([of, samples]) => [of, measuredOf(samples)])));
  }
  if (options.only !== undefined) return results;
  tell('payloads of 100 bytes through the middle router');
  results.payloadsPerCore = await payloadsPerCore(ours.smallPayloads, options.seconds);
  return results;
}

async function measureIdle(
  byName: ReadonlyMap<string, Chain>,
  options: Options,
  results: FabricResults,
): Promise<void> {
  tell('idle circuits');
  for (const [of, chain] of byName) {
    if (chain.maker !== OURS && chain.maker !== GO) continue;
    const before = chain.pids.map(residentBytes);
    const held = await holdIdle(chain.port, options.idleCircuits, () => chain.pids.map(residentBytes));
    results.idleBytes.set(
      of,
      held.map((bytes, i) => (bytes - before[i]!) / options.idleCircuits),
    );
  }
}

function measuredOf(samples: readonly LoadResult[]): FabricFigures {
  return {
    rate: figureOf(samples.map(({ rate }) => rate)),
    p50Us: figureOf(samples.map(({ p50Us }) => p50Us)),
    p99Us: figureOf(samples.map(({ p99Us }) => p99Us)),
  };
}

async function payloadsPerCore(chain: Chain, seconds: number): Promise<number> {
  const [, middle] = chain.pids;
  const before = cpuTimeUs(middle!);
  const { rate } = await measure({ kind: 'download', connections: 32, port: chain.port, seconds });
  const cpuSeconds = (cpuTimeUs(middle!) - before) / 1e6;
  // Warm-up and start of the generator count as CPU time but not as bytes: the figure is on the low side.
  return (rate * seconds) / SMALL_PAYLOAD_BYTES / cpuSeconds;
}

function reportText({ scenarios, idleBytes, payloadsPerCore: payloads }: FabricResults): string {
  let text = '';
  for (const [scenario, measured] of scenarios) {
    const isDownload = scenario.startsWith('download');
    text += `\n${scenario}\n`;
    for (const [of, { rate, p50Us, p99Us }] of measured) {
      const scale = isDownload ? 1e-6 : 1;
      const shown = (value: number): string => (value * scale).toFixed(isDownload ? 1 : 0);
      const [maker, hops] = [of.slice(0, -2), Number(of.slice(-1)) as 1 | 3];
      text += `  ${chainName({ maker, hops }).padEnd(24)} ${shown(rate.median).padStart(8)} ${isDownload ? 'MB/s' : '/s'} (${shown(rate.min)} to ${shown(rate.max)})`;
      if (!isDownload) text += `  p50 ${Math.round(p50Us.median)} µs  p99 ${Math.round(p99Us.median)} µs`;
      text += '\n';
    }
    if (scenario === 'messages, 1 circuit') text += addedText(measured);
  }
  text += '\nbytes per idle circuit, each process from the door on\n';
  for (const [of, bytes] of idleBytes) text += `  ${of.padEnd(24)} ${bytes.map(Math.round).join(', ')}\n`;
  if (payloads !== undefined)
    text += `\npayloads of ${SMALL_PAYLOAD_BYTES} bytes per core of the middle router: ${Math.round(payloads)}/s\n`;
  return text;
}

/** What each of the two further hops adds. */
function addedText(measured: ReadonlyMap<string, FabricFigures>): string {
  let text = '';
  for (const maker of new Set([...measured.keys()].map((of) => of.slice(0, -2)))) {
    const [one, three] = [measured.get(`${maker} 1`), measured.get(`${maker} 3`)];
    if (one === undefined || three === undefined) continue;
    const added = (field: 'p50Us' | 'p99Us'): number =>
      Math.round((three[field].median - one[field].median) / 2);
    text += `  added per hop, ${maker.padEnd(12)} p50 ${added('p50Us')} µs, p99 ${added('p99Us')} µs\n`;
  }
  return text;
}

function goalsText(results: FabricResults): string {
  let text = '\ngoals\n';
  for (const { name, unit, limit, sense, value } of FABRIC_GOALS) {
    const measured = value(results);
    if (measured === undefined) continue;
    const isReached = sense === 'least' ? measured >= limit : measured <= limit;
    const wanted = `${sense === 'least' ? '≥' : '≤'} ${limit} ${unit}`;
    const shown = measured >= 100 ? String(Math.round(measured)) : measured.toFixed(2);
    text += `  ${name.padEnd(72)} ${wanted.padStart(14)}  ${shown.padStart(8)} ${isReached ? 'reached' : 'MISSED'}\n`;
  }
  return text;
}

process.exitCode = await main();
