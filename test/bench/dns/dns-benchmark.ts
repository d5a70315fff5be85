/**
 * `npm run bench:dns`: the name server of mode tproxy beside dnsmasq: names that both know, and names that both forward to
 * a third name server without a cache. It needs dnsmasq and dnsperf from PATH.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeFlags } from '../../../bin/node-flags.js';
import { findCommand, freePort, startProcess } from '../bench-process.ts';
import type { BenchRun, Sampler, Target } from '../bench-run.ts';
import type { Benchmark } from '../benchmark.ts';
import { between, least, most } from '../goal.ts';
import { startScript } from '../script-process.ts';
import { DNSPERF, runDnsperf } from './dnsperf-load.ts';
import type { NameServerArguments } from './name-server-process.ts';

const DNSMASQ = 'dnsmasq';
const OURS = 'frontdoor';
/** Each name is one of a service, below a domain that is a wildcard for both. */
const OWN_DOMAIN = 'own.test';
const OTHER_DOMAIN = 'other.test';
const NAMES = 500;
const KNOWN = 'names of services';
const FORWARDED = 'other names, forwarded';
/** Latencies count at a rate that both can answer, also on a machine that does other things. */
const PACES: Readonly<Record<string, number>> = { [KNOWN]: 10_000, [FORWARDED]: 5_000 };

interface NameServerTarget extends Target {
  readonly port: number;
}

const pacedName = (scenario: string): string => `${scenario}, ${PACES[scenario]} a second`;

export const DNS_BENCHMARK: Benchmark = {
  name: 'bench:dns',
  full: { rounds: 7, roundSeconds: 3, singleRounds: 7 },
  quick: { rounds: 3, roundSeconds: 1, singleRounds: 1 },
  warmUpRounds: 1,
  reference: () => DNSMASQ,
  goals: () => ({
    'goals beside dnsmasq (× is a ratio of medians)': [KNOWN, FORWARDED].flatMap((scenario) => [
      least(`${scenario}: answers a second`, '×', 0.5, between(scenario, OURS, DNSMASQ)),
      most(`${pacedName(scenario)}: p99`, '×', 2, between(pacedName(scenario), OURS, DNSMASQ, 'p99Us')),
    ]),
  }),
  skip: () => {
    const missing = [DNSMASQ, DNSPERF].find((command) => findCommand(command) === undefined);
    return missing !== undefined && `${missing} is not installed`;
  },
  measure,
};

async function measure(run: BenchRun): Promise<void> {
  const upstream = await startDnsmasq(run, [`--address=/${OTHER_DOMAIN}/192.0.2.1`]);
  const knowing = [
    `--address=/${OWN_DOMAIN}/100.64.0.2`,
    '--cache-size=0',
    `--server=127.0.0.1#${upstream.port}`,
  ];
  const targets = [await startOurs(run, upstream.port), await startDnsmasq(run, knowing)];
  for (const [scenario, domain] of [
    [KNOWN, OWN_DOMAIN],
    [FORWARDED, OTHER_DOMAIN],
  ] as const) {
    const queries = queryFile(run, domain);
    await run.measure(scenario, 'request', targets, queriesTo(queries));
    await run.measure(pacedName(scenario), 'request', targets, queriesTo(queries, PACES[scenario]));
  }
}

function queriesTo(queries: string, rate?: number): Sampler<NameServerTarget> {
  return ({ port }, seconds, metered) => metered(() => runDnsperf({ port, queries, seconds, rate }));
}

function namesOf(domain: string): string[] {
  return Array.from({ length: NAMES }, (_, index) => `host-${index}.${domain}`);
}

function queryFile(run: BenchRun, domain: string): string {
  const path = join(run.folder, `${domain}.queries`);
  const lines = namesOf(domain).map((name) => `${name} A\n`);
  writeFileSync(path, lines.join(''));
  return path;
}

async function startOurs(run: BenchRun, upstreamPort: number): Promise<NameServerTarget> {
  const options: NameServerArguments = { folder: run.folder, names: namesOf(OWN_DOMAIN), upstreamPort };
  const { line, pid } = run.keep(
    await startScript('dns/name-server-process.ts', options, nodeFlags('router')),
  );
  return { name: OURS, port: Number(line), processes: new Map([[OURS, pid]]) };
}

async function startDnsmasq(run: BenchRun, options: readonly string[]): Promise<NameServerTarget> {
  const port = await freePort();
  const address = ['--listen-address=127.0.0.1', '--bind-interfaces', `--port=${port}`];
  const isolation = [
    '--keep-in-foreground',
    '--conf-file=/dev/null',
    '--no-resolv',
    '--no-hosts',
    '--pid-file=',
  ];
  const { child } = run.keep(startProcess(findCommand(DNSMASQ)!, [...isolation, ...address, ...options]));
  return { name: DNSMASQ, port, processes: new Map([[DNSMASQ, child.pid!]]) };
}
