/**
 * Rewrites obsolete forms in the head of a response, which old devices send, into those of RFC 9112: lines that end without CR
 * (§2.2), white space before a colon (§5.1), values that continue on the next line (§5.2), and equal Content-Lengths (§6.3).
 * The strict reader judges what it returns, and refuses everything else. Requests never pass through here.
 */

const FIRST_FIELD = 1;
const SPACED_NAME = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]+:/;
const LENGTH = /^content-length:[ \t]*([0-9]{1,15}(?:[ \t]*,[ \t]*[0-9]{1,15})*)[ \t]*$/i;

/** `text` is a head with its empty line (Latin-1). Returns it unchanged if it has none of these forms. */
export function normalisedHead(text: string): string {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  const end = lines.indexOf('', FIRST_FIELD);
  if (end === -1) return text;
  const kept: string[] = [lines[0]!];
  for (const line of lines.slice(FIRST_FIELD, end)) {
    const isContinued = line.startsWith(' ') || line.startsWith('\t');
    if (isContinued && kept.length > FIRST_FIELD) kept.push(`${kept.pop()!} ${line.trim()}`);
    else kept.push(line.replace(SPACED_NAME, '$1:'));
  }
  return `${withOneLength(kept).join('\r\n')}\r\n\r\n`;
}

/** Lengths that differ stay as they are, so that they are refused. */
function withOneLength(lines: readonly string[]): readonly string[] {
  const lengths = lines.flatMap((line) => LENGTH.exec(line)?.[1]?.split(',') ?? []);
  const [first, ...others] = lengths.map(Number);
  if (first === undefined || others.length === 0 || others.some((each) => each !== first)) return lines;
  return [...lines.filter((line) => !LENGTH.test(line)), `Content-Length: ${first}`];
}
