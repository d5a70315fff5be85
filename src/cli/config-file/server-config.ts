/**
 * `--config` of commands that work beside a control plane or "frontdoor up", or on its data: they take the data directory, the
 * database and other places from the section of that program. Options of the command have precedence (ADR 0103).
 */
import type { Command } from 'commander';
import type { CliIo } from '../cli-io.ts';
import type { ConfigValues } from './config-file.ts';
import { configKeysOf } from './config-key.ts';
import { isOverridden } from './config-option.ts';
import { CONFIG_SECTIONS } from './config-section-table.ts';

/** A file describes one of them; if it has both sections, the first one that has a value is used. */
const SERVER_SECTIONS = [CONFIG_SECTIONS.up, CONFIG_SECTIONS.control] as const;

/** `taken` names what the command takes from the file. */
export function addServerConfigOption(command: Command, taken = 'data directory and database'): Command {
  return command.option(
    '--config <file>',
    `configuration file of "frontdoor up" or "frontdoor control", for its ${taken}; options have precedence; for example /etc/frontdoor/frontdoor.yaml`,
  );
}

/** Gives the options of the command the values that the file has. Resolves to all values of the program's section. */
export async function takeServerValues(io: CliIo, command: Command): Promise<ConfigValues> {
  const { config } = command.opts<{ readonly config?: string }>();
  if (config === undefined) return new Map();
  const { readConfigFile } = await import('./config-file.ts');
  for (const section of SERVER_SECTIONS) {
    const [word] = section.words;
    const program = rootOf(command).commands.find((each) => each.name() === word)!;
    const values = await readConfigFile(config, section, configKeysOf(program));
    if (values.size === 0) continue;
    for (const key of configKeysOf(command))
      if (values.has(key.name) && !isOverridden(key, command, io))
        command.setOptionValueWithSource(key.name, values.get(key.name), 'config');
    return values;
  }
  return new Map();
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}
