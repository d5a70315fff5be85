/**
 * `npm run fuzz -- api|frames`: hostile requests to the Management API of a running control plane, by our own
 * generator and by schemathesis; or mutated frames at every listener of a running mesh. Prints the seed; the exit
 * status is 0 when nothing was found.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { fuzzApi } from './api-fuzz.ts';
import { fuzzFrames, reportOf, WORKERS } from './frames/frame-fuzz.ts';
import { startFrameFuzzMesh } from './frames/frame-fuzz-mesh.ts';
import { startFuzzServer, type FuzzServer } from './fuzz-server.ts';
import { runSchemathesis } from './schemathesis.ts';

/** A bad peer is closed within 5 s; the rest is for the machine. */
const CLOSE_MS = 6_000;
const USAGE = `usage: npm run fuzz -- api [--seed N] [--examples N] [--runs N]
       npm run fuzz -- frames [--seed N] [--frames N]
  --seed N      repeats a run
  --examples N  cases that schemathesis makes for each operation (100)
  --runs N      requests that our own generator makes for each operation (500)
  --frames N    frames over all listeners, before and after hello (1000000)
`;

interface FuzzArguments {
  readonly seed: number;
  readonly examples: number;
  readonly runs: number;
  readonly frames: number;
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seed: { type: 'string', default: String(randomInt(2 ** 31)) },
      examples: { type: 'string', default: '100' },
      runs: { type: 'string', default: '500' },
      frames: { type: 'string', default: '1000000' },
    },
  });
  const [seed, examples, runs, frames] = [values.seed, values.examples, values.runs, values.frames].map(
    Number,
  ) as [number, number, number, number];
  const isNumbers = [seed, examples, runs, frames].every((value) => Number.isInteger(value) && value >= 0);
  const fuzz =
    positionals.length === 1 ? { api: fuzzRequests, frames: fuzzMesh }[positionals[0]!] : undefined;
  if (fuzz === undefined || !isNumbers) {
    process.stderr.write(USAGE);
    return 2;
  }
  console.log(`seed ${seed}`);
  return (await fuzz({ seed, examples, runs, frames })) ? 0 : 1;
}

async function fuzzRequests({ seed, examples, runs }: FuzzArguments): Promise<boolean> {
  const server = await startFuzzServer();
  try {
    const isOwnClean = await fuzzOurselves(server, seed, runs);
    const isTheirsClean = examples === 0 || (await runSchemathesis(server, { seed, examples }));
    const failures = server.errors.splice(0);
    for (const failure of failures) console.log(`logged as a failure of Frontdoor: ${failure}`);
    return isOwnClean && isTheirsClean && failures.length === 0;
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

async function fuzzMesh({ seed, frames }: FuzzArguments): Promise<boolean> {
  const mesh = await startFrameFuzzMesh(WORKERS);
  try {
    const result = await fuzzFrames(mesh, {
      seed,
      frames,
      patienceMs: CLOSE_MS,
      onProgress: (text) => console.log(text),
    });
    console.log(reportOf(result));
    return result.findings.length === 0;
  } finally {
    await mesh.stop();
  }
}

process.exitCode = await main(process.argv.slice(2));
