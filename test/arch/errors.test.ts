// The registry of errors: no code is thrown or documented that has no row, and no row is left over.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ErrorTable } from '#base';
import { API_ERRORS, EDGE_ERRORS, ERRORS_BY_PART, TOKEN_ERRORS, VISITOR_ERRORS } from '#contract/errors';
import { ARROWS } from './arrow-table.ts';
import { isTest, partOf, root, sourceFiles } from '../../tools/source-tree.ts';

const tables: Readonly<Record<string, ErrorTable>> = ERRORS_BY_PART;
const files = sourceFiles('src', 'bin').filter(
  ({ path }) => !isTest(path) && !path.startsWith('src/contract/errors/'),
);
/** Classes whose constructors take a kind and a code, and `super` of the classes that extend them. */
const RAISED = /\b(?:new (?:FrontdoorError|RefusalError|BodyRefusal|EdgeApiRefusal)|super)\(/g;

interface Raised {
  readonly at: string;
  readonly part: string;
  readonly isOfEdge: boolean;
  readonly kinds: readonly string[];
  readonly codes: readonly string[];
}

const raised: readonly Raised[] = files.flatMap(({ path, text }) =>
  [...text.matchAll(RAISED)].flatMap((match) => {
    const [kind = '', code = ''] = argumentsAt(text, match.index + match[0].length);
    const codes = literalsOf(code);
    const isOfEdge = match[0].includes('EdgeApiRefusal');
    const isError = match[0] !== 'super(' || /^'[a-zA-Z]+'$/.test(kind);
    if (codes.length === 0 || !isError) return [];
    const line = text.slice(0, match.index).split('\n').length;
    return [{ at: `${path}:${line}`, part: partOf(path), isOfEdge, kinds: literalsOf(kind), codes }];
  }),
);

test('every code that is thrown has its row and its kind', () => {
  assert.ok(raised.length > 200, 'the places are found');
  const wrong = raised.flatMap(({ at, part, isOfEdge, kinds, codes }) => {
    const parts = [part, ...(ARROWS[part]?.may ?? [])];
    const reached: readonly (ErrorTable | undefined)[] = isOfEdge
      ? [EDGE_ERRORS]
      : parts.map((name) => tables[name]);
    return codes.flatMap((code) => {
      const row = reached.find((each) => each !== undefined && Object.hasOwn(each, code))?.[code];
      if (row === undefined) return [`${at}: ${code} has no row in src/contract/errors/`];
      const others = kinds.filter((kind) => ![row.kind].flat<unknown[]>().includes(kind));
      const isChoice = codes.length > 1;
      return others.length === 0 || isChoice ? [] : [`${at}: ${code} is not of kind ${others.join(', ')}`];
    });
  });
  assert.deepEqual(wrong, []);
});

test('every row is of a code that its part or a higher one uses', () => {
  const texts = files.map(({ text }) => text).join('\n');
  const unused = [...Object.values(tables), EDGE_ERRORS]
    .flatMap((table) => Object.keys(table))
    .filter((code) => !texts.includes(`'${code}'`) && !texts.includes(`'--${code}'`));
  assert.deepEqual(unused, []);
});

test('a code has one row, and one spelling for each place where it appears', () => {
  const codes = Object.values(tables).flatMap((table) => Object.keys(table));
  assert.deepEqual(
    codes.filter((code, index) => codes.indexOf(code) !== index),
    [],
  );
  const spelled = (rows: object, form: RegExp): string[] =>
    Object.keys(rows).filter((code) => !form.test(code));
  const words = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
  assert.deepEqual(
    codes.filter((code) => !words.test(code)),
    [],
  );
  assert.deepEqual(spelled(VISITOR_ERRORS, words), []);
  assert.deepEqual(spelled({ ...API_ERRORS, ...TOKEN_ERRORS }, /^[a-z]+(?:_[a-z]+)*$/), []);
  assert.deepEqual(spelled(EDGE_ERRORS, /^[A-Z]+(?:_[A-Z]+)*$/), []);
});

test('a code that both visitors and programs can get has one meaning', () => {
  const both = Object.values(tables)
    .flatMap((table) => Object.keys(table))
    .filter((code) => Object.hasOwn(VISITOR_ERRORS, code));
  // Too many requests: 429 in both.
  assert.deepEqual(both, ['rate-limited']);
});

test('a code that a document names beside its status is in the registry', () => {
  const documents = globSync(['*.md', 'docs/{guide,conformance}/*.md'], { cwd: root });
  const known = [VISITOR_ERRORS, API_ERRORS, TOKEN_ERRORS, EDGE_ERRORS, ...Object.values(tables)];
  const named = documents.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/\b[45]\d\d `([A-Za-z]+(?:[_-][A-Za-z]+)*)`/g)].map(
      ([, code = '']) => ({ path, code }),
    ),
  );
  assert.ok(named.length > 5, 'documents name codes');
  assert.deepEqual(
    named.filter(({ code }) => !known.some((table) => Object.hasOwn(table, code))),
    [],
  );
});

/** The first two arguments of the call whose parenthesis opens before `start`. */
function argumentsAt(text: string, start: number): string[] {
  const found: string[] = [];
  let depth = 0;
  let from = start;
  for (let at = start; at < text.length && found.length < 2; at += 1) {
    const char = text[at]!;
    if ('([{'.includes(char)) depth += 1;
    const isEnd = depth === 0 && (char === ',' || char === ')');
    if (isEnd) {
      found.push(text.slice(from, at).trim());
      from = at + 1;
      if (char === ')') break;
    }
    if (')]}'.includes(char)) depth -= 1;
  }
  return found;
}

/** The texts that an expression can evaluate to: its own, or both branches of a condition. */
function literalsOf(expression: string): string[] {
  if (/\b(?:typeof|code)\b/.test(expression.replaceAll(/'[^']*'/g, ''))) return [];
  return [...expression.matchAll(/'([^']+)'/g)].map(([, text = '']) => text);
}
