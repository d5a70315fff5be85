/** The objects that parts of the control plane are made with, and their fields, inherited ones included. */
import { isTest, sourceFiles } from './source-tree.ts';

const NAME = /(?:Context|Options|Parts)$/;
const INTERFACE =
  /^(?:export )?interface (?<name>\w+)(?:<[^>]*>)?(?: extends (?<parents>[^{]+))? \{(?<body>[^]*?)^\}/gm;
const ALIAS = /^(?:export )?type (?<name>\w+) =(?<type>[^;]*);$/gm;
const FIELD = /^ {2}(?:readonly )?(?<field>[\w$]+)\??(?:[:(<]|$)/gm;
const PICKED = /^(?<how>Pick|Omit)<\s*(?<of>\w+),(?<names>[^]*)>$/;

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

export interface ParameterObject {
  readonly name: string;
  readonly path: string;
  readonly fields: number;
}

export function parameterObjects(): ParameterObject[] {
  const shapes = shapesOf();
  return [...shapes]
    .filter(([name]) => NAME.test(name))
    .map(([name, { path }]) => ({ name, path, fields: fieldsOf(name, shapes).size }));
}
