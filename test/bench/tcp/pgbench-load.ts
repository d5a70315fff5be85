/** `pgbench --select-only` at a PostgreSQL of the run: one transaction after the other over each connection. */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { startProcess } from '../../support/child-process.ts';
import { POSTGRES_PASSWORD, startPostgres } from '../../support/postgres.ts';
import type { BenchRun, Sample } from '../bench-run.ts';
import { latencyOf } from '../figure.ts';

/** The time that pgbench takes starts before it connects; its rate is of the time after that. */
const CONNECT_SECONDS = 1;

export interface Pgbench {
  /** Port of the server. */
  readonly port: number;
  /** Through the door of a target to the server. */
  load(port: number, clients: number, seconds: number): Promise<Sample>;
}

/** Its server ends with the run, or with the part of it. */
export async function startPgbench(run: BenchRun): Promise<Pgbench> {
  const server = await startPostgres();
  run.defer(async () => {
    await server.stop();
    server.destroy();
  });
  const url = new URL(await server.createDatabase());
  const database = url.pathname.slice(1);
  const pgbench = async (port: number, ...args: string[]): Promise<string> => {
    const where = ['-h', '127.0.0.1', '-p', String(port), '-U', url.username, database];
    const env = { PGPASSWORD: POSTGRES_PASSWORD };
    const program = startProcess(server.programPath('pgbench'), [...args, ...where], env);
    const [status] = (await once(program.child, 'close')) as [number | null];
    if (status !== 0) throw new Error(`pgbench failed: ${program.tail()}`);
    return program.tail();
  };
  await pgbench(server.port, '--initialize', '--quiet');
  return {
    port: server.port,
    load: async (port, clients, seconds) => {
      const folder = mkdtempSync(join(run.folder, 'pgbench-'));
      const log = ['--log', `--log-prefix=${join(folder, 'log')}`];
      const time = ['-c', `${clients}`, '-T', `${seconds + CONNECT_SECONDS}`];
      const text = await pgbench(port, '--select-only', '-n', ...log, ...time);
      const latencies = readdirSync(folder)
        .flatMap((name) => readFileSync(join(folder, name), 'latin1').trimEnd().split('\n'))
        // The third field is the time of the transaction in microseconds.
        .map((line) => Number(line.split(' ')[2]));
      const perSecond = Number(/^tps = ([\d.]+)/m.exec(text)?.[1]);
      if (!(perSecond > 0)) throw new Error(`pgbench made no transactions: ${text}`);
      return { units: latencies.length, perSecond, ...latencyOf(latencies) };
    },
  };
}
