/** `frontdoor control` as a process, on an empty or a filled database, and a walk over the databases. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Running } from '../bench-process.ts';
import type { BenchRun } from '../bench-run.ts';
import { startReady } from '../ready-process.ts';
import { openBenchPostgres } from './bench-postgres.ts';

export const EMBEDDED = 'embedded';
export const POSTGRESQL = 'postgresql';

interface ReadyFile {
  readonly apiUrl: string;
  readonly pids: { readonly control: number };
}

export interface BenchControl {
  readonly running: Running;
  readonly ready: ReadyFile;
}

export interface BenchControlOptions {
  /** It is made where it is missing. */
  readonly dataDir: string;
  /** A PostgreSQL URL; undefined: the embedded database. */
  readonly database: string | undefined;
  readonly cpuProfileDir?: string | undefined;
  /** Options of limits; none: the product's own. */
  readonly limits?: readonly string[];
}

export function startBenchControl(options: BenchControlOptions): Promise<BenchControl> {
  const { dataDir, database, cpuProfileDir, limits = [] } = options;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return startReady<ReadyFile>({
    args: [
      'control',
      ...['--data-dir', dataDir, '--api-port', '0', '--edge-api-port', '0', '--ctrl-port', '0'],
      ...['--log-level', 'warn', ...limits],
    ],
    readyFile: join(dataDir, 'ready.json'),
    env: database === undefined ? {} : { FRONTDOOR_DATABASE: database },
    cpuProfileDir,
  });
}

/** Measures on the embedded database, then on PostgreSQL where it is installed, each where it is wanted. */
export async function onEachDatabase(
  run: BenchRun,
  scenarioOn: (database: string) => string,
  measure: (name: string, url?: string) => Promise<void>,
  isWanted: (database: string) => boolean = () => true,
): Promise<void> {
  if (isWanted(EMBEDDED)) await measure(EMBEDDED);
  if (!isWanted(POSTGRESQL)) return;
  const postgres = await openBenchPostgres();
  if (postgres === undefined) return run.skip(scenarioOn(POSTGRESQL), 'not installed');
  run.defer(() => postgres.close());
  await measure(POSTGRESQL, postgres.url);
}
