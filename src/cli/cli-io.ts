/** Where a command writes and how it tells its outcome: the process's own, or in tests something else. */
import { ERROR_KINDS, FrontdoorError, messageOf } from '#base';

export interface CliIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The exit status, once the command is done. */
  exitCode: number;
}

export const processIo: CliIo = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  env: process.env,
  exitCode: 0,
};

/** Runs a command's work; a failure becomes one readable line (or JSON) and the exit status of its kind. */
export async function runCommand(io: CliIo, json: boolean, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { kind, code } =
      error instanceof FrontdoorError ? error : { kind: 'internal' as const, code: 'internal' };
    if (json) io.out(`${JSON.stringify({ error: code, message: messageOf(error) })}\n`);
    else io.err(`frontdoor: ${messageOf(error)}\n`);
    io.exitCode = ERROR_KINDS[kind].exitCode;
  }
}

export function writeJson(io: CliIo, value: unknown): void {
  io.out(`${JSON.stringify(value, null, 2)}\n`);
}
