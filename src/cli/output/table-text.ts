/**
 * Entries as a table without borders. On a narrow terminal, cells are wrapped between words, so that ids and
 * addresses stay whole; if that is not enough, each entry becomes a block of names and values.
 */
import { cellText, fieldOf, headingOf, widthOf } from './cell-text.ts';
import { recordText } from './record-text.ts';

const GAP = '  ';

export interface TableOptions {
  readonly columns: readonly string[];
  /** Width of the terminal; undefined if the output is not a terminal, and nothing is wrapped. */
  readonly terminalColumns: number | undefined;
  readonly isBold: boolean;
}

/** Prints entries in portions with one heading. Columns keep their width unless an entry needs more. */
export class TableText {
  readonly #options: TableOptions;
  readonly #headings: readonly string[];
  /** Width of the longest cell of each column, and of its longest word. */
  readonly #natural: number[];
  readonly #least: number[];
  #hasHeading = false;

  constructor(options: TableOptions) {
    this.#options = options;
    this.#headings = options.columns.map(headingOf);
    this.#natural = this.#headings.map(widthOf);
    this.#least = this.#headings.map(longestWord);
  }

  async portion(entries: readonly unknown[]): Promise<string> {
    const { columns, terminalColumns, isBold } = this.#options;
    const rows = entries.map((entry) => columns.map((column) => cellText(fieldOf(entry, column))));
    for (const [index] of columns.entries()) {
      for (const row of rows) {
        this.#natural[index] = Math.max(this.#natural[index]!, widthOf(row[index]!));
        this.#least[index] = Math.max(this.#least[index]!, longestWord(row[index]!));
      }
    }
    const widths = fitting(this.#natural, this.#least, terminalColumns);
    if (widths === undefined) return this.#blocks(entries);
    const heading = this.#hasHeading ? [] : await linesOf([this.#headings], widths);
    this.#hasHeading = true;
    const lines = [
      ...heading.map((line) => (isBold ? `\u001B[1m${line}\u001B[22m` : line)),
      ...(await linesOf(rows, widths)),
    ];
    return lines.map((line) => `${line}\n`).join('');
  }

  #blocks(entries: readonly unknown[]): string {
    const { columns } = this.#options;
    const blocks = entries.map((entry) =>
      recordText(Object.fromEntries(columns.map((column) => [column, fieldOf(entry, column)]))),
    );
    const text = `${this.#hasHeading ? '\n' : ''}${blocks.join('\n')}`;
    this.#hasHeading = true;
    return text;
  }
}

async function linesOf(rows: readonly (readonly string[])[], widths: readonly number[]): Promise<string[]> {
  // Loaded for the first table, because help and single objects do not need it.
  const { default: Table } = await import('cli-table3');
  const table = new Table({
    colWidths: [...widths],
    wordWrap: true,
    chars: BORDERLESS,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  });
  for (const row of rows) table.push([...row]);
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}

/** Narrows the column with the most spare width first. Returns undefined if a table does not fit. */
function fitting(
  natural: readonly number[],
  least: readonly number[],
  terminalColumns: number | undefined,
): number[] | undefined {
  const widths = [...natural];
  if (terminalColumns === undefined) return widths;
  const gaps = GAP.length * (widths.length - 1);
  let excess = widths.reduce((sum, width) => sum + width, gaps) - terminalColumns;
  for (; excess > 0; excess -= 1) {
    const spare = widths.map((width, index) => width - least[index]!);
    const most = spare.indexOf(Math.max(...spare));
    if (spare[most] === 0) return undefined;
    widths[most]! -= 1;
  }
  return widths;
}

function longestWord(text: string): number {
  return Math.max(...text.split(' ').map(widthOf));
}

const BORDERLESS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: GAP,
};
