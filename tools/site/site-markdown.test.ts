import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headingsOf, renderDocument } from './site-markdown.ts';

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
