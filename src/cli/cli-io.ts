/** The input, output and exit status of a command: those of the process, or substitutes in tests. */
import { ERROR_KINDS, FrontdoorError, lazy, messageOf } from '#base';
import { fileFailure } from './file-failure.ts';

export interface CliIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads all of standard input. Absent if there is no input. Throws `invalid` if the input is too long. */
  readonly input?: () => Promise<string>;
  /** Width of the terminal behind `out`; undefined for a pipe or a file. */
  readonly columns?: number | undefined;
  /** Whether a person can answer prompts. */
  readonly isInteractive?: boolean;
  /** The exit status, valid when the command is done. */
  exitCode: number;
}

/** The limit of the Management API for a body. */
const MAX_INPUT_BYTES = 1_048_576;

export const processIo: CliIo = {
  out: writeOut,
  err: (text) => void process.stderr.write(text),
  env: process.env,
  input: readInput,
  get columns() {
    // A terminal that does not report its width has 0 columns.
    return process.stdout.isTTY && process.stdout.columns > 0 ? process.stdout.columns : undefined;
  },
  get isInteractive() {
    return process.stdin.isTTY && process.stderr.isTTY;
  },
  exitCode: 0,
};

/**
 * Runs a command's work. A failure becomes one readable line, or JSON, on `err`, and the exit status of `statusOf` or else
 * of its kind.
 */
export async function runCommand(
  io: CliIo,
  json: boolean,
  work: () => Promise<void>,
  statusOf: (error: unknown) => number | undefined = () => undefined,
): Promise<void> {
  try {
    await work();
  } catch (cause) {
    const error = fileFailure(cause) ?? cause;
    const { kind, code } =
      error instanceof FrontdoorError ? error : { kind: 'internal' as const, code: 'internal' };
    if (json) io.err(`${JSON.stringify({ error: code, message: messageOf(error) })}\n`);
    else io.err(`frontdoor: ${messageOf(error)}\n`);
    io.exitCode = statusOf(cause) ?? ERROR_KINDS[kind].exitCode;
  }
}

export function writeJson(io: CliIo, value: unknown): void {
  io.out(`${JSON.stringify(value, null, 2)}\n`);
}

const watchedOutput = lazy(() =>
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // `| head` has read enough, which is no failure of the command.
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  }),
);

function writeOut(text: string): void {
  watchedOutput().write(text);
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_INPUT_BYTES) {
      throw new FrontdoorError('tooLarge', 'input', `more than ${MAX_INPUT_BYTES} bytes on standard input`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
