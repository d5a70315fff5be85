/** `frontdoor status`: its options. The implementation is loaded when it runs. */
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { AGENT_SOCKET_FILE } from '#domain/agent-shapes';
import { runCommand, writeJson, type CliIo } from '../cli-io.ts';
import { addServerConfigOption, takeServerValues } from '../config-file/server-config.ts';

interface StatusFlags {
  readonly dataDir: string;
  readonly agentDir?: string;
  readonly json: boolean;
}

const PROBLEM_STATUS = 1;

export function statusCommand(io: CliIo): Command {
  const command = addServerConfigOption(new Command('status'), 'data directory');
  return command
    .description('show what runs on this machine, and what is wrong with it')
    .option('--data-dir <dir>', 'data directory of "frontdoor up" or "control"', 'frontdoor-data')
    .option(
      '--agent-dir <dir>',
      'directory of the agent (or FRONTDOOR_AGENT_DIR), for example /var/lib/frontdoor-agent; default: agent in the data directory',
    )
    .option('--json', 'print JSON', false)
    .addHelpText(
      'after',
      '\nThe exit status is 0 if something runs and nothing is wrong, 1 otherwise. "frontdoor doctor" looks for causes.\n\n' +
        'Examples:\n  frontdoor status\n  frontdoor status --data-dir /var/lib/frontdoor --json\n',
    )
    .action(async ({ json }: StatusFlags) => {
      await runCommand(io, json, async () => {
        await takeServerValues(io, command);
        const flags = command.opts<StatusFlags>();
        const { localStatus, localStatusText } = await import('./local-status.ts');
        const dataDir = resolve(flags.dataDir);
        const agentDir = resolve(flags.agentDir ?? io.env.FRONTDOOR_AGENT_DIR ?? join(dataDir, 'agent'));
        const status = await localStatus(dataDir, join(agentDir, AGENT_SOCKET_FILE));
        if (json) writeJson(io, status);
        else io.out(localStatusText(status));
        if (status.problems.length > 0) io.exitCode = PROBLEM_STATUS;
      });
    });
}
