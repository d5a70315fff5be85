// German of what the API sends in English: each code, and each action of the activity log, has a text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '#contract';
import { API_ERRORS, TOKEN_ERRORS, VISITOR_ERRORS } from '#contract/errors';
import { isTest, sourceFiles } from '../../tools/source-tree.ts';
import { loadGermanTexts } from '../support/german-texts.ts';

const { GERMAN_CATALOGUE, ACTION_TEXTS, actionText, sentenceFor } = await loadGermanTexts();

/** Names of actions in calls and entries of the audit trail. */
const ACTION =
  /\baction(?:: |: '[a-zA-Z]+' \| )'([a-z][a-zA-Z]*[A-Z][a-zA-Z]*)'|'([a-z]+Edge[A-Z][A-Za-z]*)'|(?:recorded|record)\('([a-z]\w*)'/g;

test('each failure code has a cause and a remedy in German, and no other code does', () => {
  assert.deepEqual(Object.keys(GERMAN_CATALOGUE.failures).toSorted(), Object.keys(VISITOR_ERRORS).toSorted());
  for (const [code, texts] of Object.entries(GERMAN_CATALOGUE.failures))
    for (const text of texts) assert.match(text, /^\p{Lu}.*\.$|^„.*\.$/u, code);
});

test('each word of a refusal has a German sentence', () => {
  const words = Object.keys({ ...API_ERRORS, ...TOKEN_ERRORS });
  assert.deepEqual(Object.keys(GERMAN_CATALOGUE.refusals).toSorted(), words.toSorted());
});

test('each action that is audited has a name in English and German', () => {
  const changing = operations.filter(({ method }) => method !== 'GET').map(({ id }): string => id);
  const written = sourceFiles('src/control')
    .filter(({ path }) => !isTest(path) && !/-fixture|-suite|\/testing\//.test(path))
    .flatMap(({ text }) => [...text.matchAll(ACTION)].map((found) => found[1] ?? found[2] ?? found[3]!));
  assert.ok(written.includes('consoleLogIn') && written.includes('setEdgePassword'), written.join(' '));
  const missing = [...changing, ...written].filter((action) => !Object.hasOwn(ACTION_TEXTS, action));
  assert.deepEqual([...new Set(missing)], []);
});

test('a code or an action of a newer version has no text of its own', () => {
  assert.equal(sentenceFor(GERMAN_CATALOGUE, 'cause', 'toString'), undefined);
  assert.equal(sentenceFor(GERMAN_CATALOGUE, 'refusal', 'later_word'), undefined);
  assert.equal(sentenceFor(undefined, 'cause', 'timeout'), undefined);
  assert.equal(actionText('laterAction', 'de'), 'laterAction');
  assert.deepEqual(
    [actionText('deleteShare', 'en'), actionText('deleteShare', 'de')],
    ['Delete share', 'Freigabe löschen'],
  );
});
