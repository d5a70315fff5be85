/**
 * Schemas as TypeBox builds them, with TypeBox's types but without its code: the schemas are plain JSON Schema,
 * and loading the library would load 300 modules (ADR 0018). They do not work with TypeBox's own compiler, which
 * needs its markers.
 */
import type TypeBox from 'typebox';
import type { TProperties, TSchema } from 'typebox';

type Builders = Pick<
  typeof TypeBox,
  'Array' | 'Boolean' | 'Integer' | 'Number' | 'Object' | 'Optional' | 'String' | 'Unknown' | 'Unsafe'
>;
type Keywords = Readonly<Record<string, unknown>>;

/**
 * Marks optional schemas with a key that is not enumerable, so that code that lists or copies keywords does not
 * see it.
 */
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
