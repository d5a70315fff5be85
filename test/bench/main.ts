// The benchmark's entry point: `npm run bench`. Needs wrk and nginx in PATH and about five minutes; run it on a quiet
// machine, and compare ratios of one run only.
import { WARM_UP_ROUNDS } from './scenario.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '#base';
import { parseBenchOptions, USAGE } from './bench-options.ts';
import { compareText, goalText, scenarioText, shapeText } from './bench-report.ts';
import { loadResult, saveResult } from './bench-result.ts';
import { runBench } from './bench-run.ts';

async function main(args: readonly string[]): Promise<number> {
  const options = parseBenchOptions(args);
  if ('problem' in options) {
    process.stderr.write(`bench: ${options.problem}\n${USAGE}`);
    return 2;
  }
  if (options.compare !== undefined) {
    process.stdout.write(compareText(loadResult(options.compare[0]), loadResult(options.compare[1])));
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-bench-'));
  try {
    const result = await runBench(options, folder, (text) => process.stdout.write(`… ${text}\n`));
    const { cpus, model, kernel, node } = result.machine;
    process.stdout.write(`\n${cpus} × ${model}, Linux ${kernel}, Node ${node}\n`);
    process.stdout.write(
      `${result.rounds} interleaved rounds of ${result.roundSeconds} s, each target warmed up for ${WARM_UP_ROUNDS} rounds: median (least to most)\n`,
    );
    for (const [name, targets] of Object.entries(result.scenarios))
      process.stdout.write(scenarioText(name, targets));
    process.stdout.write(shapeText(result));
    for (const shape of options.shapes) process.stdout.write(goalText(result, shape));
    const { requests, unique } = result.checked;
    process.stdout.write(
      `\n${requests} answers compared byte by byte, ${unique} of them unique; all were right\n`,
    );
    if (result.skipped.length > 0) process.stdout.write(`not measured: ${result.skipped.join(', ')}\n`);
    process.stdout.write(`saved as ${saveResult(result)}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`bench: ${messageOf(error)}\n`);
    for (let cause = (error as Error).cause; cause !== undefined; cause = (cause as Error).cause) {
      process.stderr.write(`  because: ${messageOf(cause)}\n`);
    }
    return 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main(process.argv.slice(2));
