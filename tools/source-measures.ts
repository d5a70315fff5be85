/** Counts in the text of one file, or of several, for architecture tests, which hold limits, and for `figures.ts`. */
import type { SourceFile } from './source-tree.ts';

const EXPORT_LIST = /^export (?:type )?\{([^}]*)\}/gm;
const MODULE_VARIABLE = /^(?:export )?(?:let|var) (?<name>[\w$]+|[[{])/gm;
const DECLARED_TYPE = /^export (?:declare )?(?:abstract )?(?:class|interface|type) (\w+)/gm;
const FUNCTION_START =
  /^\s*(?!(?:if|for|while|switch|catch|else|do|try|return)\b)(?:.*\bfunction\b|.*=> \{$|.*= \($|(?:(?:static|async|private|get|set|override) )*[*#]*[\w$]+(?:<.*>)?\()/;

export function linesOf(text: string): number {
  return text.split('\n').length - 1;
}

/** How many names a `mod.ts` exports. */
export function doorNames(text: string): number {
  return [...text.matchAll(EXPORT_LIST)].flatMap(([, list = '']) =>
    list.split(',').filter((name) => name.trim()),
  ).length;
}

/** The names of the variables of a module that can change. */
export function moduleVariables(text: string): string[] {
  return [...text.matchAll(MODULE_VARIABLE)].map(({ groups }) => groups!['name']!);
}

/** The classes, interfaces and types that several files export under one name, with these files. */
export function sharedNames(
  files: readonly SourceFile[],
): (readonly [name: string, paths: readonly string[]])[] {
  const places = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const [, name = ''] of text.matchAll(DECLARED_TYPE))
      places.set(name, [...(places.get(name) ?? []), path]);
  }
  return [...places].filter(([, paths]) => paths.length > 1);
}

/** The lengths of the functions of a file in lines. The formatter puts the end of a block at the indent of its start. */
export function functionLengths(text: string): number[] {
  const lines = text.split('\n');
  const starts = new Map<number, number>();
  const lengths: number[] = [];
  for (const [at, line] of lines.entries()) {
    const indent = line.search(/\S/);
    if (indent < 0) continue;
    const start = starts.get(indent);
    if (/^\s*\}/.test(line)) {
      if (start !== undefined && FUNCTION_START.test(lines[start]!)) lengths.push(at - start + 1);
    } else if (!/^\s*\)/.test(line)) starts.set(indent, at);
  }
  return lengths;
}

/** Casts to a type, without `as const` and `as unknown`. */
export function castsOf(text: string): number {
  return [
    ...text.matchAll(
      /^(?!\s*(?:\*|\/\/|import|export \{|\}|\* as)).*[\w)\]}] as (?!const\b|unknown\b)[\w({[]/gm,
    ),
  ].length;
}

const CALL = /\bJSON\.parse\(|\bresponse\.json\(/g;
const CAST = /^[\s)]*(?:\?\? [^)]*\)\s*)?as (?!unknown\b|const\b)(?<type>[\w{(][^;,)\n]*)/;
/** `const value: T = JSON.parse(…)`. */
const TYPED = /\b(?:const|let) (?:\w+|[{[][^=]*): (?<type>[^=;]+?) = (?:await )?$/;

/** The text after the call whose parenthesis opens before `at`. Parentheses in strings of these calls are in pairs. */
function restAfter(text: string, at: number): string {
  let depth = 1;
  let end = at;
  for (; depth > 0 && end < text.length; end += 1) {
    if (text[end] === '(') depth += 1;
    else if (text[end] === ')') depth -= 1;
  }
  return text.slice(end, end + 300);
}

/** The line and the type of each cast of parsed JSON. */
export function parsedJsonCasts(text: string): string[] {
  return [...text.matchAll(CALL)].flatMap(({ 0: call, index }) => {
    const cast = CAST.exec(restAfter(text, index + call.length))?.groups?.['type'];
    const typed = TYPED.exec(text.slice(Math.max(0, index - 300), index))?.groups?.['type'];
    const type = cast ?? (typed === 'unknown' ? undefined : typed);
    return type === undefined ? [] : [`${text.slice(0, index).split('\n').length} ${type.trim()}`];
  });
}
