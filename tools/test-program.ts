/**
 * The bundle that programs run from in a run of a whole tier, as those of users do (ADR 0046), and the console. A start from the
 * bundle takes 0.4 s of CPU less than one from the sources.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pinnedEnvironment, repositoryRoot } from './pinned-process.ts';

/**
 * Builds both, unless they are current, and resolves to the environment variables that have programs run from the bundle. Where
 * that fails, which is printed, programs run from their sources.
 */
export async function bundleForTests(): Promise<Readonly<Record<string, string>>> {
  const environment = { FRONTDOOR_FROM_SOURCES: '' };
  try {
    await promisify(execFile)(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(repositoryRoot, 'bin/frontdoor.ts'), 'dev', 'build'],
      { env: { ...pinnedEnvironment(), ...environment } },
    );
    return environment;
  } catch (error) {
    process.stdout.write(`test: programs run from their sources: ${String(error)}\n`);
    return {};
  }
}
