/**
 * All problems of a value that a person wrote, where a reader stops at the first. Objects and lists are entered, and each
 * other part is judged by a reader of its own schema, so that both say the same of it.
 */
import type { TSchema } from 'typebox';
import { isJsonObject } from '../json-object.ts';
import { compileReader } from './schema-reader.ts';

/** Names of fields and indexes, from the root. */
export type ValuePath = readonly string[];
export type PlacedProblem = readonly [path: ValuePath, rule: string];

interface Keywords {
  readonly items?: Keywords;
  readonly properties?: Readonly<Record<string, Keywords>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Keywords;
}

/** Returns the first problem of each part, at most `most` of them; none for a value that a reader of the schema accepts. */
export function schemaProblems(schema: TSchema, value: unknown, most: number): PlacedProblem[] {
  const found: PlacedProblem[] = [];
  addProblems(schema, value, [], { found, most });
  return found;
}

interface Finding {
  readonly found: PlacedProblem[];
  readonly most: number;
}

function addProblems(schema: Keywords, value: unknown, path: ValuePath, finding: Finding): void {
  const { found, most } = finding;
  const before = found.length;
  if (before >= most) return;
  if (schema.properties !== undefined || isSchema(schema.additionalProperties)) {
    if (isJsonObject(value)) addFieldProblems(schema, value, path, finding);
  } else if (schema.items !== undefined && Array.isArray(value)) {
    for (const [at, item] of value.entries()) addProblems(schema.items, item, [...path, `${at}`], finding);
  }
  if (found.length > before) return;
  const read = compileReader(schema)(value);
  if ('rule' in read) found.push([path, read.rule]);
}

function addFieldProblems(
  { properties = {}, required = [], additionalProperties: others }: Keywords,
  value: Readonly<Record<string, unknown>>,
  path: ValuePath,
  finding: Finding,
): void {
  const { found, most } = finding;
  for (const name of required) if (value[name] === undefined) found.push([path, `must have ${name}`]);
  const known = Object.keys(properties);
  for (const [name, each] of Object.entries(value)) {
    if (found.length >= most) return;
    const at = [...path, name];
    if (Object.hasOwn(properties, name)) addProblems(properties[name]!, each, at, finding);
    else if (isSchema(others)) addProblems(others, each, at, finding);
    else if (others === false) found.push([at, `is not a field here; known fields are ${known.join(', ')}`]);
  }
}

function isSchema(keyword: boolean | Keywords | undefined): keyword is Keywords {
  return typeof keyword === 'object';
}
