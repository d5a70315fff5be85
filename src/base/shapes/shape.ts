/**
 * A shape is the form of something that one program of Frontdoor sends to another or keeps in a file, with the number of its
 * format. A reader takes every text of its own format: fields that it does not know are treated as the schema says,
 * missing ones get their defaults. A format above its own is refused by name, with what to do about it. The number is a
 * field of the value, or travels beside it (in the header `FORMAT_HEADER` over HTTP); where it is absent it is 1.
 */
import type { TSchema } from 'typebox';
import { isJsonObject } from '../json-object.ts';
import { compileReader, type SchemaValue, type SchemaReader, type ShapeOf } from './schema-reader.ts';

/** HTTP header of requests and answers whose body has a shape. */
export const FORMAT_HEADER = 'frontdoor-format';

export interface ShapeTraits {
  /** For messages: `traffic report`. */
  readonly name: string;
  /** Grows when a reader of the old format would misunderstand the new one; a field more is no reason. */
  readonly format: number;
  /** The field of the value that holds the number; absent when the number travels beside the value. */
  readonly formatField?: string | undefined;
  /** What to do when a newer format comes: `upgrade this gateway`. */
  readonly remedy: string;
}

export interface ShapeProblem {
  /** One sentence without a full stop, fit for logs and answers; it quotes nothing of the value. */
  readonly problem: string;
  /** Dotted path of what is wrong; '' for the whole. */
  readonly field: string;
  /** The value is of a newer format. */
  readonly isNewer: boolean;
}

const lostByShape = new Map<string, number>();

/** Entries that readers of this process have left out since its start, by the name of the shape that was read. */
export function lostShapeEntries(): ReadonlyMap<string, number> {
  return lostByShape;
}

function countLost(name: string, entries: number): void {
  lostByShape.set(name, (lostByShape.get(name) ?? 0) + entries);
}

export class Shape<S extends TSchema> implements ShapeTraits {
  readonly name: string;
  readonly format: number;
  readonly formatField: string | undefined;
  readonly remedy: string;
  readonly schema: S;
  #reader: SchemaReader<ShapeOf<S>> | undefined;

  constructor(schema: S, traits: ShapeTraits) {
    this.schema = schema;
    this.name = traits.name;
    this.format = traits.format;
    this.formatField = traits.formatField;
    this.remedy = traits.remedy;
  }

  /** Reads a value of unknown form. `format` is the number that came beside it, as text or number. */
  read(value: unknown, format?: unknown): SchemaValue<ShapeOf<S>> | ShapeProblem {
    const { formatField } = this;
    let content = value;
    let number = format;
    if (formatField !== undefined && isJsonObject(value)) {
      const { [formatField]: own, ...rest } = value;
      number = own;
      content = rest;
    }
    const newer = this.newerThanKnown(number);
    if (newer !== undefined) return { problem: newer, field: '', isNewer: true };
    if (this.#reader === undefined) {
      this.#reader = compileReader<S>(this.schema);
      // So that the counter of a shape exists before its first loss.
      countLost(this.name, 0);
    }
    const read = this.#reader(content);
    if ('value' in read) {
      if (read.lost.length > 0) countLost(this.name, read.lost.length);
      return read;
    }
    const { field, rule } = read;
    return { problem: `${this.name}: ${field === '' ? 'it' : field} ${rule}`, field, isNewer: false };
  }

  /** Reads JSON. */
  readText(text: string, format?: unknown): SchemaValue<ShapeOf<S>> | ShapeProblem {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return { problem: `${this.name}: it is not JSON`, field: '', isNewer: false };
    }
    return this.read(value, format);
  }

  /** The value with its number, as it is sent or kept; the same value when the number travels beside it. */
  numbered(value: ShapeOf<S>): ShapeOf<S> {
    return this.formatField === undefined
      ? value
      : ({ [this.formatField]: this.format, ...(value as object) } as ShapeOf<S>);
  }

  /** The sentence that refuses a format above the known one; undefined for a known one, or none. */
  newerThanKnown(format: unknown): string | undefined {
    const number = typeof format === 'string' && /^\d{1,9}$/.test(format) ? Number(format) : format;
    if (number === undefined || (typeof number === 'number' && number <= this.format)) return undefined;
    const given = typeof number === 'number' ? `format ${number}` : 'an unknown format';
    return `${this.name}: it has ${given}, and this version reads up to ${this.format}: ${this.remedy}`;
  }
}
