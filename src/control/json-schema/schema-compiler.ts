/** Compiles JSON Schema of draft 2020-12. No other file loads ajv (ADR 0082). */
import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import { stringFormats } from '#contract';

export type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';

const OPTIONS = {
  /**
   * The constants of the contract. They are not validated, which would compile the meta-schemas: that would block the first
   * request with a body for 180 ms. A compiler keeps what it has compiled by the object of its schema.
   */
  contract: { validateSchema: false, verbose: true },
  /** Documents that administrators write. Drafts differ in words, so that unknown ones and formats are ignored. */
  administrators: { strict: false, validateFormats: false, logger: false },
} as const satisfies Readonly<Record<string, Options>>;

/** Reports the first problem of a value. */
export function schemaCompiler(authors: keyof typeof OPTIONS): Ajv2020 {
  const compiler = new Ajv2020(OPTIONS[authors]);
  if (authors === 'contract')
    for (const [name, { check }] of Object.entries(stringFormats))
      compiler.addFormat(name, { type: 'string', validate: check });
  return compiler;
}
