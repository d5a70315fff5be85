/** The program's entry: runs what was bundled from `program.ts`, or `program.ts` itself where nothing current was. ADR 0046. */
import { existsSync } from 'node:fs';
import process from 'node:process';
import { currentBundle } from './program-bundle.ts';

interface Program {
  runCommand(args: readonly string[]): Promise<number>;
}

async function run(args: readonly string[]): Promise<number> {
  if (args[0] === 'dev') return runDevelopmentCommand(args.slice(1));
  const bundle = currentBundle();
  const { runCommand } = await (bundle === undefined
    ? import('./program.ts')
    : (import(bundle) as Promise<Program>));
  return runCommand(args);
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

/** A pipe may still hold output that its reader has not taken; an exit now would lose it. */
function untilRead(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}

/** As process 1 of a container, a program that handles no signal cannot be stopped by one: neither a command, nor a start. */
const END_STATUS = { SIGINT: 130, SIGTERM: 143 };
if (process.pid === 1)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(END_STATUS[signal]);
    });

const status = await run(process.argv.slice(2));
await Promise.all([untilRead(process.stdout), untilRead(process.stderr)]);
process.exit(status);
