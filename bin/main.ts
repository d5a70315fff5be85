/**
 * Runs what was bundled from `program.ts`, or `program.ts` itself where nothing current was. The large programs run as one
 * script, with the code of an earlier run; others are modules, of which they load what they need. ADR 0054.
 */
import { existsSync } from 'node:fs';
import process from 'node:process';
import { currentBundle } from './program-bundle.ts';

interface Program {
  runCommand(args: readonly string[]): Promise<number>;
}

/** By the first word of their commands. */
const LARGE_PROGRAMS = ['control', 'gateway', 'router', 'up'];

/** Ends the process with the exit status of the command. */
export async function main(): Promise<never> {
  const args = process.argv.slice(2);
  if (args[0] === 'dev') process.exit(await runDevelopmentCommand(args.slice(1)));
  const { runCommand } = await loadProgram(args[0]);
  process.exit(await runCommand(args));
}

async function loadProgram(name: string | undefined): Promise<Program> {
  const bundle = currentBundle();
  if (bundle === undefined) return import('./program.ts');
  if (name === undefined || !LARGE_PROGRAMS.includes(name))
    return import(bundle.moduleUrl) as Promise<Program>;
  const { runScript } = await import('./bundle-script.ts');
  return runScript(bundle.script, name).exports as Program;
}

async function runDevelopmentCommand(args: readonly string[]): Promise<number> {
  if (!existsSync(new URL('dev.ts', import.meta.url))) {
    process.stderr.write('frontdoor dev: development commands need a clone of the repository\n');
    return 69;
  }
  await import('./launcher-pipe.ts');
  const { runDev } = await import('./dev.ts');
  return runDev(args);
}
