/** Decodes the values of a valid file into the router's configuration, with the decoders of the fields. */
import { notesOf, type ConfigOf, type DecodePlace, type Field } from './schema-field.ts';
import { kindRow } from './text-kinds.ts';

/** `value` has passed the checks and contains all defaults, so decoding cannot fail. */
export function decodeConfig<F extends Field>(field: F, value: unknown, place: DecodePlace): ConfigOf<F> {
  return decodeField(field, value, place) as ConfigOf<F>;
}

function decodeField(field: Field, given: unknown, place: DecodePlace): unknown {
  const value = given === undefined && field.type === 'array' ? [] : given;
  if (value === undefined) return undefined;
  const decode = field.decode as ((inner: unknown, place: DecodePlace) => unknown) | undefined;
  if (field.type === 'string' && field.enum === undefined && decode === undefined)
    return kindRow(notesOf(field).kind ?? 'text').read(value as string, place.interfaces);
  const inner = decodeInside(field, value, place);
  return decode === undefined ? inner : decode(inner, place);
}

function decodeInside(field: Field, value: unknown, place: DecodePlace): unknown {
  const { path } = place;
  if (field.type === 'array')
    return (value as unknown[]).map((item, i) =>
      decodeField(field.items!, item, { ...place, path: `${path}[${i}]` }),
    );
  if (field.type !== 'object') return value;
  const values = value as Readonly<Record<string, unknown>>;
  const fields = Object.entries(field.properties ?? {}).filter(([, child]) => child.isUnread !== true);
  return Object.fromEntries(
    fields.map(([key, child]) => {
      const at = path === '' ? key : `${path}.${key}`;
      return [child.as ?? key, decodeField(child, values[key], { ...place, path: at })];
    }),
  );
}
