/**
 * The JSON Schema (draft 2020-12) of the router file, for editors. Only `check` verifies rules that concern several
 * fields.
 */
import { definedFields } from '#base';
import { isNeeded, notesOf, type Field } from './schema-field.ts';
import { routerFileField } from './schema/router-file-schema.ts';
import { kindRow, type TextKind } from './text-kinds.ts';
import { describe } from './field-words.ts';

type Json = Readonly<Record<string, unknown>>;

export function routerFileJsonSchema(): Json {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Router configuration',
    ...jsonSchemaOf(routerFileField),
  };
}

function jsonSchemaOf(field: Field): Json {
  const notes = notesOf(field);
  if (notes.isLegacy === true) return { description: describe(field), deprecated: true };
  const common: Json = definedFields({
    description: describe(field),
    default: field.default,
    deprecated: notes.isUnsupported,
  });
  const value = valueSchemaOf(field);
  const { type } = value;
  const isEmptyAllowed = notes.isEmptyAllowed === true || notes.isKindLenient === true;
  if (isEmptyAllowed && typeof type === 'string') return { ...common, ...value, type: [type, 'null'] };
  return { ...common, ...value };
}

function valueSchemaOf(field: Field): Json {
  const { kind, integerUnitMs, isZeroAllowed, isSingleAllowed, isAnyCase, least, beyond } = notesOf(field);
  if (field.const !== undefined) return { const: field.const };
  switch (field.type) {
    case 'object':
      return objectSchemaOf(field);
    case 'array': {
      const items = jsonSchemaOf(field.items!);
      const array = definedFields({ type: 'array', items, minItems: field.minItems });
      return isSingleAllowed === true ? { anyOf: [array, items] } : array;
    }
    case 'string': {
      if (field.enum !== undefined) return isAnyCase === true ? { type: 'string' } : { enum: field.enum };
      const text = textSchemaOf(kind ?? 'text');
      if (integerUnitMs !== undefined) return { anyOf: [text, integerSchema(field, integerUnitMs)] };
      const isZeroTaken = isZeroAllowed === true && ((least ?? 0) <= 0 || beyond !== undefined);
      return isZeroTaken ? { anyOf: [text, { const: 0 }] } : text;
    }
    case 'integer':
      return integerSchema(field, 1);
    case 'number':
      return { type: 'number', ...boundsOf(field, 1) };
    default:
      return field.type === undefined ? {} : { type: field.type };
  }
}

function objectSchemaOf(section: Field): Json {
  const { properties = {} } = section;
  const needed = Object.keys(properties).filter((name) => isNeeded(section, name));
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [name, jsonSchemaOf(field)]),
    ),
    ...(needed.length === 0 ? {} : { required: needed }),
    // Editors mark an unknown key as an error, although the router only warns of it.
    additionalProperties: false,
  };
}

function textSchemaOf(kind: TextKind): Json {
  const { pattern } = kindRow(kind);
  if (kind === 'any-text') return { type: 'string' };
  // A text with variables is valid for editors, because its value is not known before substitution.
  return pattern === undefined
    ? { type: 'string', minLength: 1 }
    : { type: 'string', pattern: `^(?:${pattern}|.*\\$.*)$` };
}

function integerSchema(field: Field, unit: number): Json {
  return { type: 'integer', ...boundsOf(field, unit) };
}

/** A bound that only causes a warning is not part of the schema. */
function boundsOf(field: Field, unit: number): Json {
  const { least, most, beyond, boundsYieldTo } = notesOf(field);
  if (beyond !== undefined || boundsYieldTo !== undefined) return {};
  return definedFields({ minimum: least && least / unit, maximum: most && most / unit });
}
