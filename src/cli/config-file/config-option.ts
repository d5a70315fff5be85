/** `--config` of the commands that run a program: the values of its file stand behind those of the command line and the environment. */
import { Option, type Command } from 'commander';
import { runCommand, type CliIo } from '../cli-io.ts';
import { configKeysOf, type ConfigKey } from './config-key.ts';
import type { ConfigSection } from './config-section-table.ts';

/** `content` names what the file has. */
export function addConfigOption(command: Command, content: string): Command {
  return command.addOption(
    new Option(
      '--config <file>',
      `YAML file with ${content}; options and variables of the environment have precedence; for example /etc/frontdoor/frontdoor.yaml`,
    ).env('FRONTDOOR_CONFIG'),
  );
}

/** Returns an action that reads the file first. `run` gets all options; it does not run if the file has a problem. */
export function configured<Options>(
  io: CliIo,
  section: ConfigSection,
  run: (options: Options, command: Command) => Promise<void>,
): (options: Options, command: Command) => Promise<void> {
  return async (_given, command) => {
    const isRead = await readFile(io, section, command);
    if (!isRead) return;
    refuseMissing(section, command);
    await run(command.opts() as Options, command);
  };
}

async function readFile(io: CliIo, section: ConfigSection, command: Command): Promise<boolean> {
  const { config } = command.opts<{ readonly config?: string }>();
  if (config === undefined) return true;
  const ended = { well: false };
  await runCommand(io, false, async () => {
    const { readConfigFile } = await import('./config-file.ts');
    const keys = configKeysOf(command, section.variables);
    const values = await readConfigFile(config, section, keys);
    for (const key of keys)
      if (values.has(key.name) && !isOverridden(key, command, io))
        command.setOptionValueWithSource(key.name, values.get(key.name), 'config');
    ended.well = true;
  });
  return ended.well;
}

/** Whether the command line or the environment has the value, or its twin. */
export function isOverridden({ name, twin, variable }: ConfigKey, command: Command, io: CliIo): boolean {
  if (variable !== undefined && io.env[variable] !== undefined) return true;
  return [name, twin ?? name].some((each) =>
    ['cli', 'env'].includes(command.getOptionValueSource(each) ?? ''),
  );
}

/** Commander would refuse them before the file is read. */
function refuseMissing({ path, required = [] }: ConfigSection, command: Command): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (!required.includes(name) || command.getOptionValue(name) !== undefined) continue;
    command.error(
      `error: required option '${option.flags}' not specified: give it, or ${[...path, name].join('.')} in the file of --config`,
    );
  }
}
