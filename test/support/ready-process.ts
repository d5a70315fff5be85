/** Starts `frontdoor …` as a user does, and waits for its ready file. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { startProcess, untilReady, type Running } from './child-process.ts';

const LAUNCHER = join(repositoryRoot, 'bin/frontdoor.js');
const START_DEADLINE_MS = 120_000;

export interface ReadyOptions {
  readonly args: readonly string[];
  readonly readyFile: string;
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly cpuProfileDir?: string | undefined;
}

/** The arguments of a Node process that make a CPU profile, if one is wanted. */
export function profileArguments(cpuProfileDir: string | undefined): string[] {
  return cpuProfileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProfileDir}`];
}

/** Rejects with the last lines that it printed when it ends before it is ready. */
export async function startReady<Ready>({
  args,
  readyFile,
  env,
  cpuProfileDir,
}: ReadyOptions): Promise<{ readonly running: Running; readonly ready: Ready }> {
  rmSync(readyFile, { force: true });
  const profile = profileArguments(cpuProfileDir).join(' ');
  const profiling = profile === '' ? {} : { FRONTDOOR_NODE_OPTIONS: profile, NODE_OPTIONS: profile };
  const all = [LAUNCHER, ...args, '--ready-file', readyFile];
  const running = startProcess(process.execPath, all, { ...profiling, ...env });
  try {
    const what = `the ready file of frontdoor ${args[0]}`;
    const read = () => JSON.parse(readFileSync(readyFile, 'utf8')) as Ready;
    return { running, ready: await untilReady(what, running, START_DEADLINE_MS, read) };
  } catch (error) {
    await running.stop('SIGINT', 8_000);
    throw new Error(`frontdoor ${args[0]} did not get ready: ${running.tail()}`, { cause: error });
  }
}
