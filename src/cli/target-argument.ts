/** What a person gives as the target of a share: an address, or a path of this machine. */
import { resolve } from 'node:path';
import { Option } from 'commander';
import { FrontdoorError } from '#base';
import { BACKEND_MODE_TABLE, folderTarget, targetForms } from '#domain/backend-modes';

/** The help of the argument. */
export function targetArgument(): string {
  return `${targetForms()}, or the path of a folder, such as ./public`;
}

/** The options of targets, which are switches of the command. */
export function targetOptions(): readonly { readonly name: string; readonly text: string }[] {
  return Object.values(BACKEND_MODE_TABLE).flatMap(({ options = {} }) =>
    Object.entries(options).map(([name, { en: text }]) => ({ name, text })),
  );
}

/** A path is relative to the folder of this command: the agent may have been started in another. */
export function targetOf(given: string, flags: Readonly<Record<string, unknown>>): string {
  const chosen = targetOptions()
    .map(({ name }) => name)
    .filter((name) => flags[new Option(`--${name}`).attributeName()] === true);
  if (/^\.{0,2}\/|^\.{1,2}$/.test(given)) return folderTarget(resolve(given), chosen);
  if (chosen.length === 0) return given;
  throw new FrontdoorError(
    'invalid',
    'target-option',
    `--${chosen[0]} is for the path of a folder, such as ./public`,
  );
}
