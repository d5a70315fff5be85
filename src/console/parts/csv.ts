/**
 * Rows of the API as CSV (RFC 4180). A column is a field, and a field of an object is named with a dot: `access.admits`. Texts that a
 * spreadsheet would take for a formula begin with an apostrophe.
 */

type Row = object;

const LINE_END = '\r\n';
/** What begins a formula in spreadsheets, also behind a tab or a line break. */
const FORMULA = /^[=+\-@\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** The columns are the fields of all rows, in the order in which they first appear. */
export function csvOf(rows: readonly Row[]): string {
  const flat = rows.map((row) => new Map(fieldsOf(row, '')));
  const names = [...new Set(flat.flatMap((fields) => [...fields.keys()]))];
  const lines = flat.map((fields) => names.map((name) => cellOf(fields.get(name))).join(','));
  return [names.map(cellOf).join(','), ...lines].map((line) => `${line}${LINE_END}`).join('');
}

function fieldsOf(row: Row, prefix: string): readonly (readonly [string, unknown])[] {
  return Object.entries(row).flatMap(([name, value]: readonly [string, unknown]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? fieldsOf(value, `${prefix}${name}.`)
      : [[`${prefix}${name}`, value] as const],
  );
}

function cellOf(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = textOf(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A list of texts is separated by spaces; anything else that is nested is JSON. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  const isTexts = Array.isArray(value) && value.every((each) => typeof each === 'string');
  return isTexts ? value.join(' ') : JSON.stringify(value);
}
