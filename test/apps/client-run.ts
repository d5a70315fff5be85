/** Runs commands that have to succeed: clients of the shares, and Frontdoor's own command line. */
import { join } from 'node:path';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { run } from '../clients/tool-run.ts';

const FRONTDOOR = join(repositoryRoot, 'bin', 'frontdoor.js');

/** Resolves to its output. Rejects with it when the command fails. */
export async function runClient(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { status, output } = await run(command, args, env);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed with ${status}:\n${output}`);
  return output;
}

export function frontdoor(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return runClient(process.execPath, [FRONTDOOR, ...args], env);
}
