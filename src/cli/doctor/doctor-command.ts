/** `frontdoor doctor`: its options. The checks are loaded when it runs. */
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { AGENT_SOCKET_FILE } from '#domain/agent-shapes';
import { addApiOptions, frontdoorOption } from '../access/api-options.ts';
import { runCommand, type CliIo } from '../cli-io.ts';
import { addServerConfigOption, takeServerValues } from '../config-file/server-config.ts';
import type { DoctorFlags } from './doctor.ts';

export function doctorCommand(io: CliIo, version: string, defaultAgentDir: string): Command {
  const command = addServerConfigOption(new Command('doctor'), 'data directory')
    .description('check this machine and its connections to the frontdoor, and suggest remedies')
    .option('--data-dir <dir>', 'data directory of the programs on this machine', 'frontdoor-data')
    .option(
      '--agent-dir <dir>',
      'directory of the agent (or FRONTDOOR_AGENT_DIR)',
      io.env.FRONTDOOR_AGENT_DIR ?? defaultAgentDir,
    )
    .option(
      '--edge-api <url>',
      'address of the edge API, for example https://control.example.com:1280; default: as the control plane reports',
    )
    .option(
      '--gateway <url>',
      'address of a gateway, for example https://app.share.example; default: as the control plane reports',
    )
    .option(
      '--router <host:port>',
      'address of a router for agents and SDKs, for example router.example.com:3022; default: the routers of the control plane',
    )
    .addOption(frontdoorOption());
  return addApiOptions(command)
    .addHelpText(
      'after',
      '\nThe exit status is 0 if nothing failed, 1 otherwise. The doctor changes nothing. It works without a profile; with one,\n' +
        'it asks the control plane for its parts and their failures (callers with the scope frontdoor.admin see more).\n\n' +
        'Examples:\n  frontdoor doctor\n  frontdoor doctor --api https://control.example.com --router router.example.com:3022 --json\n',
    )
    .action(async ({ json }: DoctorFlags) => {
      await runCommand(io, json === true, async () => {
        await takeServerValues(io, command);
        const flags = command.opts<DoctorFlags>();
        const { runDoctor } = await import('./doctor.ts');
        await runDoctor(io, flags, version, join(resolve(flags.agentDir), AGENT_SOCKET_FILE));
      });
    });
}
