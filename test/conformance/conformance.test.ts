// Every claim of the conformance documents is proved by a test.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseConformance, parseProofs, type Proof } from './conformance-table.ts';
import { namedTests, rowTitles } from './named-tests.ts';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
/** With the number of rows that each has at least, which shows that they are read. */
const DOCUMENTS = [
  ['docs/conformance/management-api.md', 50],
  ['docs/conformance/router-configuration.md', 50],
  ['docs/conformance/gateway.md', 50],
  ['docs/conformance/edge-client-api.md', 15],
  ['docs/conformance/edge-management-api.md', 10],
] as const;

function textOf(path: string): string {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return '';
  }
}

/** True when the file holds a test of exactly that full name, or is a row of the batteries of that title. */
function exists({ file, name }: Proof): boolean {
  const text = textOf(file);
  return (file.endsWith('-row.ts') ? rowTitles(text) : namedTests(text)).includes(name);
}

for (const [path, least] of DOCUMENTS) {
  const rows = parseConformance(textOf(path));

  test(`${path} has rows, each with an id of its own and a known state`, () => {
    assert.ok(rows.length > least, `${rows.length} rows read`);
    assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length);
    const unknown = rows.filter(({ state }) => !['works', 'partly', 'not yet'].includes(state));
    assert.deepEqual(unknown, []);
  });

  test(`${path}: rows that work have proofs, and rows that work partly name what is missing`, () => {
    const unproved = rows.filter(({ state, proofs }) => state !== 'not yet' && proofs.length === 0);
    assert.deepEqual(
      unproved.map(({ id }) => id),
      [],
    );
    const vague = rows.filter(({ state, missing }) => (state === 'partly') !== (missing !== ''));
    assert.deepEqual(
      vague.map(({ id }) => id),
      [],
    );
    const unread = rows.filter((row) => row.unread !== '');
    assert.deepEqual(
      unread.map(({ id, unread: text }) => `${id}: ${text}`),
      [],
    );
  });

  test(`${path}: every proof is a test that exists`, () => {
    const lost = rows.flatMap(({ id, proofs }) =>
      proofs.filter((proof) => !exists(proof)).map(({ file, name }) => `${id}: ${file} › "${name}"`),
    );
    assert.deepEqual(lost, []);
  });
}

test('every test that ARCHITECTURE.md names for an invariant exists', () => {
  const text = textOf('ARCHITECTURE.md');
  const proofs = parseProofs(text);
  assert.ok(proofs.length >= 20, `${proofs.length} tests are named`);
  assert.equal(proofs.length, text.split(/`\s+›/).length - 1, 'each in the form that is checked');
  assert.deepEqual(
    proofs.filter((proof) => !exists(proof)),
    [],
  );
});

test('one proof or several are parsed, and other text is reported', () => {
  const line = '| M1 | x | partly | `a.test.ts` › "one"<br>`b.test.ts` › "two" and more | rest |';
  assert.deepEqual(parseConformance(line), [
    {
      id: 'M1',
      requirement: 'x',
      state: 'partly',
      proofs: [
        { file: 'a.test.ts', name: 'one' },
        { file: 'b.test.ts', name: 'two' },
      ],
      unread: 'and more',
      missing: 'rest',
    },
  ]);
});

test('a proof that names no test is reported', () => {
  const file = 'test/conformance/conformance.test.ts';
  assert.equal(exists({ file, name: 'a proof that names no test is reported' }), true);
  assert.equal(exists({ file, name: ['a proof', 'that is not there'].join(' ') }), false);
});

test('a test is named by its describe blocks and its own name', () => {
  const text = [
    "test('alone', () => {});",
    "describe('a door', () => {",
    "  it('opens', () => {});",
    "  describe('that is locked', () => {",
    '    it("isn\'t opened", () => {});',
    '  });',
    '  it.skip(',
    "    'closes',",
    '  );',
    '});',
    "it('is outside', () => {});",
  ].join('\n');
  assert.deepEqual(namedTests(text), [
    'alone',
    'a door › opens',
    "a door › that is locked › isn't opened",
    'a door › closes',
    'is outside',
  ]);
});
