// The overlay knows nothing of the front doors that project into it (ADR 0077): neither fields of a share or a frontdoor, nor
// the types that describe them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isTest, root, sourceFiles } from '../../tools/source-tree.ts';

const OVERLAY = 'src/control/overlay';

/** Rows belong to a frontdoor, so that the database deletes them with it. Their code calls it the owner. */
const OWNED_ROWS: ReadonlySet<string> = new Set(
  [
    'enrollments/agent-enrollment-store.ts',
    'enrollments/enrollment-store.ts',
    'model/model-rows.ts',
    'records/certificate-store.ts',
    'records/identity-store.ts',
  ].map((path) => `${OVERLAY}/${path}`),
);

/** What the overlay takes of `#domain`. */
const SHARED_TYPES: ReadonlySet<string> = new Set(['TerminatorStrategy']);
const SHARED_DOORS: ReadonlySet<string> = new Set(['#domain', '#domain/posture']);

const text = readFileSync(join(root, 'src/domain/share.ts'), 'utf8');
/** Fields of more than one word, which mean nothing else: `shareMode`, `customHosts`. */
const fields = [...text.matchAll(/^  readonly (\w+[A-Z]\w*):/gm)].map(([, name = '']) => name);
const types = [...text.matchAll(/^export interface (\w+)/gm)].map(([, name = '']) => name);
const GENERAL = new Set(['createdAtMs', 'updatedAtMs']);
const columns = fields.map((name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
const FOREIGN = [...fields, ...columns, ...types, 'isShare', 'shareCatalog'].filter(
  (name) => !GENERAL.has(name),
);
const WORDS = new RegExp(`\\b(?:${FOREIGN.join('|')})\\b`, 'g');

const files = sourceFiles(OVERLAY).filter(({ path }) => !isTest(path));

test('no file of the overlay names a field or a type of a share or a frontdoor', () => {
  assert.ok(['frontdoorId', 'share_mode', 'GuardedShare'].every((name) => FOREIGN.includes(name)));
  const wrong = files.flatMap(({ path, text: source }) =>
    [...source.matchAll(WORDS)]
      .filter(([name]) => name !== 'frontdoor_id' || !OWNED_ROWS.has(path))
      .map(({ 0: name, index }) => `${path}:${source.slice(0, index).split('\n').length} names ${name}`),
  );
  assert.deepEqual(wrong, []);
});

test('each exception of the overlay is still one', () => {
  const owning = files.filter((file) => file.text.includes('frontdoor_id')).map(({ path }) => path);
  assert.deepEqual(owning.sort(), [...OWNED_ROWS].sort());
});

test('the overlay takes nothing of shares and gateways from the domain', () => {
  const wrong = files.flatMap(({ path, text: source }) =>
    [...source.matchAll(/import (?:type )?\{([^}]*)\} from '(#domain[^']*)'/g)].flatMap(
      ([, names = '', door = '']) => {
        if (!SHARED_DOORS.has(door)) return [`${path} imports ${door}`];
        if (door !== '#domain') return [];
        return names
          .split(',')
          .map((name) => name.replace(/^\s*type /, '').trim())
          .filter((name) => name !== '' && !SHARED_TYPES.has(name))
          .map((name) => `${path} imports ${name}`);
      },
    ),
  );
  assert.deepEqual(wrong, []);
});
