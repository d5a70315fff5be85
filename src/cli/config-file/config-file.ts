/**
 * Reads the section of one program from the configuration file, with all problems at once (ADR 0103). The rules are those of
 * the program's options, so there is no schema here. Loaded only if there is a file.
 */
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { FrontdoorError, isJsonObject, messageOf, nearestNames, Secret, withoutUserInfo } from '#base';
import { inFileOrder, type FileProblem, type ValuePath } from '#base/shapes';
import { PROGRAM_SECTIONS, SHARE_SECTIONS } from '#domain';
import { invalidFile } from '#domain/invalid-file';
import { checkNotWritableByOthers, isOpenToOthers } from '#net/files';
import { fileProblem, readYaml, type LocatedValues } from '#net/yaml-file';
import type { ConfigKey } from './config-key.ts';
import { CONFIG_SECTIONS, type ConfigSection } from './config-section-table.ts';
import { readConfigValue } from './config-value.ts';

export interface SectionPlace {
  readonly section: ConfigSection;
  readonly keys: readonly ConfigKey[];
  /** Paths in the file are relative to it. */
  readonly folder: string;
  /** Whether other users may read the file. */
  readonly isOpen: boolean;
}

/** The values of options by the names of their keys. */
export type ConfigValues = ReadonlyMap<string, unknown>;

/** The file of an agent may have many shares. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_PROBLEMS = 100;
const TOP_LEVEL: readonly string[] = [...PROGRAM_SECTIONS, ...SHARE_SECTIONS];

/** Rejects with a FrontdoorError that has all problems of the section, and of the names of sections. */
export async function readConfigFile(
  file: string,
  section: ConfigSection,
  keys: readonly ConfigKey[],
): Promise<ConfigValues> {
  const content = await contentOf(file);
  const read = readConfigText(content.text, {
    section,
    keys,
    folder: dirname(resolve(file)),
    isOpen: content.isOpen,
  });
  if ('values' in read) return read.values;
  throw invalidFile(file, inFileOrder(read.problems));
}

export function readConfigText(
  text: string,
  place: SectionPlace,
): { readonly values: ConfigValues } | { readonly problems: readonly FileProblem[] } {
  const located = readYaml(text, MAX_BYTES);
  if ('problems' in located) return located;
  const reading = new SectionReading(located, place);
  reading.read();
  const { values, problems } = reading;
  return problems.length === 0 ? { values } : { problems: problems.slice(0, MAX_PROBLEMS) };
}

async function contentOf(file: string): Promise<{ readonly text: string; readonly isOpen: boolean }> {
  try {
    const handle = await open(file);
    try {
      const info = await handle.stat();
      checkNotWritableByOthers(file, info);
      if (!info.isFile() || info.size > MAX_BYTES)
        throw unreadable(file, `it is no regular file of at most ${MAX_BYTES} bytes`);
      return { text: await handle.readFile('utf8'), isOpen: isOpenToOthers(info) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw error instanceof FrontdoorError ? error : unreadable(file, messageOf(error), error);
  }
}

function unreadable(file: string, why: string, cause?: unknown): FrontdoorError {
  return new FrontdoorError('invalid', 'config-unreadable', `cannot read ${file}: ${why}`, { cause });
}

class SectionReading {
  readonly values = new Map<string, unknown>();
  readonly problems: FileProblem[] = [];
  readonly #located: LocatedValues;
  readonly #place: SectionPlace;

  constructor(located: LocatedValues, place: SectionPlace) {
    this.#located = located;
    this.#place = place;
  }

  read(): void {
    const { path } = this.#place.section;
    let above: unknown = this.#located.value;
    for (const [depth, name] of path.entries()) {
      const fields = this.#fieldsOf(above, path.slice(0, depth));
      this.#refuseUnknown(fields, path.slice(0, depth), namesBelow(path.slice(0, depth)));
      above = fields[name];
    }
    const fields = this.#fieldsOf(above, path);
    const { keys } = this.#place;
    this.#refuseUnknown(
      fields,
      path,
      keys.map(({ name }) => name),
    );
    for (const key of keys) if (Object.hasOwn(fields, key.name)) this.#readKey(key, fields);
  }

  /** A section whose lines are all comments has no value. */
  #fieldsOf(value: unknown, path: ValuePath): Readonly<Record<string, unknown>> {
    if (isJsonObject(value)) return value;
    if (value !== undefined && value !== null) this.#report(path, 'must be a mapping of names to values');
    return {};
  }

  #refuseUnknown(fields: Readonly<Record<string, unknown>>, path: ValuePath, known: readonly string[]): void {
    for (const name of Object.keys(fields)) {
      if (known.includes(name)) continue;
      const [nearest] = nearestNames(name, known, 1);
      this.#report([...path, name], `is not known here; the nearest known name is ${nearest}`);
    }
  }

  #readKey(key: ConfigKey, fields: Readonly<Record<string, unknown>>): void {
    const { folder, isOpen, section } = this.#place;
    const { form, name, twin } = key;
    const path = [...section.path, name];
    if (twin !== undefined && Object.hasOwn(fields, twin))
      this.#report(path, `cannot be used together with ${twin}`);
    const read = readConfigValue(key, fields[name], folder);
    if ('problems' in read) {
      const isShown = !form.isSecret && form.kind !== 'settings';
      for (const [below, message] of read.problems) this.#report([...path, ...below], message, isShown);
    } else if (isOpen && read.value instanceof Secret && isPrivate(read.value)) {
      this.#report(
        path,
        `has a secret, and other users can read this file: run chmod 600, or ${elsewhere(key)}`,
      );
    } else this.values.set(name, read.value);
  }

  #report(path: ValuePath, message: string, showsValue = false): void {
    const problem = fileProblem(this.#located, path, message);
    const { value } = problem;
    const shown = typeof value === 'string' ? withoutUserInfo(value) : value;
    this.problems.push({ ...problem, value: showsValue ? shown : undefined });
  }
}

/** The names that may stand below a path that leads to sections. */
function namesBelow(path: readonly string[]): readonly string[] {
  if (path.length === 0) return TOP_LEVEL;
  return Object.values<ConfigSection>(CONFIG_SECTIONS).flatMap((each) =>
    each.path[0] === path[0] && each.path.length > path.length ? [each.path[path.length]!] : [],
  );
}

/** A URL is private if it has a password. */
function isPrivate(secret: Secret): boolean {
  const url = URL.parse(secret.reveal());
  return url === null ? true : url.password !== '' || url.searchParams.has('password');
}

function elsewhere({ option, twin, variable }: ConfigKey): string {
  if (twin !== undefined) return `use ${twin}`;
  return variable === undefined ? `give it with ${option.long}` : `use the variable ${variable}`;
}
