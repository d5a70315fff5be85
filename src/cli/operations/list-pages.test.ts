import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entriesOf, pagesOf, type Entry } from './list-pages.ts';

const entries = Array.from({ length: 450 }, (_, id) => ({ id }));

async function read(limit: number, list: () => readonly Entry[] = () => entries) {
  const asked: number[] = [];
  const ids: unknown[] = [];
  const pages = pagesOf(async (page, size) => {
    asked.push(page);
    return list().slice(page * size, (page + 1) * size);
  }, limit);
  for await (const page of pages) ids.push(...page.map(({ id }) => id));
  return { asked, ids };
}

test('all pages are read, in order, and no more than are needed', async () => {
  const { asked, ids } = await read(Number.POSITIVE_INFINITY);
  assert.deepEqual(
    ids,
    entries.map(({ id }) => id),
  );
  assert.deepEqual(asked, [0, 1, 2]);
  assert.deepEqual((await read(3)).ids, [0, 1, 2]);
  assert.deepEqual((await read(3)).asked, [0]);
  assert.equal((await read(250)).ids.length, 250);
  assert.deepEqual((await read(250)).asked, [0, 1]);
});

test('pages are asked for when they are read', async () => {
  let asked = 0;
  const pages = pagesOf(async (page, size) => {
    asked += 1;
    return entries.slice(page * size, (page + 1) * size);
  }, Number.POSITIVE_INFINITY);
  await pages.next();
  assert.equal(asked, 1);
});

test('an entry that an insertion moved to the next page is not printed twice', async () => {
  let list: readonly Entry[] = entries;
  const { ids } = await read(Number.POSITIVE_INFINITY, () => {
    const now = list;
    list = [{ id: `new ${list.length}` }, ...list];
    return now;
  });
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(entries.every(({ id }) => ids.includes(id)));
});

test('a list is an array or a page, and nothing else', () => {
  assert.deepEqual(entriesOf([1]), [1]);
  assert.deepEqual(entriesOf({ content: [1] }), [1]);
  for (const wrong of [undefined, null, {}, 'text', { content: {} }])
    assert.throws(() => entriesOf(wrong), /did not return a list/);
});
