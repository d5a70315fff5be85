// An optional property is declared `name?: T | undefined` and given as it is. A conditional spread in its place makes a
// reader look for a difference that is seldom there, and costs an object for each call.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceFiles } from './source-tree.ts';

/**
 * A spread of `{}` or, unless `x` is undefined, of `{ x }`, `{ name: x }` or `{ name: x.field }`. Quoted names are those
 * of headers, and are left out.
 */
const CONDITIONAL_SPREAD =
  /\.\.\.\(\s*(?<value>[\w.#]+) === undefined\s*\? \{\}\s*: \{\s*(?:(?<name>\w+)|\w+: (?<given>[\w.#]+)),?\s*\}\s*\)/g;

/** Files, without their folders, in which it matters whether the key is there at all. */
const KEY_MATTERS: Readonly<Record<string, string>> = {
  'access-options.ts': 'the limits replace defaults key by key',
  'gateway-part.ts': 'the limits replace defaults key by key',
  'demo-processes.ts': 'a variable without a value would hide the inherited one',
  'killed-writers.ts': 'a variable without a value would hide the inherited one',
  'login-questions.ts': 'the package declares the property without undefined',
  'postgres-dialect.ts': 'the package declares the property without undefined',
  'underlay-dial.ts': 'the package declares the property without undefined',
  'access-schemas.ts': 'a keyword of a JSON Schema',
  'record-schemas.ts': 'a keyword of a JSON Schema',
  'schema-parts.ts': 'a keyword of a JSON Schema',
  'openapi.ts': 'a keyword of a JSON Schema',
  'openapi-schemas.ts': 'a keyword of a JSON Schema',
  'file-json-schema.ts': 'a keyword of a JSON Schema',
  'provider-secrets.ts': 'the stored provider holds the keys that its schema allows',
  'agent-command.ts': 'an optional field of a schema',
  'agent-routes.ts': 'an optional field of a schema',
  'login.ts': 'an optional field of a schema',
  'share-answer.ts': 'an optional field of a schema',
  'share-commands.ts': 'an optional field of a schema',
  'prometheus-text.ts': 'a label',
  'hostile-requests.ts': 'a header',
  'identity-provider.ts': 'a claim of a token',
};

interface Spread {
  readonly file: string;
  readonly place: string;
}

function spreads(): Spread[] {
  return sourceFiles('src', 'bin', 'test', 'tools').flatMap(({ path, text }) =>
    [...text.matchAll(CONDITIONAL_SPREAD)]
      .filter(({ groups }) => {
        const { value, name, given = name } = groups!;
        return given === value || given?.startsWith(`${value}.`);
      })
      .map(({ 0: match, index }) => ({
        file: path.slice(path.lastIndexOf('/') + 1),
        place: `${path}:${text.slice(0, index).split('\n').length} ${match.replaceAll(/\s+/g, ' ')}`,
      })),
  );
}

test('optional values are passed on without a conditional spread', () => {
  const wrong = spreads().filter(({ file }) => KEY_MATTERS[file] === undefined);
  assert.deepEqual(
    wrong.map(({ place }) => place),
    [],
    'declare the property `name?: T | undefined`, or name the file in KEY_MATTERS with the reason',
  );
});

test('the list of files in which a key matters names none that has no such spread', () => {
  const found = new Set(spreads().map(({ file }) => file));
  assert.deepEqual(
    Object.keys(KEY_MATTERS).filter((file) => !found.has(file)),
    [],
  );
});
