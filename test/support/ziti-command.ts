/**
 * OpenZiti's own program `ziti`, which the environment variable ZITI_BIN names. Commands and long-running
 * processes get a home directory of their own and none of the user's settings.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const COMMAND_MS = 60_000;
const KEPT_CHARS = 200_000;

export interface CommandResult {
  readonly status: number;
  /** The output of both streams. */
  readonly output: string;
}

/** `ZITI_BIN`, undefined when it is not set. */
export function zitiBinary(): string | undefined {
  const path = process.env['ZITI_BIN'] ?? '';
  return path === '' ? undefined : path;
}

/** Our environment without the variables that would lead `ziti` to another network, and with `folder` as its home. */
export function zitiEnvironment(folder: string): NodeJS.ProcessEnv {
  const foreign = Object.keys(process.env).filter((name) => /^(?:ZITI|PFXLOG)_/.test(name));
  return {
    ...process.env,
    ...Object.fromEntries(foreign.map((name) => [name, undefined])),
    HOME: folder,
    ZITI_CONFIG_DIR: folder,
    PFXLOG_NO_JSON: '1',
  };
}

/**
 * Runs one command to its end, by force after a minute; rejects only when it cannot be started or has to be ended.
 * `variables` are settings of the command, such as ZITI_ROUTER_PORT.
 */
export async function runZiti(
  binary: string,
  folder: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const child = spawn(binary, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...zitiEnvironment(folder), ...variables },
    timeout: COMMAND_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-KEPT_CHARS);
    });
  }
  const [status, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  if (status === null) throw new Error(`ziti ${args.slice(0, 3).join(' ')} ended by ${signal}: ${output}`);
  return { status, output };
}
