// Two versions of our programs exchange messages and files during every upgrade; each must read the texts of the
// other.
import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { sourceFiles, isTest } from '../../tools/source-tree.ts';
import { SHAPE_ROWS } from './shape-rows.ts';
import type { ShapeRow } from './shape-row.ts';

type Json = Readonly<Record<string, unknown>>;

/** Shapes as the sources define them, by the name of the constant. */
function definedShapes(): string[] {
  return sourceFiles('src', 'bin')
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, text }) => {
      const named = [...text.matchAll(/export const (\w+) = new Shape\(/g)].map(([, name]) => name!);
      assert.equal(
        named.length,
        text.split('new Shape(').length - 1,
        `${path}: a shape is an exported constant`,
      );
      return named;
    });
}

test('every shape has a row', () => {
  assert.deepEqual(Object.keys(SHAPE_ROWS).toSorted(), definedShapes().toSorted());
});

test('every shape has a name of its own, and a remedy for a newer format', () => {
  const shapes = Object.values(SHAPE_ROWS).map(([row]) => row!.shape);
  assert.equal(new Set(shapes.map(({ name }) => name)).size, shapes.length);
  for (const { name, format, remedy } of shapes) assert.ok(format >= 1 && remedy !== '', name);
});

/** The text as a sender writes it: with the number where the shape has it inside. */
function numbered({ shape }: ShapeRow, value: unknown, format: number): [value: unknown, beside: unknown] {
  const { formatField } = shape;
  if (formatField === undefined) return [value, String(format)];
  return [{ ...(value as Json), [formatField]: format }, undefined];
}

function readsAs(row: ShapeRow, sent: readonly [unknown, unknown], expected: unknown, lost = 0): void {
  const read = row.shape.read(JSON.parse(JSON.stringify(sent[0])), sent[1]);
  assert.ok('value' in read, JSON.stringify(read));
  assert.deepEqual(JSON.parse(JSON.stringify(read.value)), expected);
  assert.equal(read.lost.length, lost, JSON.stringify(read.lost));
}

function withField(value: unknown): unknown {
  return Array.isArray(value) ? value : { ...(value as Json), laterField: [1] };
}

interface Listed {
  readonly properties?: Readonly<Record<string, { readonly lossy?: string; readonly type?: string }>>;
  readonly variants?: Readonly<Record<string, Listed>>;
  readonly lossy?: string;
}

/** The fields of the outermost object that are lists which lose bad entries. */
function lossyFields(schema: Listed, value: Json): string[] {
  const variant = schema.variants?.[String(value['type'] ?? value['op'])];
  const properties = variant?.properties ?? schema.properties ?? {};
  return Object.entries(properties)
    .filter(([name, field]) => field.lossy !== undefined && field.type === 'array' && name in value)
    .map(([name]) => name);
}

for (const [name, rows] of Object.entries(SHAPE_ROWS)) {
  describe(name, () => {
    for (const [at, row] of rows.entries()) {
      const { shape, example, unknown } = row;
      const of = rows.length === 1 ? '' : ` (${at + 1})`;

      it(`reads the text of this version${of}`, () => {
        readsAs(row, numbered(row, example, shape.format), example);
      });

      it(`reads the text of the previous version, which has no number${of}`, () => {
        readsAs(row, [row.older ?? example, undefined], example, lostOf(row.older));
      });

      it(`treats fields of a later version by its rule: ${unknown}${of}`, () => {
        const later = withField(example);
        const sent = numbered(row, later, shape.format);
        if (unknown !== 'refused') readsAs(row, sent, unknown === 'kept' ? later : example);
        else {
          const read = shape.read(...sent);
          assert.ok('problem' in read && read.field === 'laterField' && !read.isNewer, JSON.stringify(read));
        }
        if (row.newer !== undefined)
          readsAs(row, numbered(row, row.newer, shape.format), example, lostOf(row.newer));
      });

      it(`refuses a newer format by name, with the remedy${of}`, () => {
        const read = shape.read(...numbered(row, example, shape.format + 1));
        assert.ok('problem' in read && read.isNewer, JSON.stringify(read));
        for (const part of [shape.name, `format ${shape.format + 1}`, shape.remedy])
          assert.ok(read.problem.includes(part), read.problem);
      });

      it(`loses a bad entry of a list and nothing else${of}`, () => {
        if (Array.isArray(example)) {
          readsAs(row, [[...example, false], undefined], example, 1);
          return;
        }
        const value = example as Json;
        for (const field of lossyFields(shape.schema, value)) {
          const entries = [...(value[field] as unknown[]), false];
          readsAs(row, numbered(row, { ...value, [field]: entries }, shape.format), example, 1);
        }
      });
    }
  });
}

/** How many parts of a row's text are replaced because this version cannot read them. */
function lostOf(value: unknown): number {
  const text = JSON.stringify(value ?? null);
  return ['"a-later-reason"', '"kind":"later"', '"other":{', '"four"'].filter((part) => text.includes(part))
    .length;
}
