/**
 * `frontdoor changes follow` and `frontdoor fabric changes`: print which resources change, one per line. A broken
 * connection is reopened after the last event, unless the control plane is away for longer than two minutes.
 */
import { Command } from 'commander';
import { addApiOptions, frontdoorOption, type ApiFlags } from '../access/api-options.ts';
import { runCommand, type CliIo } from '../cli-io.ts';
import { cellText } from '../output/cell-text.ts';
import type { StreamEvent } from './event-stream-decoder.ts';
import { eventObject } from './event-object.ts';
import { readEvents } from './event-stream-reader.ts';
import { followed } from './follow-loop.ts';

const MESH_PATH = '/fabric/changes';
const RESET = 'reset';
const RESET_NOTE = 'some changes are no longer available; list the resources again';

interface ChangeFlags extends ApiFlags {
  readonly jsonLines?: boolean;
  readonly after?: string;
}

/** Without `isOfMesh`, it follows the changes of one frontdoor. */
export function changesFollowCommand(io: CliIo, { isOfMesh }: { readonly isOfMesh: boolean }): Command {
  const words = isOfMesh ? 'fabric changes' : 'changes follow';
  const command = new Command(isOfMesh ? 'changes' : 'follow')
    .description('print the kind and ID of each resource that changes, until Ctrl-C')
    .option(
      '--after <event-id>',
      'start after this event, for example 3f9a0c12b7de-4711; default: the next event',
    )
    .option('--json-lines', 'print one JSON object per line (--json does the same here)');
  if (!isOfMesh) command.addOption(frontdoorOption());
  const path = isOfMesh ? MESH_PATH : '/frontdoor/{frontdoorId}/changes';
  const scope = isOfMesh ? 'frontdoor.admin' : 'frontdoor.read';
  addApiOptions(command).addHelpText(
    'after',
    `\nGET {base_url}${path} as a stream of events, requires the scope ${scope}\n\n` +
      `Examples:\n  frontdoor ${words}\n  frontdoor ${words} --json-lines\n`,
  );
  return command.action(async () => {
    const flags = command.opts<ChangeFlags>();
    const isJson = flags.json === true || flags.jsonLines === true;
    await runCommand(io, isJson, () => follow(io, flags, isJson, isOfMesh));
  });
}

async function follow(io: CliIo, flags: ChangeFlags, isJson: boolean, isOfMesh: boolean): Promise<void> {
  let lastId = flags.after;
  const [{ withManagement }, { frontdoorOf }] = await Promise.all([
    import('../access/access.ts'),
    import('./named-id.ts'),
  ]);
  await withManagement(flags, io, async (client, access) => {
    const path = isOfMesh ? MESH_PATH : `/frontdoor/${await frontdoorOf({ client, access })}/changes`;
    await followed(io, async (onArrival) => {
      await readEvents(client, path, lastId, (events, id) => {
        onArrival();
        lastId = id;
        for (const event of events) print(io, event, isJson);
      });
      return false;
    });
  });
}

function print(io: CliIo, { event, data }: StreamEvent, isJson: boolean): void {
  const change = eventObject(data);
  if (isJson) io.out(`${JSON.stringify({ event, ...change })}\n`);
  else if (event === RESET) io.err(`frontdoor: ${RESET_NOTE}\n`);
  else io.out(`${cellText(change.kind)}  ${cellText(change.id)}\n`);
}
