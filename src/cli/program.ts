/** The whole command line: every command, its help, and the exit status of what was run. */
import { Command, CommanderError } from 'commander';
import { agentCommand, type AgentStartOptions } from './agent-command.ts';
import type { CliIo } from './cli-io.ts';
import { fabricCommand } from './fabric-command.ts';
import { serverCommands, type ServerRunners } from './server-commands.ts';

export interface ProgramRunners extends ServerRunners {
  agentStart(options: AgentStartOptions): Promise<void>;
}

const DEFAULT_API_URL = 'http://127.0.0.1:8081';
/** Where the demo's agent lives too: `agent share …` beside it needs no option. */
const DEFAULT_AGENT_DIR = 'frontdoor-data/agent';
const USAGE_STATUS = 2;

/** Parses and runs one command line; what went wrong was told through `io`. */
export async function runProgram(
  args: readonly string[],
  version: string,
  io: CliIo,
  runners: ProgramRunners,
): Promise<void> {
  const program = new Command('frontdoor')
    .description(
      'publish private services to the world, or to chosen people, without opening an inbound port',
    )
    .version(version)
    .showHelpAfterError('(add --help for help)');
  for (const command of serverCommands(io, runners)) program.addCommand(command);
  program.addCommand(
    agentCommand({
      io,
      defaultDataDir: DEFAULT_AGENT_DIR,
      defaultApiUrl: DEFAULT_API_URL,
      start: (options) => runners.agentStart(options),
    }),
  );
  program.addCommand(fabricCommand({ io, defaultApiUrl: DEFAULT_API_URL }));
  for (const command of everyCommand(program)) command.exitOverride();
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    io.exitCode = error.exitCode === 0 ? 0 : USAGE_STATUS;
  }
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}
