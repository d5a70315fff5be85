/** Options of `agent share` for how requests reach the service, and the settings that they give. */
import { Option, type Command } from 'commander';
import { definedFields } from '#base';
import type { ShareUpstreamChange } from '#domain/upstream';

export interface UpstreamFlags {
  readonly hostHeader?: string;
  readonly lenient?: boolean;
}

/** Gateways alone write the heads of requests, so that a private share has no options for them. */
export function addUpstreamOptions(command: Command, mode: 'public' | 'private'): Command {
  if (mode !== 'public') return command;
  return command
    .addOption(
      new Option(
        '--host-header <host>',
        'Host header of requests to the service: preserve, target (the host of the target), or a name; ' +
          'default for a new share: preserve; for example localhost',
      ),
    )
    .addOption(
      new Option(
        '--lenient',
        'accept responses in obsolete forms, as old devices send them; the gateway corrects them. "frontdoor shares upstream change" ends this',
      ),
    );
}

/** Undefined if no option was given. */
export function upstreamOf({ hostHeader, lenient }: UpstreamFlags): ShareUpstreamChange | undefined {
  const change = definedFields({ hostHeader, lenient });
  return Object.keys(change).length === 0 ? undefined : change;
}
