// While control planes are upgraded, two versions use one database (ADR 0105): a step leaves all that the version before reads,
// and demands nothing that it does not write.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Kysely, TableMetadata } from 'kysely';
import { describeEachStore } from './each-store-suite.ts';
import { openStore } from './open-store.ts';
import { migrations } from '../migrations/migration-table.ts';

/** Tables, and columns as `table.column`, that a step removes, with the version that reads and writes them no longer. */
const ENDED: Readonly<Record<string, string>> = {};

type Step = (db: Kysely<unknown>) => Promise<void>;

/** What the version before would miss in the schema after a step. */
function lossesOf(before: readonly TableMetadata[], after: readonly TableMetadata[]): string[] {
  return before.flatMap(({ name, columns }) => {
    const table = after.find((other) => other.name === name);
    if (table === undefined) return [`${name} is gone`];
    const kept = columns.flatMap((column) => {
      const place = `${name}.${column.name}`;
      const other = table.columns.find((one) => one.name === column.name);
      if (other === undefined) return [`${place} is gone`];
      if (other.dataType !== column.dataType) return [`${place} has another type`];
      return column.isNullable && !other.isNullable ? [`${place} must not be null`] : [];
    });
    const known = new Set(columns.map((column) => column.name));
    const demanded = table.columns
      .filter((column) => !known.has(column.name) && !column.isNullable && !column.hasDefaultValue)
      .map((column) => `${name}.${column.name} has no default`);
    return [...kept, ...demanded];
  });
}

describeEachStore('a step of the schema', (_open, newPlace) => {
  async function lossesOfSteps(steps: Readonly<Record<string, { readonly up: Step }>>): Promise<string[]> {
    const place = await newPlace();
    const names = Object.keys(steps).toSorted();
    const losses: string[] = [];
    let before: readonly TableMetadata[] = [];
    for (let count = 1; count <= names.length; count += 1) {
      const soFar = Object.fromEntries(names.slice(0, count).map((name) => [name, steps[name]!]));
      const store = await openStore({ ...place, migrations: soFar, copies: { keep: 0 } });
      const after = await store.db.introspection.getTables();
      losses.push(...lossesOf(before, after));
      before = after;
      await store.close();
    }
    return losses;
  }

  it('leaves what the version before reads and writes', async () => {
    const losses = await lossesOfSteps(migrations);
    assert.deepEqual(
      losses.filter((loss) => ENDED[loss.replace(/ is gone$/, '')] === undefined),
      [],
    );
  });

  it('that takes something from the version before is found', async () => {
    const cases: readonly (readonly [step: Step, loss: string])[] = [
      [({ schema }) => schema.dropTable('kept').execute(), 'kept is gone'],
      [({ schema }) => schema.alterTable('kept').dropColumn('note').execute(), 'kept.note is gone'],
      [
        ({ schema }) => schema.alterTable('kept').renameColumn('note', 'notes').execute(),
        'kept.note is gone',
      ],
      [
        async ({ schema }) => {
          await schema.dropTable('kept').execute();
          await schema
            .createTable('kept')
            .addColumn('id', 'text')
            .addColumn('note', 'integer', (column) => column.notNull())
            .addColumn('more', 'text', (column) => column.notNull())
            .execute();
        },
        'kept.note has another type,kept.more has no default',
      ],
    ];
    for (const [step, loss] of cases) {
      const first: Step = ({ schema }) =>
        schema.createTable('kept').addColumn('id', 'text').addColumn('note', 'text').execute();
      assert.equal((await lossesOfSteps({ '0001-a': { up: first }, '0002-b': { up: step } })).join(), loss);
    }
  });

  it('may add tables and columns', async () => {
    const first: Step = ({ schema }) => schema.createTable('kept').addColumn('id', 'text').execute();
    const second: Step = async ({ schema }) => {
      await schema
        .createTable('other')
        .addColumn('id', 'text', (column) => column.notNull())
        .execute();
      await schema.alterTable('kept').addColumn('note', 'text').execute();
      await schema
        .alterTable('kept')
        .addColumn('size', 'integer', (column) => column.notNull().defaultTo(0))
        .execute();
    };
    assert.deepEqual(await lossesOfSteps({ '0001-a': { up: first }, '0002-b': { up: second } }), []);
  });
});
