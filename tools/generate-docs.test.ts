// The reference pages that are committed are those that the tables make.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStale, referencePages } from './generate-docs.ts';

for (const page of referencePages) {
  test(`docs/reference/${page.name} is what the tables generate; "npm run docs" writes it again`, async () => {
    assert.equal(await isStale(page), false);
  });
}

test('every link inside of the reference page leads to a heading of it', async () => {
  const text = await referencePages.find(({ name }) => name === 'management-api.md')!.render();
  const headings = new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.toLowerCase()));
  const links = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, target = '']) => target);
  assert.ok(links.length > 50);
  assert.deepEqual(
    links.filter((target) => !headings.has(target)),
    [],
  );
});
