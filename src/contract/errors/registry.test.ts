import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ERROR_KINDS, type ErrorRow } from '#base';
import { operations } from '../operation-table.ts';
import { refusalsOf } from '../openapi-refusal-table.ts';
import { API_ERRORS, EDGE_ERRORS, ERRORS_BY_PART, TOKEN_ERRORS, VISITOR_ERRORS } from './mod.ts';

test('every word that the OpenAPI document gives a refusal is in the registry, with its status', () => {
  const words: Readonly<Record<string, ErrorRow>> = { ...API_ERRORS, ...TOKEN_ERRORS };
  for (const operation of operations) {
    for (const { status, errors } of refusalsOf(operation)) {
      for (const word of errors) {
        const statuses = [words[word]!.kind].flat().map((kind) => ERROR_KINDS[kind].status);
        assert.ok(statuses.includes(status as never), `${operation.id}: ${word} with ${status}`);
      }
    }
  }
});

test('every row has a meaning, a remedy and a first version', () => {
  const rows = [
    API_ERRORS,
    TOKEN_ERRORS,
    EDGE_ERRORS,
    VISITOR_ERRORS,
    ...Object.values(ERRORS_BY_PART),
  ].flatMap((table) => Object.entries<Pick<ErrorRow, 'meaning' | 'remedy' | 'since'>>(table));
  for (const [code, { meaning, remedy, since }] of rows) {
    assert.match(meaning, /^[A-Z].+/, code);
    assert.match(remedy, /^[A-Z].+[.]/, code);
    assert.match(since, /^\d+\.\d+\.\d+$/, code);
  }
});

test('every code that a request of a visitor can end with has a remedy of its own, which says more than the code', () => {
  const rows = Object.entries(VISITOR_ERRORS);
  const codesOf = Map.groupBy(rows, ([, { remedy }]) => remedy);
  for (const [code, { meaning, remedy }] of rows) {
    assert.deepEqual(
      codesOf.get(remedy)!.map(([each]) => each),
      [code],
    );
    assert.ok(remedy.length >= 50, `${code}: ${remedy}`);
    assert.notEqual(remedy, meaning, code);
    const said = new Set(remedy.toLowerCase().match(/[a-z]{4,}/g));
    const known = new Set([...code.split('-'), ...(meaning.toLowerCase().match(/[a-z]{4,}/g) ?? [])]);
    assert.ok(
      [...said].filter((word) => !known.has(word)).length >= 4,
      `${code} says nothing new: ${remedy}`,
    );
  }
});
