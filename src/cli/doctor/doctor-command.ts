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
    .option(
      '--edge-api <url>',
      'address of the edge API, for example https://control.example.com:1280; as the control plane says when not given',
    )
    .option(
      '--gateway <url>',
      'address of a gateway, for example https://app.share.example; as the control plane says when not given',
    )
    .option(
      '--router <host:port>',
      'address of a router for agents and SDKs, for example router.example.com:3022; those that the control plane knows when not given',
    )
    .addOption(frontdoorOption());
  return addApiOptions(command)
    .addHelpText(
      'after',
      '\nThe exit status is 0 when nothing failed, 1 otherwise. Nothing is changed. It works without a log-in; with one, the\n' +
        'control plane is asked where its parts are, and what of them fails (more of it with the scope frontdoor.admin).\n\n' +
        'Examples:\n  frontdoor doctor\n  frontdoor doctor --api https://control.example.com --router router.example.com:3022 --json\n',
    )
    .action(async (flags: DoctorFlags) => {
      await runCommand(io, flags.json === true, async () => {
        const { runDoctor } = await import('./doctor.ts');
        await runDoctor(io, flags, version, join(resolve(flags.agentDir), AGENT_SOCKET_FILE));
      });
    });
}
