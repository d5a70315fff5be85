/** Options of every command that runs a program of the product. */
import { LOG_LEVELS } from '#base';
import { Option, type Command } from 'commander';

export interface LogOptions {
  readonly logLevel: string;
  readonly logFormat: LogFormat;
}

/** Options of programs that other programs wait for. */
export interface ReadyFileOptions {
  readonly readyFile?: string;
}

/** `auto` is text on a terminal, and JSON elsewhere. */
export type LogFormat = (typeof LOG_FORMATS)[number];

const LOG_FORMATS = ['auto', 'text', 'json'] as const;

export function addLogOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--log-level <level>', 'least severe level that is logged')
        .choices([...LOG_LEVELS, 'silent'])
        .default('info')
        .env('FRONTDOOR_LOG'),
    )
    .addOption(
      new Option('--log-format <format>', 'text for people, JSON for programs; auto: text on a terminal')
        .choices(LOG_FORMATS)
        .default('auto')
        .env('FRONTDOOR_LOG_FORMAT'),
    );
}

export function addReadyOption(command: Command): Command {
  return command.option(
    '--ready-file <file>',
    'file that is written (JSON, mode 0600) once the program is ready; for example ready.json',
  );
}
