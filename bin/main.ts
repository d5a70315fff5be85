/** Runs what was bundled from `program.ts`, or `program.ts` itself where nothing current was. */
import { existsSync } from 'node:fs';
import process from 'node:process';
import { currentBundle } from './program-bundle.ts';

interface Program {
  runCommand(args: readonly string[]): Promise<number>;
}

/** Resolves to the exit status. */
async function exitStatus(args: readonly string[]): Promise<number> {
  if (args[0] === 'dev') {
    if (!existsSync(new URL('dev.ts', import.meta.url))) {
      process.stderr.write('frontdoor dev: development commands need a clone of the repository\n');
      return 69;
    }
    await import('./launcher-pipe.ts');
    const { runDev } = await import('./dev.ts');
    return runDev(args.slice(1));
  }
  const bundle = currentBundle();
  if (bundle === undefined) (await import('./bundle-later.ts')).bundleLater();
  const { runCommand } = (await import(bundle ?? './program.ts')) as Program;
  return runCommand(args);
}

/** Ends the process with the exit status of the command. */
export async function main(): Promise<never> {
  process.exit(await exitStatus(process.argv.slice(2)));
}
