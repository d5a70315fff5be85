// Documents stay true to the tree: the files that they name exist, and they are short enough to be read.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { documentPaths, documentText, linkTarget } from '../../tools/site/site-documents.ts';
import { INDEX_DOCUMENT, siteIndex } from '../../tools/site/site-index.ts';
import { headingsOf, linksOf } from '../../tools/site/site-markdown.ts';
import { root } from '../../tools/source-tree.ts';

const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).sort();
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

test('every guide and every page of the reference has its row in the index, once', () => {
  const rows = siteIndex(documentText(INDEX_DOCUMENT)).flatMap(({ rows: each }) =>
    each.map(({ document }) => document),
  );
  const wanted = documentPaths().filter(
    (path) => /^docs\/(?:guide|reference)\//.test(path) && path !== INDEX_DOCUMENT,
  );
  const missing = wanted.filter((path) => !rows.includes(path));
  assert.deepEqual(missing, [], `add "- [Title](page.md): what it is about" to ${INDEX_DOCUMENT}`);
  assert.deepEqual(
    rows.filter((path, at) => rows.indexOf(path) !== at),
    [],
  );
});

test('every link of a document leads to a file, and to a heading of it', () => {
  const anchors = new Map<string, Set<string>>();
  const anchorsOf = (path: string): Set<string> => {
    const known = anchors.get(path);
    if (known !== undefined) return known;
    const found = new Set(headingsOf(documentText(path)).map(({ anchor }) => anchor));
    anchors.set(path, found);
    return found;
  };
  const dead = documentPaths().flatMap((path) =>
    linksOf(documentText(path))
      .filter((href) => {
        const target = linkTarget(path, href);
        if (target.kind === 'document')
          return target.anchor !== '' && !anchorsOf(target.document).has(target.anchor);
        return target.kind === 'missing';
      })
      .map((href) => `${path}: ${href}`),
  );
  assert.deepEqual(dead, []);
});

/** Addresses outside the repository that documents link to. No test asks for them: a change of the list includes a look at them. */
const OUTSIDE: readonly string[] = [
  'https://developers.cloudflare.com/cloudflare-one/connections/connect-apps',
  'https://docs.pangolin.net/manage/identity-providers/add-an-idp',
  'https://github.com/fatedier/frp',
  'https://github.com/fosrl/pangolin',
  'https://github.com/joohoi/acme-dns',
  'https://github.com/openziti/zrok',
  'https://ngrok.com/docs/',
  'https://ngrok.com/docs/pricing-limits/free-plan-limits/',
  'https://publicsuffix.org',
  'https://publicsuffix.org/submit/',
  'https://www.standardwebhooks.com/',
];

test('links that leave the repository are those of the list', () => {
  const outside = documentPaths()
    .flatMap((path) => linksOf(documentText(path)))
    .filter((href) => /^[a-z]+:/.test(href));
  assert.deepEqual([...new Set(outside)].toSorted(), OUTSIDE);
});

test('every file or folder of the tree that a document names exists', () => {
  const lost = documents.flatMap((path) =>
    [...textOf(path).matchAll(/`((?:src|bin|test|docs|tools|\.ci)\/[\w./-]*)`/g)]
      .map(([, named = '']) => named)
      // Made by a run, and ignored by git.
      .filter((named) => !named.startsWith('test/bench/results/') && !existsSync(join(root, named)))
      .map((named) => `${path}: ${named}`),
  );
  assert.deepEqual(lost, []);
});

test('an ADR has at most 60 lines, ARCHITECTURE.md at most 220, README.md at most 120', () => {
  const lines = (path: string): number => textOf(path).split('\n').length - 1;
  const long = documents.filter((path) => /^docs\/adr\/\d{4}-/.test(path) && lines(path) > 60);
  assert.deepEqual(long, []);
  assert.ok(lines('ARCHITECTURE.md') <= 220);
  assert.ok(lines('README.md') <= 120);
});

test('every decision is in the list of decisions, with its number', () => {
  const list = textOf('docs/adr/README.md');
  const files = globSync('docs/adr/[0-9]*.md', { cwd: root });
  assert.ok(files.length >= 8);
  for (const path of files) {
    const name = path.slice('docs/adr/'.length);
    assert.ok(list.includes(`(${name})`), `${name} is not listed`);
    assert.match(textOf(path), new RegExp(`^# ${name.slice(0, 4)}: `));
    for (const part of ['**Context.**', '**Options.**', '**Decision.**', '**Price.**']) {
      assert.ok(textOf(path).includes(part), `${name} has no ${part}`);
    }
  }
});
