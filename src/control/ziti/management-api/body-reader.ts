/**
 * Reads the JSON bodies of the edge management API. A field of the wrong form, and an unknown one with a value, are
 * refused with OpenZiti's code and the field's name. Absent, null and empty fields are alike, because Go clients send
 * every field.
 */
import { isJsonObject } from '#base';
import { invalidParameter, type EdgeApiRefusal } from '../../overlay/clients/mod.ts';
import type { JsonObject } from '../../overlay/model/mod.ts';

export const MAX_NAME_CHARS = 256;
const MAX_TEXT_CHARS = 1_024;
const MAX_TEXTS = 512;
const MAX_QUOTED_CHARS = 200;
/** As JSON. */
const MAX_PART_CHARS = 65_536;

export class BodyReader {
  readonly #body: JsonObject;
  readonly #place: string;
  readonly #read = new Set<string>();

  /** `place` precedes the names of fields in refusals: `processes[3].`. */
  constructor(body: JsonObject, place = '') {
    this.#body = body;
    this.#place = place;
  }

  name(): string {
    const name = this.text('name', MAX_NAME_CHARS);
    if (name === '' || /\p{Cc}/u.test(name))
      throw this.#refused('name', `name must have 1 to ${MAX_NAME_CHARS} characters`);
    return name;
  }

  /** Returns '' for an absent text. */
  text(field: string, maxChars = MAX_TEXT_CHARS): string {
    const value = this.#take(field) ?? '';
    if (typeof value !== 'string' || value.length > maxChars)
      throw this.#refused(field, `${field} must be a text of at most ${maxChars} characters`);
    return value;
  }

  textOrNull(field: string): string | null {
    const value = this.text(field);
    return value === '' ? null : value;
  }

  flag(field: string): boolean {
    const value = this.#take(field) ?? false;
    if (typeof value !== 'boolean') throw this.#refused(field, `${field} must be true or false`);
    return value;
  }

  whole(field: string, max: number, min = 0): number {
    const value = this.#take(field) ?? 0;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)
      throw this.#refused(field, `${field} must be a whole number from ${min} to ${max}`);
    return value;
  }

  /** The first of `values` is the default. */
  choice<T extends string>(field: string, values: readonly [T, ...T[]]): T {
    const value = this.#take(field) ?? values[0];
    const found = values.find((one) => one === value);
    if (found === undefined) throw this.#refused(field, `${field} must be one of [${values.join(',')}]`);
    return found;
  }

  /** Returns the texts without repeats. */
  texts(field: string): string[] {
    const value = this.#take(field) ?? [];
    const areTexts =
      Array.isArray(value) &&
      value.length <= MAX_TEXTS &&
      value.every((one) => typeof one === 'string' && one !== '' && one.length <= MAX_NAME_CHARS);
    if (!areTexts) throw this.#refused(field, `${field} must be a list of at most ${MAX_TEXTS} texts`);
    return [...new Set(value as string[])];
  }

  /** Roles of a policy: `#attribute` or `@id`. */
  roles(field: string): string[] {
    const roles = this.texts(field);
    const wrong = roles.find((role) => !/^[#@]./.test(role));
    if (wrong !== undefined) throw this.#refused(field, `role ${wrong} must begin with # or @`);
    return roles;
  }

  /** An object of at most `maxChars` as JSON. */
  object(field: string, maxChars: number): JsonObject {
    const value = this.#take(field) ?? {};
    if (typeof value !== 'object' || Array.isArray(value))
      throw this.#refused(field, `${field} must be an object`);
    if (JSON.stringify(value).length > maxChars)
      throw this.#refused(field, `${field} must have at most ${maxChars} characters as JSON`);
    return { ...value };
  }

  /** Reads each object of a list by a reader of its own. `nameOf` names a field by its key. */
  list<T>(
    field: string,
    maxCount: number,
    read: (reader: BodyReader) => T,
    nameOf: (key: string) => string = (key) => key,
  ): T[] {
    const value = this.#take(field) ?? [];
    if (!Array.isArray(value) || value.length > maxCount || !value.every(isJsonObject))
      throw this.#refused(field, `${field} must be a list of at most ${maxCount} objects`);
    return value.map((one, at) => {
      const fields = Object.entries(one).map(([key, each]) => [nameOf(key), each]);
      const reader = new BodyReader(
        Object.fromEntries(fields) as JsonObject,
        `${this.#place}${field}[${at}].`,
      );
      const found = read(reader);
      reader.end();
      return found;
    });
  }

  /** Reads an object by a reader of its own. Absent fields are false, none or 0. */
  part<T>(field: string, read: (reader: BodyReader) => T): T {
    const reader = new BodyReader(this.object(field, MAX_PART_CHARS), `${this.#place}${field}.`);
    const found = read(reader);
    reader.end();
    return found;
  }

  /** The refusal of a field whose form is right, but not its value. */
  refusal(field: string, reason: string): EdgeApiRefusal {
    return this.#refused(field, reason);
  }

  /** Accepts a field whose only value is the default, which clients send. */
  only(field: string, ...values: readonly unknown[]): void {
    const value = this.#take(field);
    if (!isEmpty(value) && !values.includes(value)) throw this.#refused(field, `${field} is not supported`);
  }

  /** Refuses fields that nobody read. */
  end(): void {
    for (const [field, value] of Object.entries(this.#body)) {
      if (this.#read.has(field) || isEmpty(value)) continue;
      throw this.#refused(
        field.slice(0, MAX_QUOTED_CHARS),
        `${field.slice(0, MAX_QUOTED_CHARS)} is not a field of this entity`,
      );
    }
  }

  #take(field: string): unknown {
    this.#read.add(field);
    const value = Object.hasOwn(this.#body, field) ? this.#body[field] : undefined;
    return value === null ? undefined : value;
  }

  #refused(field: string, reason: string): EdgeApiRefusal {
    const value = Object.hasOwn(this.#body, field) ? JSON.stringify(this.#body[field]) : '';
    return invalidParameter(`${this.#place}${field}`, reason, value.slice(0, MAX_QUOTED_CHARS));
  }
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
