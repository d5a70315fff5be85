/** Requests for one operation of the API's description: parts of it valid, parts hostile, and every mixture. */
import fc from 'fast-check';
import { definedFields } from '#base';
import type { OpenApiDocument } from '#contract';
import type { FuzzRequest } from './fuzz-server.ts';
import { hostileTexts } from './hostile-json.ts';
import {
  AUTHORIZATIONS,
  CONTENT_TYPES,
  HEADERS,
  HOSTILE_QUERIES,
  HOSTILE_STEPS,
  TOO_LARGE,
} from './hostile-request-table.ts';
import { valuesOf, type Resolve, type Schema } from './schema-values.ts';

export interface FuzzedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly DescribedParameter[];
  /** The schema of the JSON body; undefined when the operation reads none. */
  readonly body: Schema | undefined;
  /** What it may answer, and with which media types. */
  readonly answers: ReadonlyMap<number, readonly string[]>;
}

interface DescribedParameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}

/** What requests are made with: a caller that may do everything, and ids of what is there. */
export interface Surroundings {
  readonly authorization: string;
  readonly known: Readonly<Record<string, string>>;
}

export function resolverOf(document: OpenApiDocument): Resolve {
  return (reference) =>
    reference
      .split('/')
      .slice(1)
      .reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document) as Schema;
}

export function fuzzedOperations(document: OpenApiDocument): FuzzedOperation[] {
  const resolve = resolverOf(document);
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const content = operation.requestBody?.content['application/json'];
      const answers = Object.entries(operation.responses).map(([status, response]) => {
        const { $ref: reference } = response;
        const described = typeof reference === 'string' ? resolve(reference) : response;
        return [Number(status), Object.keys((described['content'] as object | undefined) ?? {})] as const;
      });
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        parameters: (operation.parameters ?? []) as unknown as DescribedParameter[],
        body: content?.['schema'] as Schema | undefined,
        answers: new Map(answers),
      };
    }),
  );
}

/** Deletions must not remove objects that others need, so the last step of such a path names no existing object. */
export function requestsFor(
  operation: FuzzedOperation,
  resolve: Resolve,
  { authorization, known }: Surroundings,
): fc.Arbitrary<FuzzRequest> {
  return fc
    .record({
      target: targets(operation, resolve, known),
      authorization: mostly(
        8,
        fc.constant<string | undefined>(authorization),
        fc.constantFrom(...AUTHORIZATIONS),
      ),
      contentType: mostly(6, fc.constant('application/json'), fc.constantFrom(...CONTENT_TYPES, undefined)),
      headers: mostly(4, fc.constant({}), fc.constantFrom(...HEADERS)),
      body: bodies(operation, resolve, known),
    })
    .map(({ target, authorization: shown, contentType, headers, body }) => ({
      method: operation.method,
      target,
      headers: {
        ...headers,
        ...definedFields({
          authorization: shown,
          'content-type': body === undefined ? undefined : contentType,
        }),
      },
      body,
    }));
}

function targets(
  { method, path, parameters }: FuzzedOperation,
  resolve: Resolve,
  known: Readonly<Record<string, string>>,
): fc.Arbitrary<string> {
  const steps = path.split('/').slice(1);
  const made = steps.map((step, index) => {
    const name = /^\{(\w+)\}$/.exec(step)?.[1];
    if (name === undefined) return fc.constant(step);
    const isDeleted = method === 'DELETE' && index === steps.length - 1;
    const { schema = {} } = parameters.find((each) => each.in === 'path' && each.name === name) ?? {};
    const valid = valuesOf(schema, resolve)
      .filter((value) => value !== '')
      .map((value) => encodeURIComponent(String(value).toWellFormed()));
    const existing = known[name] ?? known[steps[index - 1] ?? ''];
    const hostile = fc.oneof(valid, fc.constantFrom(...HOSTILE_STEPS));
    return isDeleted || existing === undefined ? hostile : mostly(5, fc.constant(existing), hostile);
  });
  const asked = parameters.filter((each) => each.in === 'query');
  const queries = fc.oneof(
    { weight: 1, arbitrary: fc.constant<readonly string[]>([]) },
    { weight: 3, arbitrary: fc.tuple(...asked.map((parameter) => pairs(parameter, resolve, known))) },
    { weight: 2, arbitrary: fc.array(fc.constantFrom(...HOSTILE_QUERIES), { maxLength: 3 }) },
  );
  return fc.tuple(fc.tuple(...made), queries).map(([parts, query]) => {
    const given = query.filter((pair) => pair !== '').join('&');
    return `/${parts.join('/')}${given === '' ? '' : `?${given}`}`;
  });
}

function pairs(
  { name, schema }: DescribedParameter,
  resolve: Resolve,
  known: Readonly<Record<string, string>>,
): fc.Arbitrary<string> {
  const existing = known[name];
  const valid = existing === undefined ? valuesOf(schema, resolve) : fc.constant(existing);
  const encoded = valid.map((value) => encodeURIComponent(String(value).toWellFormed()));
  const value = fc.oneof(
    { weight: 4, arbitrary: encoded },
    { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_STEPS) },
  );
  return fc.oneof(
    fc.constant(''),
    value.map((each) => `${name}=${each}`),
  );
}

function bodies(
  { body, method }: FuzzedOperation,
  resolve: Resolve,
  known: Readonly<Record<string, string>>,
): fc.Arbitrary<string | undefined> {
  if (body === undefined) {
    const none = fc.constant<string | undefined>(undefined);
    const some = method === 'GET' ? fc.constantFrom('{}', '{"a":1}', 'x') : hostileTexts(fc.constant({}));
    return mostly(method === 'GET' ? 8 : 4, none, some);
  }
  const valid = valuesOf(body, resolve).map((value) => withKnown(value, known));
  return fc.oneof(
    { weight: 60, arbitrary: hostileTexts(valid) },
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant(TOO_LARGE) },
  );
}

/** A body whose ids name what is there: others get no further than the first look-up. */
function withKnown(value: unknown, known: Readonly<Record<string, string>>): unknown {
  const fields = Object.entries(value as object).map(([name, field]) => {
    const existing = name.endsWith('Id') ? known[name] : undefined;
    return [name, existing ?? field] as const;
  });
  return Object.fromEntries(fields);
}

function mostly<T>(weight: number, usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });
}
