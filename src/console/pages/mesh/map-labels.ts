/**
 * Places the names of routers on the map: none covers another one or a router, and none leaves the map. Where a name has no room,
 * its number in the list of routers takes its place, and where that has none either, the list alone has the name. Pure.
 */

/** Pixels. */
export const ROUTER_RADIUS = 9;
const LINE_HEIGHT = 16;
/** From the top of a line to where its letters stand. */
const ASCENT = 12;
const GAP = 3;
/** Wider than most letters are: a name that would touch another one is left out. */
const LETTER_WIDTH = 8;
const WIDE_LETTER_WIDTH = 14;
const WIDE_LETTERS =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;

export interface NamedPoint {
  readonly id: string;
  readonly name: string;
  /** In the list of routers; undefined: the list does not have it. */
  readonly number: string | undefined;
  /** Pixels from the top left corner of the map. */
  readonly x: number;
  readonly y: number;
}

export interface MapLabel {
  readonly text: string;
  /** Where the first, the middle or the last letter stands. */
  readonly x: number;
  readonly y: number;
  readonly anchor: 'start' | 'middle' | 'end';
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** By the id of the router. */
export function mapLabels(
  points: readonly NamedPoint[],
  size: { readonly width: number; readonly height: number },
): ReadonlyMap<string, MapLabel> {
  const taken: Box[] = points.map(({ x, y }) => ({
    left: x - ROUTER_RADIUS,
    right: x + ROUTER_RADIUS,
    top: y - ROUTER_RADIUS,
    bottom: y + ROUTER_RADIUS,
  }));
  const labels = new Map<string, MapLabel>();
  const place = (point: NamedPoint, text: string): void => {
    for (const [label, box] of placesOf(point, text)) {
      const isInside = box.left >= 0 && box.top >= 0 && box.right <= size.width && box.bottom <= size.height;
      if (!isInside || taken.some((other) => overlap(box, other))) continue;
      taken.push(box);
      labels.set(point.id, label);
      return;
    }
  };
  for (const point of points) place(point, point.name);
  for (const point of points)
    if (!labels.has(point.id) && point.number !== undefined) place(point, point.number);
  return labels;
}

/** Below, above, to the right and to the left of a router. */
function placesOf({ x, y }: NamedPoint, text: string): readonly (readonly [MapLabel, Box])[] {
  const width = widthOf(text);
  const away = ROUTER_RADIUS + GAP;
  const at = (anchor: MapLabel['anchor'], left: number, top: number): readonly [MapLabel, Box] => [
    { text, anchor, x: { start: left, middle: x, end: left + width }[anchor], y: top + ASCENT },
    { left, top, right: left + width, bottom: top + LINE_HEIGHT },
  ];
  return [
    at('middle', x - width / 2, y + away),
    at('middle', x - width / 2, y - away - LINE_HEIGHT),
    at('start', x + away, y - LINE_HEIGHT / 2),
    at('end', x - away - width, y - LINE_HEIGHT / 2),
  ];
}

function widthOf(text: string): number {
  let width = 0;
  for (const letter of text) width += WIDE_LETTERS.test(letter) ? WIDE_LETTER_WIDTH : LETTER_WIDTH;
  return width;
}

function overlap(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
