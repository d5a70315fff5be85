/** Checks the data of configs by the JSON schemas of their types, which administrators write. */
import { messageOf } from '#base';
import { schemaCompiler } from '../../json-schema/mod.ts';

/** Returns undefined if the data is valid, or if the type has no schema. */
export function configProblem(schema: unknown, data: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null || Object.keys(schema).length === 0) return undefined;
  // Schemas of several drafts are in use, which agree in what configs need.
  const { $schema: _draft, ...rules } = schema as Record<string, unknown>;
  // A new one for each document: it would keep what it has compiled.
  const compiler = schemaCompiler('administrators');
  try {
    const validate = compiler.compile(rules);
    return validate(data) ? undefined : compiler.errorsText(validate.errors, { dataVar: 'data' });
  } catch (error) {
    return `the schema of the config type cannot be used: ${messageOf(error)}`;
  }
}
