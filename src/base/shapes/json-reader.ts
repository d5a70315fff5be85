/** Reads JSON that another process or an earlier version wrote: a column of a table, a sealed text that a client carried. */
import type { TSchema } from 'typebox';
import { anyObject } from './schema-parts.ts';
import { compileReader, type ShapeOf } from './schema-reader.ts';

/** The reader throws for a text that is damaged. Its message quotes nothing of the text, which may be secret. */
export function jsonReader<S extends TSchema>(schema: S): (text: string) => ShapeOf<S> {
  const read = compileReader(schema);
  return (text) => {
    const found = read(parsed(text));
    if ('value' in found) return found.value;
    throw new TypeError(
      `a stored value is damaged: ${found.field === '' ? 'it' : found.field} ${found.rule}`,
    );
  };
}

/** Reads an object whose fields its user judges. Throws as `jsonReader` says. */
export const readJsonObject = jsonReader(anyObject());

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TypeError('a stored value is damaged: it is not JSON');
  }
}
