/**
 * `frontdoor shares inspect on|off TOKEN` and `frontdoor shares replay TOKEN ID`: record requests, and repeat a
 * recorded one.
 */
import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { FrontdoorError, messageOf } from '#base';
import type { InspectorAnswer, InspectorReplacementBody, ReplayBody } from '#contract/schemas';
import { addApiOptions, frontdoorOption, type ApiFlags } from '../access/api-options.ts';
import { runCommand, writeJson, type CliIo } from '../cli-io.ts';
import { parseDurationText } from '../duration-text.ts';
import type { ManagementClient } from '../management-client.ts';
import { recordText } from '../output/record-text.ts';

interface Flags extends ApiFlags {
  readonly frontdoor?: string;
}

interface OnFlags extends Flags {
  readonly bodies: number;
  readonly for: number;
}

interface ReplayFlags extends Flags {
  readonly header?: readonly { readonly name: string; readonly value: string }[];
  readonly body?: string;
}

type Headers = NonNullable<ReplayFlags['header']>;

const INSPECTOR = '/frontdoor/{frontdoorId}/shares/{token}/inspector';
const HOUR_MS = 3_600_000;

export function inspectSwitches(io: CliIo): Command[] {
  const on = new Command('on')
    .argument('<token>')
    .description('record requests to a share; the latest 200 are kept for one day')
    .option('--bodies <size>', 'how many bytes of each body to keep, such as 16KiB, at most 64KiB', sizeOf, 0)
    .option('--for <time>', 'how long to record, such as 30m, 2h or PT2H, at most 24h', timeOf, HOUR_MS);
  const off = new Command('off')
    .argument('<token>')
    .description('stop recording; existing recordings are kept');
  return [
    withAction(
      io,
      on,
      `PUT {base_url}${INSPECTOR}`,
      ['shares inspect on app --bodies 16KiB --for 30m'],
      (client, path) => {
        const { bodies, for: ms } = on.opts<OnFlags>();
        const until = new Date(Date.now() + ms).toISOString();
        return put(client, path, { enabled: true, maxBodyBytes: bodies, until });
      },
    ),
    withAction(io, off, `PUT {base_url}${INSPECTOR}`, ['shares inspect off app'], (client, path) =>
      put(client, path, { enabled: false }),
    ),
  ];
}

export function replayCommand(io: CliIo): Command {
  const command = new Command('replay')
    .argument('<token>')
    .argument('<id>', 'ID of a recorded request')
    .description('replay a recorded request to its share, bypassing its policy')
    .option(
      '--header <line>',
      "header that replaces the recorded one of this name, or is added; may be repeated; for example 'X-Try: 2'",
      headerOf,
    )
    .option(
      '--body <file>',
      'file to send instead of the recorded body, at most 64 KiB; for example order.json',
    );
  return withAction(
    io,
    command,
    `POST {base_url}${INSPECTOR}/requests/{id}/replay`,
    ["shares replay app 5b0c2a3e6f0f4a5e9d --header 'X-Try: 2' --body order.json"],
    async (client, path, id) => {
      const { header, body } = command.opts<ReplayFlags>();
      const asked: ReplayBody = {
        ...(header === undefined ? {} : { headers: [...header] }),
        ...(body === undefined ? {} : { body: (await fileOf(body)).toString('base64') }),
      };
      const target = `${path}/requests/${encodeURIComponent(id!)}/replay`;
      const answer = (await client.call({ method: 'POST', path: target, body: asked })) as object;
      return { answer, next: 'Next: frontdoor shares inspect list shows the result\n' };
    },
  );
}

interface Outcome {
  readonly answer: object;
  readonly next?: string;
}

function withAction(
  io: CliIo,
  command: Command,
  called: string,
  examples: readonly string[],
  act: (client: ManagementClient, path: string, id: string | undefined) => Promise<Outcome>,
): Command {
  command.addOption(frontdoorOption());
  const lines = examples.map((example) => `  frontdoor ${example}\n`).join('');
  addApiOptions(command).addHelpText(
    'after',
    `\n${called}, requires the scope frontdoor.write\n\nExamples:\n${lines}`,
  );
  return command.action(async (token: string, id?: unknown) => {
    const flags = command.opts<Flags>();
    await runCommand(io, flags.json === true, async () => {
      const [{ withManagement }, { frontdoorOf }] = await Promise.all([
        import('../access/access.ts'),
        import('./named-id.ts'),
      ]);
      await withManagement(flags, io, async (client, access) => {
        const path = INSPECTOR.replace('{frontdoorId}', await frontdoorOf({ client, access })).replace(
          '{token}',
          encodeURIComponent(token),
        );
        const { answer, next } = await act(client, path, typeof id === 'string' ? id : undefined);
        if (flags.json === true) writeJson(io, answer);
        else {
          io.out(recordText(answer));
          if (next !== undefined) io.err(next);
        }
      });
    });
  });
}

async function put(client: ManagementClient, path: string, body: InspectorReplacementBody): Promise<Outcome> {
  return { answer: (await client.call({ method: 'PUT', path, body })) as InspectorAnswer };
}

async function fileOf(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new FrontdoorError('invalid', 'body', `--body ${path}: ${messageOf(cause)}`, { cause });
  }
}

function headerOf(line: string, before: Headers = []): Headers {
  const colon = line.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError("must be 'Name: value'.");
  return [...before, { name: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() }];
}

function sizeOf(text: string): number {
  const [, digits, unit] = /^(\d{1,7})\s*(?:(k)(?:i?b)?|b)?$/i.exec(text) ?? [];
  const bytes = Number(digits) * (unit === undefined ? 1 : 1_024);
  if (digits === undefined || bytes > 65_536)
    throw new InvalidArgumentError('must be a size such as 16KiB, at most 64KiB.');
  return bytes;
}

function timeOf(text: string): number {
  const ms = parseDurationText(text);
  if (ms === undefined || ms < 1_000 || ms > 24 * HOUR_MS)
    throw new InvalidArgumentError('must be a duration such as 30m, 2h or PT2H, at most 24h.');
  return ms;
}
