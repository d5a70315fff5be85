/** `frontdoor doctor`: its options. The checks are loaded when it runs. */
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { AGENT_SOCKET_FILE } from '#domain';
import { addApiOptions, frontdoorOption } from '../access/api-options.ts';
import { runCommand, type CliIo } from '../cli-io.ts';
import type { DoctorFlags } from './doctor.ts';

export function doctorCommand(io: CliIo, version: string, defaultAgentDir: string): Command {
  const command = new Command('doctor')
    .description('check this machine and its way to the frontdoor, and say what to do')
    .option('--data-dir <dir>', 'data directory of the programs that run here', 'frontdoor-data')
    .option(
      '--agent-dir <dir>',
      'directory of the agent (or FRONTDOOR_AGENT_DIR)',
      io.env.FRONTDOOR_AGENT_DIR ?? defaultAgentDir,
    )
    .option('--edge-api <url>', "edge API, default as the agent's identity says")
    .option('--gateway <url>', 'gateway, default port 8080 beside the Management API')
    .option('--router <host:port>', 'router for agents and SDKs, default port 3022 beside the Management API')
    .addOption(frontdoorOption());
  return addApiOptions(command)
    .addHelpText(
      'after',
      '\nThe exit status is 0 when nothing failed, 1 otherwise. Nothing is changed; no log-in is needed.\n\n' +
        'Examples:\n  frontdoor doctor\n  frontdoor doctor --api https://control.example.com --router router.example.com:3022 --json\n',
    )
    .action(async (flags: DoctorFlags) => {
      await runCommand(io, flags.json === true, async () => {
        const { runDoctor } = await import('./doctor.ts');
        await runDoctor(io, flags, version, join(resolve(flags.agentDir), AGENT_SOCKET_FILE));
      });
    });
}
