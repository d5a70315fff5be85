/**
 * `npm run bench:api`: the Management API on both databases beside a bare Fastify, what open streams cost, and the gateway
 * beside its writes. It needs wrk; PostgreSQL and nginx take part where they are installed.
 */
import { startScript } from '../script-process.ts';
import type { BenchRun, Target } from '../bench-run.ts';
import type { Benchmark } from '../benchmark.ts';
import { API_GOALS } from './api-goal-table.ts';
import { ApiLoad, type ApiRequest } from './api-load.ts';
import { API_SCENARIOS } from './api-scenario-table.ts';
import { HELLO, startApiServer, type ApiServer } from './api-server.ts';
import { onEachDatabase } from './bench-control.ts';
import { measureConsoleStreams } from './console-streams.ts';
import { measureGatewayBesideShares } from './gateway-beside-shares.ts';
import { measureGatewayBesideStreams } from './gateway-beside-streams.ts';
import { measureGatewayUnderWrites } from './gateway-under-writes.ts';
import { measureLogInPage } from './log-in-page.ts';
import { measurePasswordGuesses } from './password-guesses.ts';

/** Providers of the first and of the second frontdoor. */
const FULL_PROVIDERS = [10_000, 100_000] as const;
const QUICK_PROVIDERS = [10_000, 20_000] as const;

interface ApiTarget extends Target {
  readonly request: ApiRequest;
}

export const API_BENCHMARK: Benchmark = {
  name: 'bench:api',
  full: { rounds: 5, roundSeconds: 3, singleRounds: 5 },
  quick: { rounds: 2, roundSeconds: 1, singleRounds: 2 },
  warmUpRounds: 1,
  reference: () => HELLO,
  goals: () => ({ 'goals (× is a ratio of medians)': API_GOALS }),
  measure,
};

async function measure(run: BenchRun): Promise<void> {
  if (API_SCENARIOS.some(({ name }) => run.wants(name))) await measureServers(run);
  // The servers end first: they would take from what the gateway gets.
  await run.close();
  await measureConsoleStreams(run);
  await run.close();
  await measureLogInPage(run);
  await run.close();
  await measurePasswordGuesses(run);
  await run.close();
  await measureGatewayBesideStreams(run);
  await run.close();
  await measureGatewayUnderWrites(run);
  await run.close();
  await measureGatewayBesideShares(run);
}

async function measureServers(run: BenchRun): Promise<void> {
  const hello = await startScript('api/hello-server.ts');
  run.defer(() => hello.stop());
  const servers: ApiServer[] = [];
  const start = async (name: string, url?: string) => void servers.push(await startServer(run, name, url));
  await onEachDatabase(run, (name) => name, start);
  const load = new ApiLoad(run.folder);
  const helloTarget: ApiTarget = {
    name: HELLO,
    processes: new Map([['fastify', hello.pid]]),
    request: { port: Number(hello.line), method: 'GET', path: '/', headers: {} },
  };
  for (const { name, connections, request } of API_SCENARIOS) {
    const targets = servers.map((server) => ({ ...server, request: request(server) }));
    await run.measure(name, 'request', [helloTarget, ...targets], async (target, seconds, metered) => {
      const { requests, requestsPerSecond, p50Us, p99Us } = await metered(() =>
        load.run(target.request, seconds, connections),
      );
      return { units: requests, perSecond: requestsPerSecond, p50Us, p99Us };
    });
  }
}

async function startServer(run: BenchRun, name: string, database?: string): Promise<ApiServer> {
  run.report(`filling and starting: ${name}`);
  const server = await startApiServer({
    name,
    folder: run.folder,
    database,
    providers: run.options.isQuick ? QUICK_PROVIDERS : FULL_PROVIDERS,
    cpuProfileDir: run.options.cpuProfileDir,
  });
  run.defer(() => server.stop());
  return server;
}
