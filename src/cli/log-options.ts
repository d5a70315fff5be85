/** Options of every command that runs a program of the product. */
import { Option, type Command } from 'commander';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

export function addLogOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--log-level <level>', 'least severe level that is logged')
        .choices(LOG_LEVELS)
        .default('info')
        .env('FRONTDOOR_LOG'),
    )
    .option(
      '--ready-file <file>',
      'file that is written (JSON, mode 0600) once the program is ready; for example ready.json',
    );
}
