/**
 * Schemas as TypeBox builds them, with its types and without its code: here they are plain JSON Schema, and the library
 * is 300 modules to load (ADR 0018). Not for TypeBox's own compiler, which looks for its marks.
 */
import type TypeBox from 'typebox';
import type { TProperties, TSchema } from 'typebox';

type Builders = Pick<
  typeof TypeBox,
  'Array' | 'Boolean' | 'Integer' | 'Number' | 'Object' | 'Optional' | 'String' | 'Unknown' | 'Unsafe'
>;
type Keywords = Readonly<Record<string, unknown>>;

/** On a schema, out of sight of whoever lists or copies its keywords. */
const OPTIONAL = '~optional';

const plain = (type: string) => (keywords?: Keywords) => ({ type, ...keywords });

function objectOf(properties: TProperties, keywords?: Keywords): Keywords {
  const required = Object.keys(properties).filter((name) => !Object.hasOwn(properties[name]!, OPTIONAL));
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...keywords };
}

export const Type = {
  Array: (items: TSchema, keywords?: Keywords) => ({ type: 'array', items, ...keywords }),
  Boolean: plain('boolean'),
  Integer: plain('integer'),
  Number: plain('number'),
  Object: objectOf,
  Optional: (schema: TSchema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  String: plain('string'),
  Unknown: (keywords?: Keywords) => ({ ...keywords }),
  Unsafe: (schema: Keywords) => ({ ...schema }),
} as unknown as Builders;
