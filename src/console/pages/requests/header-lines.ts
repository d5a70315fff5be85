/** Headers as lines of `Name: value`, as people type them. Pure. */

export interface TypedHeader {
  readonly name: string;
  readonly value: string;
}

/** Returns the headers, or the first line that has another form. */
export function parseHeaderLines(text: string): readonly TypedHeader[] | string {
  const headers: TypedHeader[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const [, name, value] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return line.trim();
    headers.push({ name, value });
  }
  return headers;
}
