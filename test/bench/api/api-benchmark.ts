/**
 * `npm run bench:api`: the Management API on both databases beside a bare Fastify, and the gateway beside its writes. It needs wrk; PostgreSQL and nginx take part where they are installed.
 */
import type { BenchRun, Target } from '../bench-run.ts';
import type { Benchmark } from '../benchmark.ts';
import { startScript } from '../script-process.ts';
import { Wrk } from '../wrk-load.ts';
import { API_GOALS } from './api-goal-table.ts';
import { API_SCENARIOS, type ApiRequest } from './api-scenario-table.ts';
import { HELLO, startApiServer, type ApiServer } from './api-server.ts';
import { onEachDatabase } from './bench-control.ts';
import { measureGatewayUnderWrites } from './gateway-under-writes.ts';

interface ApiTarget extends Target {
  readonly url: string;
  readonly request: ApiRequest;
}

export const API_BENCHMARK: Benchmark = {
  name: 'bench:api',
  full: { rounds: 5, roundSeconds: 3, singleRounds: 5 },
  quick: { rounds: 2, roundSeconds: 1, singleRounds: 2 },
  warmUpRounds: 1,
  reference: () => HELLO,
  goals: () => ({ 'goals (× is a ratio of medians)': API_GOALS }),
  measure: async (run) => {
    // What it has started ends, because that would take from what the next one measures.
    await run.part(() => measureServers(run));
    await measureGatewayUnderWrites(run);
  },
};

async function measureServers(run: BenchRun): Promise<void> {
  if (!API_SCENARIOS.some(({ name }) => run.wants(name))) return;
  const hello = run.keep(await startScript('api/hello-server.ts'));
  const helloTarget: ApiTarget = {
    name: HELLO,
    processes: new Map([['fastify', hello.pid]]),
    url: `http://127.0.0.1:${hello.line}`,
    request: { path: '/', headers: {} },
  };
  const servers: ApiServer[] = [];
  const start = async (name: string, database?: string) =>
    void servers.push(await startApiServer(run, name, database));
  await onEachDatabase(run, (name) => name, start);
  const wrk = new Wrk(run.folder);
  for (const { name, connections, request } of API_SCENARIOS) {
    const targets = servers.map((server): ApiTarget => ({ ...server, request: request(server) }));
    await run.measure(name, 'request', [helloTarget, ...targets], (target, seconds, metered) => {
      const { host, port } = new URL(target.url);
      const { headers, ...load } = target.request;
      const door = { host, port: Number(port), headers };
      return metered(() => wrk.run(door, { ...load, connections }, seconds));
    });
  }
}
