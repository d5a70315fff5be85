/** `frontdoor control` as a process, on an empty or a filled database, and a walk over the databases. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FirstStart } from '#control';
import { postgresSkip, startPostgres } from '../../support/postgres.ts';
import type { BenchRun } from '../bench-run.ts';
import { authorizationOf, type ApiAccess } from '../product.ts';
import { startReady } from '../../support/ready-process.ts';

export const EMBEDDED = 'embedded';
export const POSTGRESQL = 'postgresql';

export interface BenchControl extends ApiAccess {
  readonly dataDir: string;
  readonly pid: number;
  /** Its first start has shown them. */
  readonly credentials: FirstStart;
}

interface ReadyFile {
  readonly apiUrl: string;
  readonly pids: { readonly control: number };
}

/**
 * Starts it with what an earlier start left in the folder `name` of the run, and with these options of limits, which are the
 * product's own when absent. `database` is a PostgreSQL URL; undefined: the embedded database. It ends with the run.
 */
export async function startBenchControl(
  run: BenchRun,
  name: string,
  database: string | undefined,
  limits: readonly string[] = [],
): Promise<BenchControl> {
  const dataDir = join(run.folder, name);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const { running, ready } = await startReady<ReadyFile>({
    args: [
      'control',
      '--data-dir',
      dataDir,
      '--api-port',
      '0',
      '--edge-api-port',
      '0',
      '--ctrl-port',
      '0',
      '--log-level',
      'warn',
      ...limits,
    ],
    readyFile: join(dataDir, 'ready.json'),
    env: database === undefined ? {} : { FRONTDOOR_DATABASE: database },
    cpuProfileDir: run.options.cpuProfileDir,
  });
  run.keep(running);
  const credentials = JSON.parse(readFileSync(join(dataDir, 'first-secrets.json'), 'utf8')) as FirstStart;
  return {
    dataDir,
    apiUrl: ready.apiUrl,
    pid: ready.pids.control,
    credentials,
    frontdoorId: credentials.frontdoorId,
    authorization: authorizationOf(credentials),
  };
}

/** Measures on the embedded database, then on PostgreSQL where it is installed. */
export async function onEachDatabase(
  run: BenchRun,
  scenarioOn: (database: string) => string,
  measure: (name: string, url?: string) => Promise<void>,
): Promise<void> {
  await measure(EMBEDDED);
  if (postgresSkip !== false) return run.skip(scenarioOn(POSTGRESQL), 'not installed');
  // It syncs to the disk as in earnest.
  const server = await startPostgres();
  run.defer(async () => {
    await server.stop();
    server.destroy();
  });
  await measure(POSTGRESQL, await server.createDatabase());
}
