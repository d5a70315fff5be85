/**
 * The bundle that programs run from in a run of a whole tier, as those of users do (ADR 0046). A
 * start from it takes 0.4 s of CPU less than one from the sources.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pinnedEnvironment, repositoryRoot } from './pinned-process.ts';

/**
 * Makes the bundle, unless there is a current one, and resolves to the environment variables that have programs run from it.
 * Where it cannot be made, which is printed, programs run from their sources.
 */
export async function bundleForTests(): Promise<Readonly<Record<string, string>>> {
  const environment = { FRONTDOOR_FROM_SOURCES: '' };
  try {
    await promisify(execFile)(process.execPath, [join(repositoryRoot, 'bin/bundle-program.ts')], {
      env: { ...pinnedEnvironment(), ...environment },
    });
    return environment;
  } catch (error) {
    process.stdout.write(`test: programs run from their sources: ${String(error)}\n`);
    return {};
  }
}
