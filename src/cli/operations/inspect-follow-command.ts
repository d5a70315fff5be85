/**
 * `frontdoor shares inspect follow TOKEN`: prints recorded requests as they come, one per line, until recording
 * ends or Ctrl-C. It polls the list once a second. A share keeps its latest 200 requests, so only a burst above
 * that rate is missed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { FrontdoorError } from '#base';
import type { InspectorAnswer } from '#contract/schemas';
import { addApiOptions, frontdoorOption, type ApiFlags } from '../access/api-options.ts';
import { runCommand, type CliIo } from '../cli-io.ts';
import type { ManagementClient } from '../management-client.ts';
import { cellText } from '../output/cell-text.ts';
import { followed } from './follow-loop.ts';
import { entriesOf, type Entry } from './list-pages.ts';

interface Flags extends ApiFlags {
  readonly jsonLines?: boolean;
  readonly last: number;
}

const INSPECTOR = '/frontdoor/{frontdoorId}/shares/{token}/inspector';
const EVERY_MS = 1_000;
/** A share keeps this many requests. */
const MOST_KEPT = 200;
const HELP = `
GET {base_url}${INSPECTOR}/requests, requires the scope frontdoor.read

Examples:
  frontdoor shares inspect follow app
  frontdoor shares inspect follow app --last 0 --json-lines
`;

export function inspectFollowCommand(io: CliIo): Command {
  const command = new Command('follow')
    .argument('<token>', 'the share, for example app')
    .description('print requests as they are recorded, until recording ends or Ctrl-C')
    .addOption(
      new Option('--last <n>', 'start with this many existing recordings; for example 0')
        .default(10)
        .argParser(countOf),
    )
    .option('--json-lines', 'print one JSON object per line (--json does the same here)')
    .addOption(frontdoorOption());
  addApiOptions(command).addHelpText('after', HELP);
  return command.action(async (token: string) => {
    const flags = command.opts<Flags>();
    const isJson = flags.json === true || flags.jsonLines === true;
    await runCommand(io, isJson, () => follow(io, flags, token, isJson));
  });
}

async function follow(io: CliIo, flags: Flags, token: string, isJson: boolean): Promise<void> {
  const [{ withManagement }, { frontdoorOf }] = await Promise.all([
    import('../access/access.ts'),
    import('./named-id.ts'),
  ]);
  await withManagement(flags, io, async (client, access) => {
    const path = INSPECTOR.replace('{frontdoorId}', await frontdoorOf({ client, access })).replace(
      '{token}',
      encodeURIComponent(token),
    );
    const isOn = async (): Promise<boolean> =>
      ((await client.call({ method: 'GET', path })) as InspectorAnswer).enabled;
    if (!(await isOn())) {
      const message = `requests to ${token} are not recorded: "frontdoor shares inspect on ${token}" starts recording`;
      throw new FrontdoorError('invalid', 'not-recorded', message);
    }
    let known: ReadonlySet<unknown> | undefined;
    await followed(io, async (onArrival) => {
      for (;;) {
        // Checked before the list is read, so that requests recorded until the end are still printed.
        const goesOn = await isOn();
        const entries = await recorded(client, path);
        onArrival();
        // The list begins with the newest entry, the output with the oldest.
        const news = entries.filter(({ id }) => known?.has(id) !== true).toReversed();
        const shown = known === undefined ? news.slice(Math.max(0, news.length - flags.last)) : news;
        for (const entry of shown) io.out(isJson ? `${JSON.stringify(entry)}\n` : lineOf(entry));
        known = new Set(entries.map(({ id }) => id));
        if (!goesOn) {
          io.err(`Recording of ${token} has ended.\n`);
          return true;
        }
        await pause(EVERY_MS);
      }
    });
  });
}

async function recorded(client: ManagementClient, path: string): Promise<readonly Entry[]> {
  return entriesOf(await client.call({ method: 'GET', path: `${path}/requests?page=0&size=${MOST_KEPT}` }));
}

function lineOf({ at, id, method, target, status, identity }: Entry): string {
  return `${[at, id, method, target, status, identity].map(cellText).join('  ')}\n`;
}

function countOf(text: string): number {
  const count = Number(text);
  if (/^\d{1,3}$/.test(text) && count <= MOST_KEPT) return count;
  throw new InvalidArgumentError(`must be a whole number from 0 to ${MOST_KEPT}.`);
}
