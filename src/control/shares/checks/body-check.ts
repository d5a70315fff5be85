/**
 * Checks bodies against the contract's schemas. A problem is stated in the API's form: which property (as a
 * dotted path) must be of which type.
 */
import type { TSchema } from 'typebox';
import { lazy, nearestNames } from '#base';
import { ruleWords, shownName, typeWord } from '#contract';
import { invalidValue } from '#domain';
import { schemaCompiler, type ErrorObject, type ValidateFunction } from '../../json-schema/mod.ts';

/** Throws `invalid` with the first problem. */
export type BodyCheck = (body: unknown) => void;

const SUGGESTED_NAMES = 3;

const compiler = lazy(() => schemaCompiler('contract'));

/**
 * Returns the check of bodies by a schema. The schema is compiled with the first body: all schemas of the API together take
 * a fifth of a second, which every start and every command would wait for.
 */
export function bodyCheckOf(schema: TSchema): BodyCheck {
  let compiled: ValidateFunction | undefined;
  return (body) => {
    const validate = (compiled ??= compiler().compile(schema));
    if (validate(body)) return;
    const problem = problemOf(validate.errors![0]!);
    throw invalidValue(problem.property, problem.type);
  };
}

type Json = Readonly<Record<string, unknown>>;

function problemOf(error: ErrorObject): { readonly property: string; readonly type: string } {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const schema = error.parentSchema as Json;
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Json>>;
  switch (error.keyword) {
    case 'required': {
      const name = String(error.params['missingProperty']);
      return { property: dotted([...path, name]), type: typeWord(properties[name] ?? {}, true) };
    }
    case 'additionalProperties': {
      const name = String(error.params['additionalProperty']);
      return {
        property: dotted([...path, shownName(name)]),
        type: nearestNames(name, Object.keys(properties), SUGGESTED_NAMES).join(', '),
      };
    }
    case 'enum':
      return { property: dotted(path), type: (error.params['allowedValues'] as unknown[]).join(' or ') };
    case 'type':
      return { property: dotted(path), type: typeWord(schema, false) };
    default:
      return { property: dotted(path), type: ruleWords(schema, error.data) };
  }
}

function dotted(path: readonly string[]): string {
  return path.length === 0 ? 'body' : path.join('.');
}
