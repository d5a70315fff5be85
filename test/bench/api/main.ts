// The Management API's benchmark: `npm run bench:api`. Needs wrk; PostgreSQL and nginx where they are there. Run it on
// a quiet machine, and compare ratios of one run only.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '#base';
import { figureOf, interleave } from '../figure.ts';
import type { WrkResult } from '../wrk-load.ts';
import { API_GOALS } from './api-goal-table.ts';
import { ApiLoad, type ApiRequest } from './api-load.ts';
import { HELLO, type ApiFigures, type ApiResults } from './api-result.ts';
import { API_SCENARIOS } from './api-scenario-table.ts';
import { startApiServer, startHello, type ApiServer } from './api-server.ts';
import { measureGatewayUnderWrites } from './gateway-under-writes.ts';
import { openBenchPostgres } from './bench-postgres.ts';

interface Options {
  readonly rounds: number;
  readonly seconds: number;
  readonly providers: readonly [number, number];
  readonly cpuProfileDir: string | undefined;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      'cpu-profile': { type: 'string' },
    },
  });
  const options: Options = {
    rounds: Number(values.rounds ?? (values.quick ? 2 : 5)),
    seconds: Number(values.seconds ?? (values.quick ? 1 : 3)),
    providers: values.quick ? [10_000, 20_000] : [10_000, 100_000],
    cpuProfileDir: values['cpu-profile'],
  };
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-bench-api-'));
  const closers: (() => Promise<void>)[] = [];
  const tell = (text: string): void => void process.stdout.write(`… ${text}\n`);
  try {
    const results = await measureAll(options, folder, closers, tell);
    process.stdout.write(reportText(results));
    for (const close of closers.splice(0).reverse()) await close();
    const gateway = await measureGatewayUnderWrites(folder, options, tell);
    process.stdout.write(goalsText(results, gateway));
    return 0;
  } catch (error) {
    process.stderr.write(`bench:api: ${messageOf(error)}\n`);
    return 1;
  } finally {
    for (const close of closers.reverse()) await close().catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureAll(
  options: Options,
  folder: string,
  closers: (() => Promise<void>)[],
  tell: (text: string) => void,
): Promise<ApiResults> {
  const { rounds, seconds, providers, cpuProfileDir } = options;
  const hello = await startHello();
  closers.push(() => hello.stop());
  const servers: ApiServer[] = [];
  const start = async (name: string, database?: string): Promise<void> => {
    tell(`filling and starting: ${name}`);
    const server = await startApiServer({
      name,
      folder,
      providers,
      cpuProfileDir,
      ...(database === undefined ? {} : { database }),
    });
    closers.push(() => server.stop());
    servers.push(server);
  };
  await start('embedded');
  const postgres = await openBenchPostgres();
  if (postgres === undefined) tell('not measured: PostgreSQL is not there');
  else {
    closers.push(() => postgres.close());
    await start('postgresql', postgres.url);
  }
  const load = new ApiLoad(folder);
  const results = new Map<string, Map<string, ApiFigures>>();
  for (const { name, connections, request } of API_SCENARIOS) {
    tell(name);
    const targets = new Map<string, ApiRequest>([
      [HELLO, { port: hello.port, method: 'GET', path: '/', headers: {} }],
      ...servers.map((server) => [server.name, request(server)] as const),
    ]);
    for (const target of targets.values()) await load.run(target, seconds, connections);
    const rows = await interleave([...targets.keys()], rounds, (target) =>
      load.run(targets.get(target)!, seconds, connections),
    );
    results.set(name, new Map([...rows].map(([target, samples]) => [target, figuresOf(samples)])));
  }
  return results;
}

function figuresOf(samples: readonly WrkResult[]): ApiFigures {
  return {
    rate: figureOf(samples.map(({ requestsPerSecond }) => requestsPerSecond)),
    p99Us: figureOf(samples.map(({ p99Us }) => p99Us)),
  };
}

function reportText(results: ApiResults): string {
  let text = '';
  for (const [scenario, targets] of results) {
    text += `\n${scenario}\n`;
    const hello = targets.get(HELLO)!.rate.median;
    for (const [target, { rate, p99Us }] of targets) {
      const range = `${Math.round(rate.min)} to ${Math.round(rate.max)}`;
      text += `  ${target.padEnd(14)} ${String(Math.round(rate.median)).padStart(7)}/s (${range})  ${(rate.median / hello).toFixed(2)} ×  p99 ${(p99Us.median / 1000).toFixed(2)} ms\n`;
    }
  }
  return text;
}

function goalsText(results: ApiResults, gatewayP99Ratio: number | undefined): string {
  let text = '\ngoals\n';
  for (const { name, unit, limit, sense, value } of API_GOALS) {
    const measured = value(results, gatewayP99Ratio);
    if (measured === undefined) continue;
    const isReached = sense === 'least' ? measured >= limit : measured <= limit;
    const wanted = `${sense === 'least' ? '≥' : '≤'} ${limit} ${unit}`;
    const shown = measured >= 100 ? String(Math.round(measured)) : measured.toFixed(2);
    text += `  ${name.padEnd(52)} ${wanted.padStart(10)}  ${shown.padStart(8)} ${unit.padEnd(2)} ${isReached ? 'reached' : 'MISSED'}\n`;
  }
  return text;
}

process.exitCode = await main();
