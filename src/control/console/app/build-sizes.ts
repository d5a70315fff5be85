/** The sizes of a build's files, for the reader of `frontdoor dev console`. */
import type { ConsoleFile } from './built-console.ts';

/** One line for each file, and the sums of the first page: bytes, and bytes with gzip. */
export function sizesOf(files: ReadonlyMap<string, ConsoleFile>): string {
  const rows = [...files.values()].sort((a, b) => b.gzip.length - a.gzip.length);
  const lines = rows.map(({ name, role, bytes, gzip }) => line(bytes.length, gzip.length, `${role} ${name}`));
  const first = rows.filter(({ role }) => role !== 'later');
  const sums = ['.js', '.css'].map((ending) => {
    const own = first.filter(({ name }) => name.endsWith(ending));
    return line(
      own.reduce((sum, { bytes }) => sum + bytes.length, 0),
      own.reduce((sum, { gzip }) => sum + gzip.length, 0),
      `first page, ${ending.slice(1)}`,
    );
  });
  return `${['     bytes       gzip', ...lines, ...sums].join('\n')}\n`;
}

function line(bytes: number, gzip: number, text: string): string {
  return `${String(bytes).padStart(10)} ${String(gzip).padStart(10)}  ${text}`;
}
