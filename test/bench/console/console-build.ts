/** What a build of the console takes, and whether `frontdoor up` is ready later for it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../../../tools/pinned-process.ts';
import type { BenchRun } from '../bench-run.ts';
import { figureOf, interleave } from '../figure.ts';
import { startUp } from '../product.ts';
import {
  CONSOLE,
  CPU_COLUMN,
  MEMORY_COLUMN,
  READY_COLUMN,
  WITH_CONSOLE,
  WITHOUT_CONSOLE,
} from './console-goal-table.ts';

const PROGRAM = join(repositoryRoot, 'src/control/console-app/build-program.ts');
const USAGE_FILE = join(import.meta.dirname, 'build-usage.ts');
const KIB_PER_MIB = 1_024;

interface BuildUsage {
  readonly cpuSeconds: number;
  readonly peakKib: number;
}

export async function measureBuild(run: BenchRun): Promise<void> {
  if (!run.wants(CONSOLE.build)) return;
  run.report(`measuring: ${CONSOLE.build}`);
  const rounds = await run.repeat(async () => {
    const folder = mkdtempSync(join(run.folder, 'console-build-'));
    const { stdout } = await promisify(execFile)(process.execPath, [USAGE_FILE, PROGRAM, '--folder', folder]);
    rmSync(folder, { recursive: true });
    return JSON.parse(stdout) as BuildUsage;
  });
  run.record(CONSOLE.build, 'build', {
    [CPU_COLUMN]: figureOf(rounds.map(({ cpuSeconds }) => cpuSeconds)).median,
    [MEMORY_COLUMN]: Math.max(...rounds.map(({ peakKib }) => peakKib)) / KIB_PER_MIB,
  });
}

/** With state present, and with a built console, as each start but the first. */
export async function measureStart(run: BenchRun): Promise<void> {
  if (!run.wants(CONSOLE.start)) return;
  run.report(`measuring: ${CONSOLE.start}`);
  const options: Readonly<Record<string, readonly string[]>> = {
    [WITH_CONSOLE]: ['--any-port'],
    [WITHOUT_CONSOLE]: ['--any-port', '--console', 'off'],
  };
  const names = Object.keys(options);
  const start = async (name: string): Promise<number> => {
    const product = await startUp(run, `console-start-${names.indexOf(name)}`, options[name]);
    await product.stop();
    return product.readyMs / 1_000;
  };
  for (const name of names) await start(name);
  const seconds = await interleave(names, run.options.singleRounds, start);
  for (const [name, samples] of seconds) {
    const { median, min, max } = figureOf(samples);
    run.record(CONSOLE.start, name, { [READY_COLUMN]: median, 'the fastest, s': min, 'the slowest, s': max });
  }
}
