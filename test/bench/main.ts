// The entry point of all benchmarks: `npm run bench`, `bench:api`, `bench:edge`, `bench:fabric`, `bench:gateway`, `bench:tcp`; the first
// argument is that name. Run them on a quiet machine, and compare ratios of one run only.
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleProgram } from '../../bin/bundle-program.ts';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { parseBenchOptions, usageOf } from './bench-options.ts';
import { compareText, reportText } from './bench-report.ts';
import { loadResult, saveResult } from './bench-result.ts';
import { BenchRun, causesOf } from './bench-run.ts';
import type { Benchmark } from './benchmark.ts';
import { startScript } from './script-process.ts';

/** Each loads only what it measures with. */
const BENCHMARKS: Readonly<Record<string, () => Promise<Benchmark>>> = {
  bench: async () => (await import('./product-benchmark.ts')).PRODUCT_BENCHMARK,
  'bench:api': async () => (await import('./api/api-benchmark.ts')).API_BENCHMARK,
  'bench:edge': async () => (await import('./edge/edge-benchmark.ts')).EDGE_BENCHMARK,
  'bench:fabric': async () => (await import('./fabric/fabric-benchmark.ts')).FABRIC_BENCHMARK,
  'bench:tcp': async () => (await import('./tcp/tcp-benchmark.ts')).TCP_BENCHMARK,
  'bench:gateway': async () => (await import('./gateway/gateway-benchmark.ts')).GATEWAY_BENCHMARK,
};

async function main(name = '', args: readonly string[] = []): Promise<number> {
  const benchmark = await BENCHMARKS[name]?.();
  if (benchmark === undefined) {
    process.stderr.write(`usage: npm run ${Object.keys(BENCHMARKS).join('|')} -- [OPTIONS]\n`);
    return 2;
  }
  const options = parseBenchOptions(benchmark, args);
  if ('problem' in options) {
    process.stderr.write(`${benchmark.name}: ${options.problem}\n${usageOf(benchmark)}`);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-bench-'));
  const report = (text: string): void => void process.stdout.write(`… ${text}\n`);
  const run = new BenchRun(options, folder, benchmark.warmUpRounds, report);
  try {
    if (options.compare !== undefined) {
      const [older, newer] = options.compare.map((path) => loadResult(path, benchmark.name));
      process.stdout.write(compareText(benchmark.reference, older!, newer!));
      return 0;
    }
    // Programs run as they do after an installation.
    delete process.env['FRONTDOOR_FROM_SOURCES'];
    await bundleProgram(repositoryRoot);
    if (options.isBusy) await startOtherLoad(run);
    const reason = benchmark.skip?.() ?? false;
    if (reason !== false) run.skip('all of it', reason);
    try {
      if (reason === false) await benchmark.measure(run);
    } finally {
      // A failure at the end loses nothing of what was measured before.
      const measured = run.result(benchmark.name);
      process.stdout.write(`${reportText(benchmark, measured)}saved as ${saveResult(measured)}\n`);
    }
    const result = run.result(benchmark.name);
    // A goal that nobody measured is not a goal reached; with --scenario most are left out on purpose.
    const goals = Object.values(benchmark.goals(result)).flat();
    const isWhole = goals.every((goal) => goal.value(result) !== undefined);
    return isWhole || options.only !== undefined || benchmark.needsAllGoals !== true ? 0 : 1;
  } catch (error) {
    const [message, ...causes] = causesOf(error);
    process.stderr.write(`${benchmark.name}: ${message}\n`);
    for (const cause of causes) process.stderr.write(`  because: ${cause}\n`);
    return 1;
  } finally {
    await run.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One process for each core. */
async function startOtherLoad(run: BenchRun): Promise<void> {
  for (let core = 0; core < availableParallelism(); core += 1)
    run.keep(await startScript('other-load-process.ts'));
}

const [name, ...args] = process.argv.slice(2);
process.exitCode = await main(name, args);
