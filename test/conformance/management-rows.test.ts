// Calls every row of the Management API's requirement, and our own operations, on a running product with an enrolled
// agent.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it, type TestContext } from 'node:test';
import { operations } from '#contract';
import type { JsonAnswer } from '#net/http';
import { until } from '../support/deadline.ts';
import { sharedPostgres } from '../support/postgres.ts';
import { describeEachDatabase } from '../support/test-part.ts';
import { goodBody, openRowContext, type ManagementRowContext } from './management-row-context.ts';
import { domainRows } from './management-row-domain-table.ts';
import { policyRows } from './management-row-policy-table.ts';
import { upstreamRows } from './management-row-upstream-table.ts';
import { accessRows } from './management-row-access-table.ts';
import { recordRows } from './management-row-record-table.ts';
import { sessionRows } from './management-row-session-table.ts';
import { fabricRows } from './management-row-fabric-table.ts';
import { extensionRows } from './management-row-extension-table.ts';
import { checkShape, fieldNames } from './management-row-shape.ts';
import { summaryRows } from './management-row-summary-table.ts';
import { documentRows } from './management-row-table.ts';
import type { ManagementRow } from './management-row.ts';

const rows = [
  ...documentRows,
  ...extensionRows,
  ...summaryRows,
  ...accessRows,
  ...policyRows,
  ...recordRows,
  ...sessionRows,
  ...fabricRows,
  ...upstreamRows,
  ...domainRows,
];

type Json = Readonly<Record<string, unknown>>;
interface PageAnswer {
  readonly content: readonly Json[];
  readonly pageable: { readonly pageNumber: number; readonly pageSize: number };
  readonly totalElements?: number;
  readonly totalPages?: number;
}

describeEachDatabase('the rows of the Management API', (database) =>
  walk(async () =>
    database === 'PostgreSQL' ? { database: await (await sharedPostgres()).createDatabase() } : {},
  ),
);

function walk(options: () => Promise<{ readonly database?: string }>): void {
  let context: ManagementRowContext;
  before(async () => {
    context = await openRowContext(await options());
  });
  after(() => context?.close());

  async function each(
    t: TestContext,
    those: readonly ManagementRow[],
    check: (row: ManagementRow) => Promise<void>,
  ): Promise<void> {
    assert.ok(those.length > 0);
    for (const row of those) await t.test(`${row.method} ${row.path}`, () => check(row));
  }

  function refused(answer: JsonAnswer, status: number, error: string, message: string): void {
    assert.deepEqual([answer.status, answer.json], [status, { error, message }]);
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  }

  function invalid(answer: JsonAnswer, property: string, type: string): void {
    refused(answer, 400, 'invalid_request', `Value for ${property} must be of ${type}`);
  }

  it('are operations of the contract, method, path and status', async () => {
    const known = operations.map(({ method, path, answer }) => `${method} ${path} ${answer.status}`);
    const stated = rows.map(({ method, path, status }) => `${method} ${path} ${status}`);
    assert.deepEqual(
      stated.filter((row) => !known.includes(row)),
      [],
    );
    assert.equal(new Set(stated).size, stated.length);
    const unstated = operations.filter(
      ({ id, group, path, method, answer }) =>
        path.startsWith('/frontdoor') &&
        // Streams have tests of their own.
        group !== 'Changes' &&
        id !== 'exportRequests' &&
        !stated.includes(`${method} ${path} ${answer.status}`),
    );
    assert.deepEqual(
      unstated.map(({ id }) => id),
      [],
      'everything below /frontdoor has a row',
    );
  });

  it('refuse calls without credentials, unless they are open', async (t) => {
    await each(
      t,
      rows.filter(({ isOpen }) => isOpen === undefined),
      async (row) => {
        const answer = await context.call(row, { authorization: null });
        refused(answer, 401, 'unauthorized', 'Bearer token is missing or invalid');
        const spaces = await context.call(row, { authorization: 'Bearer  two-spaces' });
        invalid(spaces, 'Authorization', 'Bearer <ACCESS_TOKEN> or Basic <ACCOUNT_ID>:<API_TOKEN>');
      },
    );
  });

  it('refuse a frontdoor that is not granted, and malformed ids', async (t) => {
    await each(
      t,
      rows.filter(({ path }) => path.includes('{frontdoorId}')),
      async (row) => {
        const id = randomUUID();
        const foreign = await context.call(row, { parameters: { frontdoorId: id } });
        refused(foreign, 403, 'not_found', `Frontdoor ${id} not found`);
        invalid(await context.call(row, { parameters: { frontdoorId: 'none' } }), 'frontdoorId', 'UUID');
        if (row.uuid === undefined) return;
        invalid(await context.call(row, { parameters: { [row.uuid]: 'none' } }), row.uuid, 'UUID');
      },
    );
  });

  it('refuse bodies with the name of the wrong field, and bodies that are not JSON', async (t) => {
    await each(
      t,
      rows.filter(({ body, hasOwnRefusals }) => body !== undefined && hasOwnRefusals === undefined),
      async (row) => {
        const good = goodBody(row.body!);
        for (const [name, field] of Object.entries(row.body!)) {
          const { [name]: _, ...without } = good;
          if (field.isOptional === undefined) {
            invalid(await context.call(row, { body: without }), name, field.format ?? field.type);
          }
          const wrong = field.type === 'string' ? 5 : 'text';
          invalid(await context.call(row, { body: { ...good, [name]: wrong } }), name, field.type);
          if (field.format === undefined) continue;
          const malformed = field.malformed ?? 'none';
          invalid(
            await context.call(row, { body: { ...good, [name]: malformed } }),
            name,
            field.rule ?? field.format,
          );
        }
        invalid(await context.call(row, { body: [] }), 'body', 'object');
        invalid(await context.call(row, { body: '{' }), 'body', 'JSON');
        const text = await context.call(row, { body: '{}', contentType: 'text/plain' });
        refused(text, 415, 'unsupported_media_type', 'Content-Type must be application/json');
        const { status, json } = await context.call(row, { body: { ...good, nmae: 'x' } });
        assert.equal(status, 400);
        const known = Object.hasOwn(row.body!, 'name')
          ? /^Value for nmae must be of name/
          : /^Value for nmae /;
        assert.match((json as { message: string }).message, known);
      },
    );
  });

  it('without a body accept only an empty object', async (t) => {
    const bodiless = rows.filter(
      ({ body, method, page }) => body === undefined && (method === 'POST' || page),
    );
    await each(t, bodiless, async (row) => {
      if (row.method === 'POST') assert.equal((await context.call(row, { body: {} })).status, row.status);
      invalid(await context.call(row, { body: { a: 1 } }), 'body', 'empty object');
    });
  });

  it('answer 404 for a missing resource, with its kind and id', async (t) => {
    await each(
      t,
      rows.filter(({ missing }) => missing !== undefined),
      async (row) => {
        const id = randomUUID();
        const name = Object.keys(row.at!).at(-1)!;
        const answer = await context.call(row, { parameters: { [name]: id } });
        refused(answer, 404, 'not_found', `${row.missing} ${id} not found`);
      },
    );
  });

  it('answer with their status, exactly their fields, and the requested values', async (t) => {
    await each(t, rows, async (row) => {
      const answer = await context.call(row);
      assert.equal(answer.status, row.status, answer.text);
      if (row.answer === undefined) {
        assert.deepEqual([answer.text, answer.headers['content-type']], ['', undefined]);
        return;
      }
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
      assert.deepEqual(checkShape(answer.json, row.answer), []);
      const list = Array.isArray(answer.json) ? answer.json : (answer.json as Partial<PageAnswer>).content;
      assert.notEqual(list?.length, 0, 'there is something in it');
      const names = fieldNames(answer.json);
      for (const name of row.absent ?? []) assert.ok(!names.has(name), `${name} is there`);
      const values = await context.filled(row.values ?? {});
      for (const [name, value] of Object.entries(values)) {
        assert.deepEqual((answer.json as Json)[name], value, name);
      }
      if (row.location === undefined) return;
      const location = String(answer.headers['location']);
      assert.ok(location.startsWith(await context.filled(`{baseUrl}${row.location}`)), location);
    });
  });

  it('that are lists page, sort and count as their row defines', async (t) => {
    for (const name of ['b', 'a', 'b']) await context.world.enrollEnvironment(name);
    await each(
      t,
      rows.filter(({ page }) => page !== undefined),
      async (row) => {
        const { isCounted, sort, fields = sort } = row.page!;
        const list = async (query: string): Promise<PageAnswer> => {
          const answer = await context.call(row, { query });
          assert.equal(answer.status, 200, answer.text);
          return answer.json as PageAnswer;
        };
        const all = await list('');
        assert.deepEqual(all.pageable, { pageNumber: 0, pageSize: 20 });
        const count = all.content.length;
        if (isCounted) assert.deepEqual([all.totalElements, all.totalPages], [count, Math.ceil(count / 20)]);
        const single = await Promise.all(all.content.map((_, page) => list(`page=${page}&size=1`)));
        assert.deepEqual(
          single.flatMap(({ content }) => content.map(idOf)),
          all.content.map(idOf),
        );
        if (isCounted) assert.equal(single[0]!.totalPages, count);
        assert.deepEqual((await list('size=5000')).pageable, { pageNumber: 0, pageSize: 1000 });
        assert.deepEqual((await list('page=900')).content, []);
        for (const value of ['-1', '1.5', 'x', '', '1e3']) {
          invalid(await context.call(row, { query: `page=${value}` }), 'page', 'integer from 0');
          invalid(await context.call(row, { query: `size=${value}` }), 'size', 'integer from 1');
        }
        invalid(await context.call(row, { query: 'size=0' }), 'size', 'integer from 1');
        const checkOrder = async (field: string): Promise<void> => {
          const ascending = (await list(`sort=${field},asc&size=1000`)).content;
          assert.deepEqual(ascending.map(idOf), sorted(ascending, field).map(idOf), field);
          assert.deepEqual((await list(`sort=${field}&size=1000`)).content.map(idOf), ascending.map(idOf));
          const descending = (await list(`sort=${field},desc&size=1000`)).content;
          assert.deepEqual(descending.map(idOf), ascending.map(idOf).toReversed(), `${field} descending`);
        };
        for (const field of sort) {
          // A state is measured: it may change between two answers.
          if (field === 'status')
            await until(
              'the order by state',
              () => checkOrder(field),
              () => true,
            );
          else await checkOrder(field);
        }
        invalid(await context.call(row, { query: 'sort=colour,asc' }), 'sort', fields.join(' or '));
        invalid(await context.call(row, { query: `sort=${sort[0]},up` }), 'sort', 'asc or desc');
      },
    );
  });

  it('that look back take ISO 8601 durations from five minutes to thirty days', async (t) => {
    await each(
      t,
      rows.filter(({ hasDuration }) => hasDuration !== undefined),
      async (row) => {
        const { status, json, text } = await context.call(row, { query: '' });
        assert.deepEqual([status, (json as Json)?.['duration']], [200, 'PT1H'], text);
        for (const duration of ['PT5M', 'PT90M', 'P1D', 'P1W', 'P30D', 'PT300S', 'P1DT1H']) {
          const answer = await context.call(row, { query: `duration=${duration}` });
          assert.equal(answer.status, 200, duration);
          assert.deepEqual(checkShape(answer.json, row.answer!), [], duration);
        }
        for (const duration of [
          '',
          'PT',
          'P',
          '1H',
          'PT1X',
          'PT4M59S',
          'P31D',
          'P1M',
          'P1Y',
          'PT-1H',
          '3600',
        ]) {
          const type = ['PT4M59S', 'P31D'].includes(duration) ? 'duration from PT5M to P30D' : 'duration';
          invalid(await context.call(row, { query: `duration=${duration}` }), 'duration', type);
        }
      },
    );
  });
}

/** A share's id is its token. */
function idOf(entry: Json): unknown {
  return entry['id'] ?? entry['token'];
}

function sorted(entries: readonly Json[], field: string): Json[] {
  const keyOf = (entry: Json): string => {
    const value = field === 'id' ? idOf(entry) : entry[field];
    return typeof value === 'string' || typeof value === 'boolean' ? String(value) : '';
  };
  return entries.toSorted((a, b) => compare(keyOf(a), keyOf(b)) || compare(String(idOf(a)), String(idOf(b))));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
