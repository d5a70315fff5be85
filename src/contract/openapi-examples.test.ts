// Everything in the API's description is explained, and its examples are what it describes.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { stringFormats } from './format-table.ts';
import { openApiDocument, type OpenApiOperation } from './openapi.ts';

type Json = Readonly<Record<string, unknown>>;

const document = openApiDocument({ baseUrl: 'https://frontdoor.example', authUrl: 'https://id.example' });
const schemas = document.components['schemas'] as Readonly<Record<string, Json>>;
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

/** Every schema below a component, with its path. */
function* partsOf(schema: Json, path: string): Generator<readonly [path: string, schema: Json]> {
  yield [path, schema];
  for (const [name, field] of Object.entries((schema['properties'] ?? {}) as Record<string, Json>))
    yield* partsOf(field, `${path}.${name}`);
  if (schema['items'] !== undefined) yield* partsOf(schema['items'] as Json, `${path}[]`);
  for (const branch of (schema['oneOf'] ?? []) as readonly Json[]) yield* partsOf(branch, path);
}

const parts = Object.entries(schemas).flatMap(([name, schema]) => [...partsOf(schema, name)]);

const OTHER_FORMS: ReadonlySet<string> = new Set([
  'text/html',
  'text/event-stream',
  'text/csv',
  'application/gzip',
  'application/x-ndjson',
]);

/** The JSON bodies of an operation, with their examples. */
function bodiesOf({ operationId, requestBody, responses }: OpenApiOperation) {
  const contents = [requestBody?.content, ...Object.values(responses).map((each) => each['content'])];
  return contents.flatMap((content) =>
    Object.entries((content ?? {}) as Record<string, Json>)
      .filter(([type]) => !OTHER_FORMS.has(type))
      .map(([type, body]) => ({ id: `${operationId} ${type}`, body })),
  );
}

suite('the OpenAPI document', () => {
  test('describes every property', () => {
    const bare = parts.flatMap(([path, { properties = {} }]) =>
      Object.entries(properties as Record<string, Json>)
        .filter(([, field]) => field['description'] === undefined)
        .map(([name]) => `${path}.${name}`),
    );
    assert.deepEqual(bare, [], 'describe them in their schema or in field-description-table.ts');
  });

  test('has enumerations and objects under names, each once', () => {
    const inLine = parts.filter(
      ([path, { enum: values, properties }]) =>
        !Object.hasOwn(schemas, path) && (values !== undefined || properties !== undefined),
    );
    assert.deepEqual(
      inLine.map(([path]) => path),
      [],
      'give the enumeration a row in enumeration-table.ts',
    );
    const texts = new Map<string, string>();
    for (const [name, schema] of Object.entries(schemas)) {
      if (schema['enum'] === undefined) continue;
      const text = JSON.stringify(schema['enum']);
      assert.equal(texts.get(text), undefined, `${name} is ${texts.get(text)} once more`);
      texts.set(text, name);
    }
  });

  test('names every operation once, with a summary and a chapter that are explained', () => {
    const ids = operations.map(({ operationId }) => operationId);
    assert.equal(new Set(ids).size, ids.length);
    for (const { operationId, summary } of operations) assert.ok(String(summary).length > 0, operationId);
    for (const { name, description } of document.tags) assert.ok(description !== undefined, String(name));
  });

  test('has an example of every JSON body, which is what it describes', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    for (const [name, { check }] of Object.entries(stringFormats))
      ajv.addFormat(name === 'uuid' ? 'uuid' : name, check);
    ajv.addSchema(document, 'document');
    for (const { id, body } of operations.flatMap(bodiesOf)) {
      if ('$ref' in body) continue;
      assert.ok('example' in body, `${id} has no example`);
      const schema = JSON.parse(JSON.stringify(body['schema']).replaceAll('"#/', '"document#/')) as Json;
      const check = ajv.compile(schema);
      assert.ok(
        check(body['example']),
        `${id}: ${JSON.stringify(check.errors)} ${JSON.stringify(body['example'])}`,
      );
    }
  });
});
