// The API's description says all that the operation table says, in words that anybody's tools know.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openApiDocument, type OpenApiOperation } from './openapi.ts';
import { operations } from './operation-table.ts';
import type { Operation } from './operation.ts';

const baseUrl = 'https://frontdoor.example';
const document = openApiDocument({ baseUrl, authUrl: 'https://id.example' });
const rows = operations as readonly Operation[];
const described = ({ path, method }: Operation): OpenApiOperation =>
  document.paths[path]![method.toLowerCase()]!;
const statusesOf = (row: Operation): number[] => Object.keys(described(row).responses).map(Number);

/** Every schema, parameter and so on inside of a value. */
function* parts(value: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const part of Object.values(value)) yield* parts(part);
}

suite('the OpenAPI document', () => {
  test('has every operation under its path, method and id, with its tag, summary and scope', () => {
    for (const row of rows) {
      const { operationId, tags, summary, description } = described(row);
      assert.deepEqual([operationId, tags, summary], [row.id, [row.group], row.summary]);
      if (row.scope !== undefined) assert.match(String(description), new RegExp(row.scope));
    }
    const count = Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length;
    assert.equal(count, rows.length);
  });

  test('names every parameter of path and query, and whether it is required', () => {
    for (const row of rows) {
      const inPath = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `path ${name} true`);
      const inQuery = row.query.map(({ name, isRequired }) => `query ${name} ${isRequired}`);
      const named = (described(row).parameters ?? [])
        .filter((parameter) => parameter['in'] !== 'header')
        .map(
          (parameter) =>
            `${String(parameter['in'])} ${String(parameter['name'])} ${String(parameter['required'])}`,
        );
      assert.deepEqual(named, [...inPath, ...inQuery], row.id);
    }
  });

  test('has the answer and the refusals that an operation can give, and no others', () => {
    for (const row of rows) {
      const statuses = statusesOf(row);
      for (const status of [row.answer.status, 400, 413, 415, 500, 503, ...row.refusals]) {
        assert.ok(statuses.includes(status), `${row.id}: ${status}`);
      }
      const isGuarded = row.scope !== undefined;
      assert.equal(statuses.includes(403), isGuarded, row.id);
      assert.equal(statuses.includes(404), row.refusals.includes(404), row.id);
      const isCounted =
        row.isLimitedByAddress || (isGuarded && row.method !== 'GET') || row.refusals.includes(429);
      assert.equal(statuses.includes(429), isCounted, row.id);
    }
  });

  test('asks guarded operations for a bearer token or an API account, open ones for nothing', () => {
    const schemes = document.components['securitySchemes']!;
    for (const row of rows) {
      const wanted = described(row)['security'] as readonly object[];
      if (row.scope !== undefined)
        assert.deepEqual(wanted, [{ bearer: [row.scope] }, { apiAccount: [row.scope] }]);
      else assert.ok(row.id === 'issueToken' || wanted.length === 0, row.id);
      for (const name of wanted.flatMap((each) => Object.keys(each))) assert.ok(Object.hasOwn(schemes, name));
    }
  });

  test('leads every reference to a component, and has no component that nothing refers to', () => {
    const used = new Set(
      [...parts(document)].map((part) => part['$ref']).filter((each) => typeof each === 'string'),
    );
    for (const kind of ['schemas', 'responses']) {
      const made = Object.keys(document.components[kind]!).map((name) => `#/components/${kind}/${name}`);
      const wanted = [...used].filter((reference) => reference.startsWith(`#/components/${kind}/`));
      assert.deepEqual(made.sort(), wanted.sort());
    }
  });

  test('has bodies and answers of several fields under a name, never in line', () => {
    for (const row of rows) {
      const { requestBody, responses } = described(row);
      const content = {
        ...requestBody?.content,
        ...(responses[row.answer.status]!['content'] as object | undefined),
      };
      for (const { schema } of Object.values(content) as { schema: Readonly<Record<string, unknown>> }[]) {
        assert.equal(Object.keys((schema['properties'] as object | undefined) ?? {}).length, 0, row.id);
      }
    }
  });

  test('marks the fields that a body may carry though the service assigns them', () => {
    const schemas = document.components['schemas'] as Record<string, { properties: Record<string, object> }>;
    assert.deepEqual(schemas['NewFrontdoor']!.properties['id'], {
      readOnly: true,
      description: 'Accepted with any value and ignored.',
    });
  });

  test("names the addresses of this server, and the issuer's where that is another", () => {
    assert.deepEqual(document.servers, [{ url: baseUrl }]);
    assert.deepEqual(document.paths['/oauth/token']!['post']!['servers'], [{ url: 'https://id.example' }]);
  });

  test('uses only standard string formats', () => {
    const formats = new Set(
      [...parts(document)].map((part) => part['format']).filter((each) => typeof each === 'string'),
    );
    assert.deepEqual([...formats].sort(), ['binary', 'date-time', 'duration', 'uri', 'uuid']);
  });
});
