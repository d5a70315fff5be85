import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../../test/support/fast-check.ts';
import { parseQuery, MAX_QUERY_CHARS, MAX_QUERY_DEPTH, MAX_QUERY_TERMS } from './query-parser.ts';
import { QueryProblem, type QuerySymbols } from './query-symbol.ts';

interface Thing {
  readonly name: string | null;
  readonly size: number;
  readonly isSystem: boolean;
  readonly createdAt: number;
  readonly roles: readonly string[];
  readonly tags: Readonly<Record<string, unknown>>;
}

const SYMBOLS: QuerySymbols<Thing> = {
  name: { type: 'text', read: ({ name }) => name },
  size: { type: 'number', read: ({ size }) => size },
  isSystem: { type: 'boolean', read: ({ isSystem }) => isSystem },
  createdAt: { type: 'date', read: ({ createdAt }) => createdAt },
  roles: { type: 'texts', read: ({ roles }) => roles },
  tags: { type: 'tags', read: ({ tags }) => tags },
};

const WEB: Thing = {
  name: 'Web 3',
  size: 3,
  isSystem: false,
  createdAt: Date.UTC(2026, 0, 1),
  roles: ['one', 'two'],
  tags: { owner: 'ops', count: 5 },
};

function matches(query: string, thing: Partial<Thing> = {}): boolean {
  return parseQuery(query, SYMBOLS).matches({ ...WEB, ...thing });
}

function problemOf(query: string): string {
  try {
    parseQuery(query, SYMBOLS);
  } catch (error) {
    if (error instanceof QueryProblem) return error.message;
    throw error;
  }
  return '';
}

describe('a query', () => {
  it('compares fields with constants of their type', () => {
    const holds = [
      'name = "Web 3"',
      'name="Web 3"',
      'name != "x"',
      'name < "Z" and name >= "Web"',
      'name in ["x", "Web 3"]',
      'name not in ["x"]',
      'name contains "eb" and name not contains "EB" and name icontains "EB"',
      'name contains 3',
      'size = 3 and size > 2.5 and size <= 3e0',
      'size between 3 and 4',
      'not size between 1 and 3',
      'size in [1, 3]',
      'createdAt > datetime(2025-12-31T23:59:59Z)',
      'createdAt = datetime( 2026-01-01T01:00:00+01:00 )',
      'not isSystem',
      'isSystem = false',
      'isSystem != true',
      'name != null',
      'tags.owner = "ops" and tags.count = 5 and tags.none = null',
      '\'name\' = "Web 3"',
      'anyOf(roles) = "one" and not allOf(roles) = "one"',
      'allOf(roles) in ["one","two"] and count(roles) = 2 and not isEmpty(roles)',
      'TRUE',
    ];
    for (const query of holds) assert.ok(matches(query), query);
    const fails = ['name = 3', 'size > 3', 'name = null', 'isSystem', 'false', 'size between 1 and 3'];
    for (const query of fails) assert.ok(!matches(query), query);
  });

  it('knows the escapes of texts', () => {
    assert.ok(matches(String.raw`name = "a\"b\\c\n\t"`, { name: 'a"b\\c\n\t' }));
  });

  it('finds a missing value only by null', () => {
    assert.ok(matches('name = null', { name: null }));
    for (const query of ['name = ""', 'name < "x"', 'name contains ""', 'name in [""]'])
      assert.ok(!matches(query, { name: null }), query);
  });

  it('binds and tighter than or, and not as far as it reaches', () => {
    assert.ok(matches('true or true and false'));
    assert.ok(!matches('(true or true) and false'));
    assert.ok(matches('not true and false'), 'not (true and false)');
    assert.ok(!matches('(not true) and true'));
  });

  it('carries order, skip and limit', () => {
    const query = parseQuery('isSystem sort by size desc, name skip 2 limit none', SYMBOLS);
    assert.deepEqual(
      query.sort.map(({ read, isDescending }) => [read(WEB), isDescending]),
      [
        [3, true],
        ['Web 3', false],
      ],
    );
    assert.deepEqual([query.skip, query.limit], [2, 'none']);
    assert.equal(parseQuery('limit 7', SYMBOLS).limit, 7);
    assert.equal(parseQuery('skip 7', SYMBOLS).skip, 7);
    assert.ok(parseQuery('SORT BY name ASC', SYMBOLS).matches(WEB));
  });
});

describe('a query that cannot be read', () => {
  it('is refused in the words of OpenZiti, with the place', () => {
    const cases: readonly (readonly [string, string])[] = [
      ['name="x" and', 'Unexpected symbol: "<EOF>" at line: 1 column: 12'],
      [' ', 'Unexpected symbol: "<EOF>" at line: 1 column: 1'],
      ['"x" = name', 'Unexpected symbol: ""x"" at line: 1 column: 0'],
      ['nonsense = "x"', "unknown symbol 'nonsense'"],
      ['NAME = "x"', "unknown symbol 'NAME'"],
      ['sort by nonsense', "unknown symbol 'nonsense'"],
      ['roles = "x"', "symbol 'roles' is a set symbol but is used in non-set function context"],
      ['createdAt > "x"', 'operation createdAt > x is not supported with operands types date, string'],
      ['name', "query expr predicate must be a boolean expr, and 'name' is not"],
    ];
    for (const [query, problem] of cases) assert.equal(problemOf(query), problem, query);
  });

  it('is refused for an error of any kind', () => {
    const queries = [
      'name = "open',
      "name = 'x'",
      'name = "\u0001"',
      'name =',
      'name between 1 and 2',
      'size between 1 and',
      'size between "1" and "2"',
      'isSystem < true',
      'isSystem = "true"',
      'size contains 3',
      'size = "3"',
      'name in []',
      'name in ["x", 3]',
      'name in [null]',
      'name < null',
      'anyOf(name) = "x"',
      'anyOf(roles)',
      'noneOf(roles) = "x"',
      'count(roles) = "x"',
      'isEmpty(from roles where true)',
      'createdAt = datetime(2026-13-01T00:00:00Z)',
      'tags = "x"',
      'name.first = "x"',
      'constructor = "x"',
      'toString',
      '(true',
      'true)',
      'true true',
      'limit',
      'limit 1.5',
      'limit 9999999999999999',
      'skip none',
      'limit 1 skip 1',
      'name = "x" ; drop',
      'true # comment',
    ];
    for (const query of queries) assert.notEqual(problemOf(query), '', query);
  });

  it('is refused before it costs anything: length, nesting and terms have limits', () => {
    assert.match(problemOf(`name = "${'x'.repeat(MAX_QUERY_CHARS)}"`), /longer than 4096 characters/);
    const brackets = (depth: number): string => `${'('.repeat(depth)}true${')'.repeat(depth)}`;
    assert.equal(problemOf(brackets(MAX_QUERY_DEPTH)), '');
    assert.match(problemOf(brackets(MAX_QUERY_DEPTH + 1)), /nested deeper than 64/);
    assert.match(problemOf(`${'not '.repeat(MAX_QUERY_DEPTH + 1)}true`), /nested deeper than 64/);
    const terms = (count: number): string => Array.from({ length: count }, () => 'isSystem').join(' or ');
    assert.equal(problemOf(terms(MAX_QUERY_TERMS)), '');
    assert.match(problemOf(terms(MAX_QUERY_TERMS + 1)), /more than 256 terms/);
    const list = `size in [${Array.from({ length: MAX_QUERY_TERMS }, () => '1').join(',')}]`;
    assert.match(problemOf(list), /more than 256 terms/);
  });

  it('is a problem or a query for any text, and never another error', () => {
    const words = fc.constantFrom(
      ...[
        'name',
        'size',
        'roles',
        'tags.x',
        'and',
        'or',
        'not',
        'in',
        'between',
        'contains',
        'sort by',
        'skip',
      ],
      ...[
        'limit',
        'none',
        'true',
        'null',
        '=',
        '!=',
        '<',
        '(',
        ')',
        '[',
        ']',
        ',',
        '"a"',
        '"',
        '3',
        '-1.5e3',
      ],
      ...[
        'datetime(2026-01-01T00:00:00Z)',
        'anyOf(roles)',
        'count(',
        'isEmpty(',
        '\\',
        '\u0000',
        '💥',
        '__proto__',
      ],
    );
    const texts = fc.oneof(
      fc.string(),
      fc.array(words, { maxLength: 40 }).map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        if (problemOf(text) === '') assert.equal(typeof matches(text), 'boolean');
      }),
      { numRuns: 3_000 },
    );
  });
});
