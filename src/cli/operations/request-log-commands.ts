/**
 * `frontdoor requests follow`: prints requests to all shares as they are reported, one per line, until Ctrl-C. It polls
 * the list once a second; gateways report a request about a second after its end.
 * `frontdoor requests export FILE`: writes the request log as lines of JSON or as CSV.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { addApiOptions, frontdoorOption, type ApiFlags } from '../access/api-options.ts';
import { runCommand, writeJson, type CliIo } from '../cli-io.ts';
import { cellText } from '../output/cell-text.ts';
import { followed } from './follow-loop.ts';
import { entriesOf, type Entry } from './list-pages.ts';
import { withQuery } from './operation-request.ts';

interface Flags extends ApiFlags {
  readonly frontdoor?: string;
  readonly jsonLines?: boolean;
  readonly last: number;
  readonly format?: 'jsonl' | 'csv';
}

const LOG = '/frontdoor/{frontdoorId}/request-log';
const EVERY_MS = 1_000;
/** More in one second are missed. A gateway logs 300 a second for each process. */
const MOST_AT_ONCE = 1_000;
const SILENCE_MS = 60_000;

/** The filters of the list that are useful here: the parameter of the query, and the option. */
const FILTERS = [
  ['shareToken', new Option('--share-token <token>', 'only requests to this share; for example app')],
  [
    'outcome',
    new Option('--outcome <outcome>', 'only requests with this outcome; unserved: all but served').choices([
      'served',
      'refused',
      'failed',
      'broken-off',
      'client-gone',
      'unserved',
    ]),
  ],
  ['client', new Option('--address <address>', 'only requests from this address; for example 192.0.2.7')],
  [
    'caller',
    new Option(
      '--caller <caller>',
      'only requests of this person or API key, as entries show it; for example ann',
    ),
  ],
  [
    'statusClass',
    new Option(
      '--status-class <class>',
      'only requests with a status of this class; none: without a response',
    ).choices(['2xx', '3xx', '4xx', '5xx', 'none']),
  ],
  [
    'text',
    new Option(
      '--text <text>',
      'only requests with this text in host, path, caller, cause or code; for example /orders',
    ),
  ],
] as const;

export function requestLogCommands(io: CliIo): Command[] {
  return [followCommand(io), exportCommand(io)];
}

function followCommand(io: CliIo): Command {
  const command = withFilters(new Command('follow'))
    .description('print requests to all shares as they are reported, until Ctrl-C')
    .addOption(
      new Option('--last <n>', 'start with this many existing entries; for example 0')
        .default(10)
        .argParser(countOf),
    )
    .option('--json-lines', 'print one JSON object per line (--json does the same here)')
    .addOption(frontdoorOption());
  addApiOptions(command).addHelpText(
    'after',
    '\nGET {base_url}/frontdoor/{frontdoorId}/requests, requires the scope frontdoor.read\n\n' +
      'Examples:\n  frontdoor requests follow --outcome unserved\n' +
      '  frontdoor requests follow --share-token app --last 0 --json-lines\n',
  );
  return command.action(async () => {
    const flags = command.opts<Flags>();
    const isJson = flags.json === true || flags.jsonLines === true;
    await runCommand(io, isJson, () => follow(io, flags, isJson));
  });
}

async function follow(io: CliIo, flags: Flags, isJson: boolean): Promise<void> {
  const [{ withManagement }, { frontdoorOf }] = await Promise.all([
    import('../access/access.ts'),
    import('./named-id.ts'),
  ]);
  await withManagement(flags, io, async (client, access) => {
    const query = queryOf(flags);
    query.set('limit', String(MOST_AT_ONCE));
    const path = withQuery(
      '/frontdoor/{frontdoorId}/requests'.replace('{frontdoorId}', await frontdoorOf({ client, access })),
      query,
    );
    let known: ReadonlySet<unknown> | undefined;
    await followed(io, async (onArrival) => {
      for (;;) {
        const entries = entriesOf(await client.call({ method: 'GET', path }));
        onArrival();
        // The list begins with the newest entry, the output with the oldest.
        const news = entries.filter(({ id }) => known?.has(id) !== true).toReversed();
        const shown = known === undefined ? news.slice(Math.max(0, news.length - flags.last)) : news;
        for (const entry of shown) io.out(isJson ? `${JSON.stringify(entry)}\n` : lineOf(entry));
        known = new Set(entries.map(({ id }) => id));
        await pause(EVERY_MS);
      }
    });
  });
}

function exportCommand(io: CliIo): Command {
  const command = withFilters(new Command('export'))
    .argument('<file>', 'file to write (mode 0600); an existing file is replaced')
    .description('write the request log into a file, newest first')
    .addOption(
      new Option('--format <format>', 'lines of JSON, or CSV').choices(['jsonl', 'csv']).default('jsonl'),
    )
    .addOption(frontdoorOption());
  addApiOptions(command).addHelpText(
    'after',
    `\nGET {base_url}${LOG}/export, requires the scope frontdoor.read\n\n` +
      'Examples:\n  frontdoor requests export requests.jsonl\n' +
      '  frontdoor requests export refused.csv --format csv --outcome refused\n',
  );
  return command.action(async (file: string) => {
    const flags = command.opts<Flags>();
    await runCommand(io, flags.json === true, () => exportInto(io, flags, file));
  });
}

async function exportInto(io: CliIo, flags: Flags, file: string): Promise<void> {
  const [{ replaceFileDurably }, { withManagement }, { frontdoorOf }] = await Promise.all([
    import('#net/files'),
    import('../access/access.ts'),
    import('./named-id.ts'),
  ]);
  await withManagement(flags, io, async (client, access) => {
    const query = queryOf(flags);
    query.set('format', flags.format ?? 'jsonl');
    const log = LOG.replace('{frontdoorId}', await frontdoorOf({ client, access }));
    const stop = new AbortController();
    try {
      const bytes = await replaceFileDurably(file, async (handle) => {
        let written = 0;
        const headers = { accept: '*/*' };
        for await (const piece of await client.stream(
          withQuery(`${log}/export`, query),
          headers,
          SILENCE_MS,
          stop.signal,
        )) {
          await handle.writeFile(piece);
          written += piece.length;
        }
        return written;
      });
      if (flags.json === true) writeJson(io, { file, bytes });
      else io.out(`${file}: ${bytes} bytes\n`);
    } finally {
      stop.abort();
    }
  });
}

function withFilters(command: Command): Command {
  for (const [, option] of FILTERS) command.addOption(option);
  return command;
}

function queryOf(flags: Flags): URLSearchParams {
  const given = flags as unknown as Readonly<Record<string, string | undefined>>;
  const query = new URLSearchParams();
  for (const [parameter, option] of FILTERS) {
    const value = given[option.attributeName()];
    if (value !== undefined) query.set(parameter, value);
  }
  return query;
}

function lineOf({ at, shareToken, outcome, status, method, path, client, caller, code }: Entry): string {
  return `${[at, shareToken, outcome, status, method, path, client, caller, code].map(cellText).join('  ')}\n`;
}

function countOf(text: string): number {
  const count = Number(text);
  if (/^\d{1,4}$/.test(text) && count <= MOST_AT_ONCE) return count;
  throw new InvalidArgumentError(`must be a whole number from 0 to ${MOST_AT_ONCE}.`);
}
