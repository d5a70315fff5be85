/**
 * Which program serves a data directory, and where it listens: `running.json`. Commands on the same machine find it there.
 * The note locks nothing (the database has its own lock), and one whose process has ended counts as absent.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { FrontdoorError } from '#base';
import { runningProgramShape, type RunningProgram } from '#domain/agent-shapes';
import { writeFileDurably } from './durable-file.ts';
import { isRunning, processStart } from './process-identity.ts';

const FILE = 'running.json';

export interface RunningMark {
  /** Removes the note, unless another program has replaced it. */
  remove(): void;
}

/** Returns undefined if no program serves the directory, or if its processes cannot be seen from here, as from a container. */
export function findRunningProgram(dataDir: string): RunningProgram | undefined {
  const noted = readNote(dataDir);
  return noted !== undefined && isRunning(noted) ? noted : undefined;
}

/** Notes this process as the one that serves the directory. */
export async function noteRunningProgram(
  dataDir: string,
  noted: Omit<RunningProgram, 'pid' | 'start' | 'startedAtMs'>,
): Promise<RunningMark> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const { pid } = process;
  const start = processStart(pid) ?? '';
  const note = runningProgramShape.numbered({ ...noted, pid, start, startedAtMs: Date.now() });
  // A full disk keeps no program from serving. Commands do not find it by itself then.
  await writeFileDurably(join(dataDir, FILE), `${JSON.stringify(note, null, 2)}\n`, 0o600).catch(() => {});
  return {
    remove: () => {
      if (readNote(dataDir)?.pid === pid) rmSync(join(dataDir, FILE), { force: true });
    },
  };
}

/** Throws `conflict` if a program serves the directory. */
export function refuseSecondProgram(dataDir: string): void {
  const running = findRunningProgram(dataDir);
  if (running !== undefined) throw secondProgram(dataDir, running);
}

export function secondProgram(dataDir: string, { program, pid }: RunningProgram): FrontdoorError {
  const message =
    `another frontdoor (${program}, process ${pid}) runs on ${dataDir}: ` +
    'stop it, or choose another directory with --data-dir';
  return new FrontdoorError('conflict', 'directory-in-use', message);
}

function readNote(dataDir: string): RunningProgram | undefined {
  try {
    const read = runningProgramShape.readText(readFileSync(join(dataDir, FILE), 'utf8'));
    return 'value' in read ? read.value : undefined;
  } catch {
    return undefined;
  }
}
