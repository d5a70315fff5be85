/** Options of `agent share` for how requests reach the service, and the settings that they give. */
import { Option, type Command } from 'commander';
import { definedFields } from '#base';
import type { ShareUpstreamChange } from '#domain/upstream';

export interface UpstreamFlags {
  readonly hostHeader?: string;
}

/** Gateways alone write the heads of requests, so that a private share has no options for them. */
export function addUpstreamOptions(command: Command, mode: 'public' | 'private'): Command {
  if (mode === 'public')
    command.addOption(
      new Option(
        '--host-header <host>',
        'Host header of requests to the service: preserve, target (the host of the target), or a name; ' +
          'default for a new share: preserve; for example localhost',
      ),
    );
  return command;
}

/** Undefined if no option was given. */
export function upstreamOf({ hostHeader }: UpstreamFlags): ShareUpstreamChange | undefined {
  const change = definedFields({ hostHeader });
  return Object.keys(change).length === 0 ? undefined : change;
}
