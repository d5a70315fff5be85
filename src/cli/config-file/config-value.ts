/** Checks a value of the configuration file and converts it to that of its option, by the parser of the option. */
import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { isJsonObject } from '#base';
import type { PlacedProblem } from '#base/shapes';
import type { ConfigKey, ConfigForm } from './config-key.ts';

export type ConfigValue = { readonly value: unknown } | { readonly problems: readonly PlacedProblem[] };

/** Standard input or output instead of a file. */
const STREAM = '-';
const NAMED = /^([A-Za-z0-9_-]+=)(.+)$/s;

/** Paths in the value are relative to `folder`. The paths of problems begin at the value. */
export function readConfigValue(key: ConfigKey, given: unknown, folder: string): ConfigValue {
  const { form } = key;
  if (form.kind === 'flag')
    return typeof given === 'boolean' ? { value: given } : wrong(`must be ${formWords(form)}`);
  const texts = textsOf(form, given);
  if (texts === undefined) return wrong(`must be ${formWords(form)}`);
  const whole = form.separator === undefined ? texts : [texts.join(form.separator)];
  return parsed(key, whole, Array.isArray(given) && form.separator === undefined, folder);
}

/** The form of a value, after "must be". */
export function formWords({ kind, bounds, choices = [] }: ConfigForm): string {
  switch (kind) {
    case 'flag':
      return 'true or false';
    case 'switch':
      return 'on or off';
    case 'choice':
      return `one of ${choices.join(', ')}`;
    case 'number':
      return `a whole number from ${bounds?.join(' to ')}`;
    case 'list':
      return 'a list of texts, or one text';
    case 'settings':
      return 'a mapping of names to values';
    case 'text':
      return 'a text';
  }
}

/** The texts that the command line would have; undefined for a value of another form. */
function textsOf({ kind, choices = [] }: ConfigForm, given: unknown): readonly string[] | undefined {
  switch (kind) {
    case 'switch':
      if (typeof given === 'boolean') return [given ? 'on' : 'off'];
      return given === 'on' || given === 'off' ? [given] : undefined;
    case 'choice':
      return typeof given === 'string' && choices.includes(given) ? [given] : undefined;
    case 'number':
      return typeof given === 'number' ? [String(given)] : undefined;
    case 'settings':
      return settingsOf(given);
    case 'list':
      return Array.isArray(given) && given.length > 0 && given.every(isText) ? given : textOf(given);
    default:
      return textOf(given);
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function textOf(given: unknown): readonly string[] | undefined {
  return isText(given) ? [given] : undefined;
}

function settingsOf(given: unknown): readonly string[] | undefined {
  const entries = isJsonObject(given) ? Object.entries(given) : [];
  if (entries.length === 0) return undefined;
  if (entries.some(([, value]) => !isText(value) && typeof value !== 'number')) return undefined;
  return entries.map(([name, value]) => `${name}=${String(value)}`);
}

function parsed(
  { option, form }: ConfigKey,
  texts: readonly string[],
  isListed: boolean,
  folder: string,
): ConfigValue {
  const isList = form.kind === 'list' || form.kind === 'settings';
  const collect = option.parseArg ?? ((text: string, before: unknown) => collected(text, before, isList));
  const problems: PlacedProblem[] = [];
  let value: unknown;
  for (const [at, text] of texts.entries()) {
    try {
      value = collect(placed(form, text, folder), value);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      problems.push([isListed ? [String(at)] : [], error.message.replace(/\.$/, '')]);
    }
  }
  return problems.length === 0 ? { value } : { problems };
}

function collected(text: string, before: unknown, isList: boolean): unknown {
  return isList ? [...(Array.isArray(before) ? (before as string[]) : []), text] : text;
}

/** An absolute path, where the text has one. */
function placed({ kind, isPath }: ConfigForm, text: string, folder: string): string {
  const [, name = '', path = text] = kind === 'list' || kind === 'settings' ? (NAMED.exec(text) ?? []) : [];
  const isFile = isPath || (kind === 'settings' && name.endsWith('-file='));
  return isFile && path !== STREAM ? `${name}${resolve(folder, path)}` : text;
}

function wrong(message: string): ConfigValue {
  return { problems: [[[], message]] };
}
