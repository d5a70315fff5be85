/**
 * `npm run fuzz -- api`: starts a control plane and fuzzes its Management API, by our own generator and by
 * schemathesis. Prints the seed; the exit status is 0 when nothing was found.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { fuzzApi } from './api-fuzz.ts';
import { startFuzzServer, type FuzzServer } from './fuzz-server.ts';
import { runSchemathesis } from './schemathesis.ts';

const USAGE = `usage: npm run fuzz -- api [--seed N] [--examples N] [--runs N]
  --seed N      repeats a run
  --examples N  cases that schemathesis makes for each operation (100)
  --runs N      requests that our own generator makes for each operation (500)
`;

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seed: { type: 'string', default: String(randomInt(2 ** 31)) },
      examples: { type: 'string', default: '100' },
      runs: { type: 'string', default: '500' },
    },
  });
  const [seed, examples, runs] = [values.seed, values.examples, values.runs].map(Number);
  const isNumbers = [seed, examples, runs].every((value) => Number.isInteger(value) && value! >= 0);
  if (positionals.join() !== 'api' || !isNumbers) {
    process.stderr.write(USAGE);
    return 2;
  }
  console.log(`seed ${seed}`);
  const server = await startFuzzServer();
  try {
    const isOwnClean = await fuzzOurselves(server, seed!, runs!);
    const isTheirsClean =
      examples === 0 || (await runSchemathesis(server, { seed: seed!, examples: examples! }));
    const failures = server.errors.splice(0);
    for (const failure of failures) console.log(`logged as a failure of ours: ${failure}`);
    return isOwnClean && isTheirsClean && failures.length === 0 ? 0 : 1;
  } finally {
    await server.close();
  }
}

async function fuzzOurselves(server: FuzzServer, seed: number, runs: number): Promise<boolean> {
  if (runs === 0) return true;
  const { requests, operations, statuses, findings } = await fuzzApi(server, { seed, runs });
  const byStatus = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  console.log(`own generator: ${requests} requests to ${operations} operations; ${byStatus.join(', ')}`);
  for (const { operation, problem } of findings) console.log(`\n${operation}: ${problem}`);
  console.log(`own generator: ${operations - findings.length} of ${operations} operations without a finding`);
  return findings.length === 0;
}

process.exitCode = await main(process.argv.slice(2));
