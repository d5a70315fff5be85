// The site: complete, closed in itself, and the same each time.
import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { before, test } from 'node:test';
import { siteFiles } from './build-site.ts';
import { headingsOf, renderDocument } from './site-markdown.ts';

let files: Map<string, string>;
before(() => {
  files = siteFiles('0.0.0');
});

test('every address in a page leads to a file of the site, and to an element of it', () => {
  const ids = new Map(
    [...files].map(([path, text]) => [
      path,
      new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
    ]),
  );
  const dead: string[] = [];
  for (const [path, text] of files) {
    if (!path.endsWith('.html') || path === '404.html') continue;
    for (const [, address = ''] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      if (/^https?:/.test(address)) continue;
      const [to = '', anchor] = address.split('#');
      const target = to === '' ? path : posix.join(posix.dirname(path), to);
      if (!files.has(target) || (anchor !== undefined && !ids.get(target)!.has(anchor)))
        dead.push(`${path}: ${address}`);
    }
  }
  assert.deepEqual(dead, []);
});

test('no page asks another host for anything', () => {
  for (const [path, text] of files) {
    if (!/\.(?:html|css|svg)$/.test(path)) continue;
    const loaded = [...text.matchAll(/<(?:script|link|img|iframe|source)\b[^>]*|@import[^;]*|url\([^)]*\)/g)];
    const foreign = loaded.filter(([element]) => /https?:|\/\//.test(element));
    assert.deepEqual(foreign, [], path);
  }
});

test('two builds are equal byte for byte', () => {
  assert.deepEqual(siteFiles('0.0.0'), files);
});

test('headings have the anchors of GitHub, a second one of the same text with a number', () => {
  const anchors = headingsOf('# A\n\n## `frontdoor up`, “all” in one: 2 & 3\n\n## Ümlaut_x\n\n## A\n');
  assert.deepEqual(
    anchors.map(({ anchor }) => anchor),
    ['a', 'frontdoor-up-all-in-one-2--3', 'ümlaut_x', 'a-1'],
  );
});

test('what looks like HTML in a document is text', () => {
  const { html } = renderDocument('a <b>x</b> `<zone>`\n\n<script>alert(1)</script>\n', (href) => href);
  assert.doesNotMatch(html, /<b>|<script>|<zone>/);
});
