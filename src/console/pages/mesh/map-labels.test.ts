import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapLabels, type NamedPoint } from './map-labels.ts';

const SIZE = { width: 288, height: 280 };
const point = (id: string, x: number, y: number, name = id): NamedPoint => ({
  id,
  name,
  x,
  y,
  number: id.replace(/\D/g, ''),
});

test('a name stands below its router, else above it or beside it, within the map', () => {
  const [middle, low, left, right] = [
    point('router-1', 144, 140),
    point('router-2', 144, 270),
    point('router-3', 12, 140),
    point('router-4', 276, 40),
  ];
  const labels = mapLabels([middle, low, left, right], SIZE);
  assert.deepEqual(labels.get('router-1'), { text: 'router-1', anchor: 'middle', x: 144, y: 164 });
  assert.ok(labels.get('router-2')!.y < 270);
  assert.deepEqual([labels.get('router-3')!.anchor, labels.get('router-4')!.anchor], ['start', 'end']);
});

test('a name without room gives way to its number, and the list alone has what has no room at all', () => {
  const long = point('router-7', 144, 140, 'a name that is longer than the map is wide');
  assert.equal(mapLabels([long], SIZE).get('router-7')!.text, '7');
  assert.equal(mapLabels([{ ...long, number: undefined }], SIZE).size, 0);
  const crowd = Array.from({ length: 40 }, (_none, index) =>
    point(`router-${index}`, 140 + (index % 4), 140),
  );
  const labels = mapLabels(crowd, SIZE);
  assert.ok(labels.size >= 1 && labels.size < 10, `${labels.size} labels`);
});

test('no label covers another one or a router, however dense the mesh is', () => {
  const points = Array.from({ length: 60 }, (_none, index) =>
    point(`r${index}`, 20 + ((index * 37) % 250), 20 + ((index * 53) % 240)),
  );
  const boxes = [...mapLabels(points, SIZE).values()].map(({ text, x, y, anchor }) => {
    const width = text.length * 8;
    const from = { start: x, middle: x - width / 2, end: x - width }[anchor];
    return { left: from, right: from + width, top: y - 12, bottom: y + 4 };
  });
  assert.ok(boxes.length > 10, `${boxes.length} labels`);
  const routers = points.map(({ x, y }) => ({ left: x - 9, right: x + 9, top: y - 9, bottom: y + 9 }));
  for (const [at, box] of boxes.entries()) {
    for (const other of [...boxes.slice(at + 1), ...routers])
      assert.ok(
        box.left >= other.right ||
          other.left >= box.right ||
          box.top >= other.bottom ||
          other.top >= box.bottom,
      );
  }
});
