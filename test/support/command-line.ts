/**
 * Command lines of the product that run in the process of the test, so that none of them pays for the start of a program.
 * `runCommand` of `part-process.ts` starts one: for tests of commands, and for those that load a part.
 */
import type { ProgramRunners } from '#cli';
import { runCli, type Ran } from '../../src/cli/cli-fixture.ts';

/** Resolves to the output of a command. Rejects with its output when it fails. */
export type CommandRunner = (
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
) => Promise<string>;

/** That of the parts which tests start. */
const VERSION = '0.0.0-test';

/** The commands that need a part of the product, and end by themselves. */
const runners: Partial<ProgramRunners> = {
  adminsCreate: async (options) => {
    const { runAdminsCreate } = await import('../../bin/run-control.ts');
    await runAdminsCreate(options);
  },
  dnsCheck: async (domain, options, io) => {
    const { runDnsCheck } = await import('../../bin/dns-check.ts');
    await runDnsCheck(domain, options, io);
  },
  routerEnroll: async (file, options) => {
    // Most tests enroll no router.
    const { runRouterEnroll } = await import('../../bin/run-router.ts');
    await runRouterEnroll(file, options);
  },
};

/** Resolves to what a command printed, and to its exit status. It has no other environment than `env`. */
export function runCommandLine(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Ran> {
  return runCli(args, env, {}, runners, VERSION);
}

export const callCommand: CommandRunner = async (args, env = {}) => {
  const { out, err, code } = await runCommandLine(args, { ...process.env, ...env });
  if (code === 0) return out;
  throw new Error(`frontdoor ${args.slice(0, 3).join(' ')} failed (${code}): ${err}${out}`);
};
