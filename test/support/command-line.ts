/**
 * Command lines of the product that run in the process of the test, so that none of them pays for the start of a program.
 * `runCommand` of `part-process.ts` starts one: for tests of commands, and for those that load a part.
 */
import { runProgram, type ProgramRunners } from '#cli';

/** Resolves to the output of a command. Rejects with its output when it fails. */
export type CommandRunner = (
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
) => Promise<string>;

const VERSION = '0.0.0-test';

const startsProgram = (): Promise<never> =>
  Promise.reject(new Error('start it by runCommand or PartProcess'));

const runners: ProgramRunners = {
  up: startsProgram,
  control: startsProgram,
  resetAdmin: startsProgram,
  consoleLink: startsProgram,
  adminsCreate: async (options) => {
    const { runAdminsCreate } = await import('../../bin/run-control.ts');
    await runAdminsCreate(options);
  },
  gateway: startsProgram,
  routerRun: startsProgram,
  routerEnroll: async (file, options) => {
    // Most tests enroll no router.
    const { runRouterEnroll } = await import('../../bin/run-router.ts');
    await runRouterEnroll(file, options);
  },
  routerCheck: startsProgram,
  routerSchema: startsProgram,
  restore: startsProgram,
  agentStart: startsProgram,
  tunnelHost: startsProgram,
  tunnelProxy: startsProgram,
};

export const callCommand: CommandRunner = async (args, env = {}) => {
  let [out, err] = ['', ''];
  const io = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    env: { ...process.env, ...env },
    exitCode: 0,
  };
  await runProgram(args, VERSION, io, runners);
  if (io.exitCode === 0) return out;
  throw new Error(`frontdoor ${args.slice(0, 3).join(' ')} failed (${io.exitCode}): ${err}${out}`);
};
