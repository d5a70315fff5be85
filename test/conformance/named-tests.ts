/**
 * The tests of a file by their full names, "describe › it", read from its text. A call's indentation shows which
 * `describe` it belongs to, because every file is formatted. A name in a template literal is kept as it is written.
 */
const CALL =
  /^( *)(describe\w*|test|it)(?:\.\w+)?\(\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)`)/gm;

export function namedTests(text: string): string[] {
  const names: string[] = [];
  const outer: { readonly indent: number; readonly name: string }[] = [];
  for (const [, spaces = '', call = '', single, double, template] of text.matchAll(CALL)) {
    const indent = spaces.length;
    while (outer.length > 0 && outer.at(-1)!.indent >= indent) outer.pop();
    const name = (single ?? double ?? template ?? '').replaceAll(/\\(.)/g, '$1');
    if (call.startsWith('describe')) outer.push({ indent, name });
    else names.push([...outer.map((each) => each.name), name].join(' › '));
  }
  return names;
}

/** The titles of the rows that a file of the battery defines. */
export function rowTitles(text: string): string[] {
  const titles = text.matchAll(/\btitle:\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`((?:\\.|[^`\\])*)`)/g);
  return [...titles].map(([, single, double, template]) =>
    (single ?? double ?? template ?? '').replaceAll(/\\(.)/g, '$1'),
  );
}
