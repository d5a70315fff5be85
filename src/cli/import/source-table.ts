/** A table of another program's file. It reports values of a wrong type, and at the end the keys that nobody has read. */
import { isJsonObject } from '#base';
import type { ValuePath } from '#base/shapes';
import type { ImportNotes } from './import-notes.ts';

export class SourceTable {
  readonly path: ValuePath;
  readonly notes: ImportNotes;
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #read = new Set<string>();

  constructor(fields: Readonly<Record<string, unknown>>, path: ValuePath, notes: ImportNotes) {
    this.path = path;
    this.notes = notes;
    this.#fields = fields;
  }

  get line(): number {
    return this.notes.lineOf(this.path);
  }

  get keys(): readonly string[] {
    return Object.keys(this.#fields);
  }

  has(key: string): boolean {
    return this.#value(key) !== undefined;
  }

  text(key: string): string | undefined {
    return this.#typed(key, isText, 'a text in quotation marks');
  }

  /** A text, or a number such as a port. */
  plain(key: string): string | undefined {
    const value = this.#typed(key, isPlain, 'a text or a number');
    return value === undefined ? undefined : String(value);
  }

  number(key: string): number | undefined {
    return this.#typed(key, isNumber, 'a number');
  }

  flag(key: string): boolean | undefined {
    return this.#typed(key, isFlag, 'true or false');
  }

  /** A list of texts, or one text alone. */
  texts(key: string): readonly string[] {
    const value = this.#typed(key, isTexts, 'a list of texts');
    return typeof value === 'string' ? [value] : (value ?? []);
  }

  table(key: string): SourceTable | undefined {
    const fields = this.#typed(key, isJsonObject, 'a table of keys and values');
    return fields === undefined ? undefined : new SourceTable(fields, this.at(key), this.notes);
  }

  /** An entry that is no table is reported and left out. */
  tables(key: string): readonly SourceTable[] {
    const list = this.#typed(key, isList, 'a list') ?? [];
    return list.flatMap((fields, at) => {
      const path = [...this.at(key), String(at)];
      if (isJsonObject(fields)) return [new SourceTable(fields, path, this.notes)];
      this.notes.problem(path, 'must be a table of keys and values: correct the entry');
      return [];
    });
  }

  /** The tables of a table, with their names. */
  named(key: string): readonly (readonly [name: string, table: SourceTable])[] {
    const all = this.table(key);
    return (all?.keys ?? []).flatMap((name) => {
      const table = all!.table(name);
      return table === undefined ? [] : [[name, table] as const];
    });
  }

  /** Reports that a key cannot be carried over, if the table has it. Returns whether it has. */
  leave(key: string, advice: string): boolean {
    const isThere = this.has(key);
    if (isThere) this.remark(key, advice);
    return isThere;
  }

  remark(key: string, advice: string): void {
    this.#read.add(key);
    this.notes.remark(key === '' ? this.path : this.at(key), advice);
  }

  /** Keys without a meaning for shares. */
  ignore(...keys: readonly string[]): void {
    for (const key of keys) this.#read.add(key);
  }

  leaveOthers(advice = 'Frontdoor has no such setting here: check whether the service needs it.'): void {
    for (const key of this.keys) if (!this.#read.has(key)) this.leave(key, advice);
  }

  at(key: string): ValuePath {
    return [...this.path, key];
  }

  #value(key: string): unknown {
    if (!Object.hasOwn(this.#fields, key)) return undefined;
    return this.#fields[key] ?? undefined;
  }

  #typed<T>(key: string, is: (value: unknown) => value is T, wanted: string): T | undefined {
    this.#read.add(key);
    const value = this.#value(key);
    if (value === undefined || is(value)) return value;
    this.notes.problem(this.at(key), `must be ${wanted}: correct the value, or remove the key`);
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
const isPlain = (value: unknown): value is string | number => isText(value) || isNumber(value);
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isTexts = (value: unknown): value is string | readonly string[] =>
  isText(value) || (isList(value) && value.every(isText));
