/** `frontdoor logs`: prints the log files of a data directory as text, or follows them. */
import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { LOG_LEVELS, type LogLevel } from '#base';
import { logText, printable, showsColours } from '#base/terminal';
import { runCommand, type CliIo } from '../cli-io.ts';
import { wholeNumber } from '../value-parser.ts';
import type { FoundLine } from './log-files.ts';

interface LogsFlags {
  readonly dataDir: string;
  readonly lines: number;
  readonly level: LogLevel;
  readonly follow: boolean;
  readonly json: boolean;
}

const MAX_LINES = 100_000;

export function logsCommand(io: CliIo): Command {
  return new Command('logs')
    .description('print the logs of the demo on this machine, or follow them')
    .option('--data-dir <dir>', 'data directory of "frontdoor up --demo"', 'frontdoor-data')
    .addOption(
      new Option('--lines <count>', 'how many of the last lines are printed')
        .default(50)
        .argParser(wholeNumber(0, MAX_LINES)),
    )
    .addOption(
      new Option('--level <level>', 'least severe level that is printed')
        .choices(LOG_LEVELS)
        .default('debug'),
    )
    .option('--follow', 'continue with the lines that are added, until Ctrl-C', false)
    .option('--json', 'print the lines as they are in the files, which are JSON', false)
    .addHelpText(
      'after',
      '\nExamples:\n  frontdoor logs --follow\n  frontdoor logs --level warn --lines 500\n',
    )
    .action(async (flags: LogsFlags) => {
      await runCommand(io, flags.json, async () => {
        const { LogFiles } = await import('./log-files.ts');
        const files = await LogFiles.open(resolve(flags.dataDir));
        const isWanted = (found: FoundLine): boolean => isPrinted(found, flags.level);
        const print = (lines: readonly FoundLine[]): void => {
          for (const found of lines) if (isWanted(found)) io.out(`${textOf(found, flags, io)}\n`);
        };
        print(await files.last(flags.lines, isWanted));
        if (flags.follow) await files.follow(print, new AbortController().signal);
      });
    });
}

function isPrinted({ line }: FoundLine, level: LogLevel): boolean {
  return LOG_LEVELS.indexOf(line?.level ?? 'error') >= LOG_LEVELS.indexOf(level);
}

function textOf({ program, text, line }: FoundLine, { json }: LogsFlags, io: CliIo): string {
  if (json) return text;
  if (line === undefined) return `${program}: ${printable(text)}`;
  const isColoured = io.columns !== undefined && showsColours(io.env);
  const { part = program } = line.fields;
  return logText({ ...line, fields: { ...line.fields, part } }, isColoured);
}
