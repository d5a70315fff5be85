/**
 * The whole command line: every command, its help, and its exit status. Commands of the Management API are built
 * only when they are named, which keeps help quick.
 */
import { Command, CommanderError } from 'commander';
import { withoutUserInfo } from '#base';
import { accessCommands } from './access/access-commands.ts';
import { DEFAULT_API_URL } from './access/api-options.ts';
import { adminsCommand, type AdminsRunner } from './admins-command.ts';
import { agentCommand, type AgentStartOptions } from './agent-command.ts';
import { applyCommand } from './apply/apply-command.ts';
import { backupCommands, type RestoreRunner } from './backup-command.ts';
import type { CliIo } from './cli-io.ts';
import { consoleCommand, type ConsoleRunner } from './console-command.ts';
import { completionCommand } from './completion/completion-command.ts';
import { doctorCommand } from './doctor/doctor-command.ts';
import { importCommand } from './import/import-command.ts';
import { logsCommand } from './local/logs-command.ts';
import { healthCommand } from './local/health-command.ts';
import { statusCommand } from './local/status-command.ts';
import { versionCommand, type VersionRunner } from './local/version-command.ts';
import { isNoun, NOUNS, type Noun } from './operations/noun-table.ts';
import { whyCommand } from './operations/why-command.ts';
import { setupCommand } from './setup/setup-command.ts';
import { serverCommands, type ServerRunners } from './server-commands.ts';
import { serviceCommand, type ServiceRunners } from './service-command.ts';
import { tunnelCommand, type TunnelRunners } from './tunnel-command.ts';
import { upgradeCommand } from './upgrade/upgrade-command.ts';
import type { UpgradeRunner } from './upgrade/upgrade-runner.ts';

export interface ProgramRunners
  extends
    ServerRunners,
    ServiceRunners,
    RestoreRunner,
    AdminsRunner,
    ConsoleRunner,
    TunnelRunners,
    UpgradeRunner,
    VersionRunner {
  agentStart(options: AgentStartOptions): Promise<void>;
}

/** The demo's agent uses the same directory, so that `agent share …` needs no option beside it. */
const DEFAULT_AGENT_DIR = 'frontdoor-data/agent';
const USAGE_STATUS = 2;

/** Parses and runs one command line. Failures have been reported through `io`. */
export async function runProgram(
  args: readonly string[],
  version: string,
  io: CliIo,
  runners: ProgramRunners,
): Promise<void> {
  const program = await buildProgram(args.filter(isNoun), version, io, runners);
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    io.exitCode = error.exitCode === 0 ? 0 : USAGE_STATUS;
  }
}

/** Builds every command. The verbs of an API noun are built only if it is in `nouns`. */
export async function buildProgram(
  nouns: readonly Noun[],
  version: string,
  io: CliIo,
  runners: ProgramRunners,
): Promise<Command> {
  const program = new Command('frontdoor')
    .description(
      'publish private services to everyone, or to selected people, without opening an inbound port',
    )
    .version(version)
    // An option belongs to the command that it follows.
    .enablePositionalOptions()
    .showHelpAfterError('(add --help for help)');
  for (const command of serverCommands(io, runners)) program.addCommand(command.helpGroup('Programs:'));
  program.addCommand(
    agentCommand({
      io,
      defaultDataDir: DEFAULT_AGENT_DIR,
      defaultApiUrl: DEFAULT_API_URL,
      start: (options) => runners.agentStart(options),
    }).helpGroup('Programs:'),
  );
  program.addCommand(tunnelCommand(io, runners).helpGroup('Programs:'));
  program.addCommand(serviceCommand(io, runners).helpGroup('This machine:'));
  program.addCommand(setupCommand(io, version).helpGroup('This machine:'));
  program.addCommand(adminsCommand(io, runners).helpGroup('Programs:'));
  program.addCommand(consoleCommand(io, runners).helpGroup('Management API:'));
  for (const command of backupCommands(io, runners)) program.addCommand(command.helpGroup('Programs:'));
  for (const command of accessCommands(io)) program.addCommand(command.helpGroup('This machine:'));
  program.addCommand(applyCommand(io).helpGroup('Management API:'));
  program.addCommand(whyCommand(io).helpGroup('Management API:'));
  program.addCommand(importCommand(io).helpGroup('This machine:'));
  for (const command of [
    statusCommand(io),
    healthCommand(io),
    logsCommand(io),
    versionCommand(io, version, runners),
  ])
    program.addCommand(command.helpGroup('This machine:'));
  program.addCommand(doctorCommand(io, version, DEFAULT_AGENT_DIR).helpGroup('This machine:'));
  program.addCommand(
    completionCommand(io, () => buildWholeProgram(version, io, runners)).helpGroup('This machine:'),
  );
  program.addCommand(
    upgradeCommand(io, version, runners, () => buildWholeProgram(version, io, runners)).helpGroup(
      'Programs:',
    ),
  );
  for (const [noun, description] of Object.entries(NOUNS) as [Noun, string][]) {
    const command = new Command(noun).description(description).helpGroup('Management API:');
    if (nouns.includes(noun)) {
      const { addOperationCommands } = await import('./operations/operation-commands.ts');
      addOperationCommands(command, noun, io);
    }
    program.addCommand(command);
  }
  for (const command of everyCommand(program)) {
    command.exitOverride().configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      outputError: (text, write) => write(withoutValues(text)),
      getOutHelpWidth: () => io.columns ?? 100,
      getErrHelpWidth: () => io.columns ?? 100,
    });
  }
  return program;
}

/** Builds every command, for what describes all of them. */
export function buildWholeProgram(version: string, io: CliIo, runners: ProgramRunners): Promise<Command> {
  return buildProgram(Object.keys(NOUNS) as Noun[], version, io, runners);
}

/** Removes values that were given at the wrong place from a message, since they may be secrets. */
function withoutValues(message: string): string {
  return withoutUserInfo(message)
    .replace(/(unknown option '--?[^'=]+)=[^]*'/, "$1'")
    .replace(/(arguments? but got \d+): [^]*$/, '$1.\n');
}

export function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}
