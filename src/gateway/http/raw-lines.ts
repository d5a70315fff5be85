/** Header lines between HTTP/1.1 and the lists of HTTP/2, in which names and values take turns. Latin-1. */

const BREAKS_LINE = /[\r\n\0]/;

/** Whether a name or value cannot stand in a line of HTTP/1.1. */
export function breaksLine(text: string): boolean {
  return BREAKS_LINE.test(text);
}

/** Returns the trailers as lines, or '' if one of them is not a line. */
export function trailerLines(raw: readonly string[]): string {
  let lines = '';
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name, value] = [raw[i]!, raw[i + 1]!];
    if (breaksLine(name) || breaksLine(value)) return '';
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
