/** Checks the data of configs by the JSON schemas of their types, which administrators write. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { messageOf } from '#base';

/** Returns undefined if the data is valid, or if the type has no schema. */
export function configProblem(schema: unknown, data: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null || Object.keys(schema).length === 0) return undefined;
  // Schemas of several drafts are in use, which agree in what configs need.
  const { $schema: _draft, ...rules } = schema as Record<string, unknown>;
  const ajv = new Ajv2020({ allErrors: false, strict: false, validateFormats: false, logger: false });
  try {
    const validate = ajv.compile(rules);
    return validate(data) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'data' });
  } catch (error) {
    return `the schema of the config type cannot be used: ${messageOf(error)}`;
  }
}
