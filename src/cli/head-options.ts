/** Options of a gateway about the size of request heads. */
import { Option, type Command } from 'commander';
import { wholeNumber } from './value-parser.ts';

export interface HeadCommandOptions {
  readonly maxHeaderBytes?: number;
  readonly maxHeaderFields?: number;
}

/** The gateway's defaults. Commands do not load the gateway's code, so they are repeated here. */
const DEFAULT_BYTES = 65_536;
const DEFAULT_FIELDS = 200;
/** The request line alone may have as much. */
const MIN_BYTES = 8_192;
const MIN_FIELDS = 50;
/** What the record of an inspected request may contain. */
const MAX_BYTES = 131_072;
const MAX_FIELDS = 400;

export function addHeadOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--max-header-bytes <bytes>',
        `maximum size of the headers of a request, with its first line; headers of responses may be as large, and always ${DEFAULT_BYTES} bytes; default: ${DEFAULT_BYTES}; for example 32768`,
      ).argParser(wholeNumber(MIN_BYTES, MAX_BYTES)),
    )
    .addOption(
      new Option(
        '--max-header-fields <count>',
        `maximum number of headers of a request; a response may have as many, and always 256; default: ${DEFAULT_FIELDS}; for example 100`,
      ).argParser(wholeNumber(MIN_FIELDS, MAX_FIELDS)),
    );
}
