// A context, or another object that a part of the control plane is made with, has at most twelve fields, those that it inherits
// included. With more, its users see what they do not use, and a test of one has to make all of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTest, sourceFiles } from '../../tools/source-tree.ts';

const MOST_FIELDS = 12;
const NAME = /(?:Context|Options|Parts)$/;
const INTERFACE =
  /^(?:export )?interface (?<name>\w+)(?:<[^>]*>)?(?: extends (?<parents>[^{]+))? \{(?<body>[^]*?)^\}/gm;
const ALIAS = /^(?:export )?type (?<name>\w+) =(?<type>[^;]*);$/gm;
const FIELD = /^ {2}(?:readonly )?(?<field>[\w$]+)\??(?:[:(<]|$)/gm;
const PICKED = /^(?<how>Pick|Omit)<\s*(?<of>\w+),(?<names>[^]*)>$/;

/** Types with more fields, and why. */
const LARGER: ReadonlyMap<string, string> = new Map([
  [
    'ControlPlaneOptions',
    'the options of the command line, each passed on by wiring/ to the one part that it concerns',
  ],
  ['ApiParts', 'no operation takes it whole: each names what it uses by Pick'],
  ['ManagementApiOptions', 'the parts of ApiParts that are made outside, and the options of the server'],
  ['OpenedApiParts', 'ApiParts, with what is closed'],
]);

interface Shape {
  readonly path: string;
  readonly own: ReadonlySet<string>;
  readonly parents: readonly string[];
}

function shapesOf(): Map<string, Shape> {
  const shapes = new Map<string, Shape>();
  for (const { path, text } of sourceFiles('src/control')) {
    if (isTest(path)) continue;
    for (const { groups } of text.matchAll(INTERFACE)) {
      const { name = '', parents = '', body = '' } = groups!;
      const own = new Set(Array.from(body.matchAll(FIELD), (field) => field.groups!['field']!));
      shapes.set(name, { path, own, parents: splitAt(parents, ',') });
    }
    for (const { groups } of text.matchAll(ALIAS)) {
      const { name = '', type = '' } = groups!;
      const parents = splitAt(type, '&');
      if (parents.every((one) => PICKED.test(one) || /^\w+$/.test(one) || one.startsWith('{')))
        shapes.set(name, { path, own: new Set(), parents });
    }
  }
  return shapes;
}

/** Splits at a separator that is outside of brackets. */
function splitAt(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const character of text.replaceAll('=>', '')) {
    if ('<{(['.includes(character)) depth += 1;
    if ('>})]'.includes(character)) depth -= 1;
    if (character === separator && depth === 0) {
      parts.push(part.trim());
      part = '';
    } else part += character;
  }
  return [...parts, part.trim()].filter((one) => one !== '');
}

function fieldsOf(type: string, shapes: ReadonlyMap<string, Shape>): Set<string> {
  if (type.startsWith('{'))
    return new Set(Array.from(type.matchAll(/readonly (\w+)\??:/g), ([, field]) => field!));
  const picked = PICKED.exec(type)?.groups;
  if (picked !== undefined) {
    const named = Array.from(picked['names']!.matchAll(/'(\w+)'/g), ([, name]) => name!);
    if (picked['how'] === 'Pick') return new Set(named);
    return new Set([...fieldsOf(picked['of']!, shapes)].filter((field) => !named.includes(field)));
  }
  const shape = shapes.get(type);
  if (shape === undefined) return new Set();
  return new Set([...shape.own, ...shape.parents.flatMap((parent) => [...fieldsOf(parent, shapes)])]);
}

function largeTypes(): { readonly name: string; readonly text: string }[] {
  const shapes = shapesOf();
  assert.ok(shapes.size > 100, 'the interfaces of the control plane were not found');
  return [...shapes]
    .filter(([name]) => NAME.test(name))
    .map(([name, { path }]) => ({ name, path, count: fieldsOf(name, shapes).size }))
    .filter(({ count }) => count > MOST_FIELDS)
    .map(({ name, path, count }) => ({ name, text: `${name} has ${String(count)} fields: ${path}` }));
}

test('what a part of the control plane is made with has at most twelve fields', () => {
  const wrong = largeTypes().filter(({ name }) => !LARGER.has(name));
  const remedy = 'take what is used, or group what belongs together';
  assert.deepEqual(
    wrong.map(({ text }) => text),
    [],
    remedy,
  );
});

test('the list of larger types names none that is small or gone', () => {
  const large = new Set(largeTypes().map(({ name }) => name));
  assert.deepEqual(
    [...LARGER.keys()].filter((name) => !large.has(name)),
    [],
  );
});
