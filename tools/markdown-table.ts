/** Tables of the reference pages, in Markdown. */

/** Returns the table as one block; a column without any text is left out. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const used = head.map((_title, index) => rows.some((row) => row[index] !== ''));
  const line = (cells: readonly string[]): string =>
    `| ${cells
      .filter((_cell, index) => used[index])
      .map((cell) => cell.replaceAll('|', '\\|'))
      .join(' | ')} |`;
  return [[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')];
}
