/**
 * `frontdoor audit follow`: prints audit events as they happen, one per line. A broken connection is reopened
 * after the last event, unless the control plane is away for longer than two minutes.
 */
import { Command } from 'commander';
import { addApiOptions, organizationOption, type ApiFlags } from '../access/api-options.ts';
import { runCommand, type CliIo } from '../cli-io.ts';
import { cellText } from '../output/cell-text.ts';
import { eventObject } from './event-object.ts';
import { readEvents } from './event-stream-reader.ts';
import { followed } from './follow-loop.ts';
import { withQuery } from './operation-request.ts';

const PATH = '/audit-events';
const FILTERS = {
  action: { option: 'action', example: 'deleteShare' },
  actorId: { option: 'actor-id', example: '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22' },
  targetId: { option: 'target-id', example: 'app' },
  result: { option: 'result', example: 'refused' },
} as const;

interface FollowFlags extends ApiFlags {
  readonly jsonLines?: boolean;
  readonly organization?: string;
  readonly after?: string;
  readonly action?: string;
  readonly actorId?: string;
  readonly targetId?: string;
  readonly result?: string;
}

export function auditFollowCommand(io: CliIo): Command {
  const command = new Command('follow')
    .description('print events as they happen, until Ctrl-C')
    .option('--after <sequence>', 'start after this event, for example 4711; default: the next event')
    .addOption(organizationOption())
    .option('--json-lines', 'print one JSON object per line (--json does the same here)');
  for (const [name, { option, example }] of Object.entries(FILTERS))
    command.option(`--${option} <text>`, `only events with this ${name}; for example ${example}`);
  addApiOptions(command).addHelpText(
    'after',
    `\nGET {base_url}${PATH} as a stream of events, requires the scope frontdoor.read\n\n` +
      'Examples:\n  frontdoor audit follow\n  frontdoor audit follow --result refused --json-lines\n',
  );
  return command.action(async () => {
    const flags = command.opts<FollowFlags>();
    const isJson = flags.json === true || flags.jsonLines === true;
    await runCommand(io, isJson, () => follow(io, flags, isJson));
  });
}

async function follow(io: CliIo, flags: FollowFlags, isJson: boolean): Promise<void> {
  const query = new URLSearchParams();
  for (const name of Object.keys(FILTERS) as (keyof typeof FILTERS)[]) {
    const value = flags[name];
    if (value !== undefined) query.set(name, value);
  }
  let lastId = flags.after;
  const [{ withManagement }, { organizationIdOf }] = await Promise.all([
    import('../access/access.ts'),
    import('./named-id.ts'),
  ]);
  await withManagement(flags, io, async (client, access) => {
    if (flags.organization !== undefined)
      query.set('organizationId', await organizationIdOf({ client, access }, flags.organization));
    const path = withQuery(PATH, query);
    await followed(io, async (onArrival) => {
      await readEvents(client, path, lastId, (events) => {
        onArrival();
        for (const { id, data } of events) {
          lastId = id ?? lastId;
          io.out(isJson ? `${data}\n` : lineOf(data));
        }
      });
      return false;
    });
  });
}

function lineOf(data: string): string {
  const { at, actor, action, target, result, reason } = eventObject(data);
  const why = reason === null || reason === undefined ? '' : `  ${cellText(reason)}`;
  return `${[at, actor, action, target, result].map(cellText).join('  ')}${why}\n`;
}
