/**
 * The portable form of everything that the database holds: lines of JSON (compressed as a whole on disk and wire), a
 * header, tables each with its rows, and a trailer that counts the rows and covers all lines before it by SHA-256.
 * Incremental and pure: whoever feeds it brings the hash, and believes nothing before `end` returned.
 */
import { FrontdoorError, utf8 } from '#base';
import { LineDecoder } from './line-decoder.ts';

export const BACKUP_FORMAT = 1;

/** First line. */
export interface BackupHeader {
  readonly frontdoorBackup: typeof BACKUP_FORMAT;
  /** ISO 8601. */
  readonly takenAt: string;
  /** Names of the schema's migrations, in order. */
  readonly migrations: readonly string[];
}

/** Before a table's rows; each row is a line with an array, in the order of the columns. */
export interface BackupTable {
  readonly table: string;
  readonly columns: readonly string[];
}

/** Last line. */
export interface BackupTrailer {
  readonly end: {
    readonly rows: Readonly<Record<string, number>>;
    /** Of all lines before this one with their line feeds, lower-case hex. */
    readonly sha256: string;
  };
}

export type BackupValue = string | number | null;

export type BackupItem =
  | { readonly type: 'header'; readonly header: BackupHeader }
  | { readonly type: 'table'; readonly table: BackupTable }
  | { readonly type: 'row'; readonly values: readonly BackupValue[] };

export interface BackupSummary {
  readonly header: BackupHeader;
  /** By table. */
  readonly rows: Readonly<Record<string, number>>;
}

export interface BackupHash {
  update(bytes: Uint8Array): void;
  /** Lower-case hex. */
  digest(): string;
}

const MAX_LINE_BYTES = 16 * 1_048_576;
const MAX_TABLES = 1_000;
const LINE_FEED = Uint8Array.of(0x0a);

export class BackupDecoder {
  readonly #hash: BackupHash;
  readonly #lines = new LineDecoder(MAX_LINE_BYTES);
  readonly #rows = new Map<string, number>();
  #header: BackupHeader | undefined;
  #table: BackupTable | undefined;
  #isComplete = false;
  #length = 0;
  #lineLength = 0;

  constructor(hash: BackupHash) {
    this.#hash = hash;
  }

  /** What these bytes complete. Throws `invalid` (`backup_damaged`, `backup_format`). */
  push(bytes: Uint8Array): BackupItem[] {
    this.#length += bytes.length;
    const items: BackupItem[] = [];
    for (const line of this.#lines.push(bytes)) {
      const item = this.#take(line);
      if (item !== undefined) items.push(item);
    }
    if (this.#lines.overflowed) throw damaged('has a line that is too long');
    return items;
  }

  /** Throws when the trailer has not come, or something came after it. */
  end(): BackupSummary {
    if (this.#header === undefined || !this.#isComplete) throw damaged('is cut short');
    if (this.#length !== this.#lineLength) throw damaged('goes on after its end');
    return { header: this.#header, rows: Object.fromEntries(this.#rows) };
  }

  #take(line: string): BackupItem | undefined {
    if (this.#isComplete) throw damaged('goes on after its end');
    const bytes = utf8(line);
    this.#lineLength += bytes.length + 1;
    const value = parsed(line);
    if (this.#header === undefined) {
      this.#count(bytes);
      this.#header = headerOf(value);
      return { type: 'header', header: this.#header };
    }
    if (Array.isArray(value)) {
      this.#count(bytes);
      return { type: 'row', values: this.#row(value) };
    }
    const { end } = value as Partial<BackupTrailer>;
    if (end !== undefined) {
      this.#checkTrailer(end);
      return undefined;
    }
    this.#count(bytes);
    this.#table = tableOf(value);
    if (this.#rows.has(this.#table.table) || this.#rows.size >= MAX_TABLES) throw damaged('repeats a table');
    this.#rows.set(this.#table.table, 0);
    return { type: 'table', table: this.#table };
  }

  #count(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.#hash.update(LINE_FEED);
  }

  #row(values: readonly unknown[]): readonly BackupValue[] {
    const table = this.#table;
    if (table === undefined || values.length !== table.columns.length || !values.every(isValue)) {
      throw damaged('has a row that fits no table');
    }
    this.#rows.set(table.table, this.#rows.get(table.table)! + 1);
    return values;
  }

  #checkTrailer(end: Partial<BackupTrailer['end']> | null): void {
    const { rows, sha256 } = end ?? {};
    if (sha256 !== this.#hash.digest()) throw damaged('is not what was written: its checksum is another');
    const counted = Object.entries(rows ?? {});
    if (
      counted.length !== this.#rows.size ||
      counted.some(([name, count]) => this.#rows.get(name) !== count)
    ) {
      throw damaged('has another number of rows than it says');
    }
    this.#isComplete = true;
  }
}

function parsed(line: string): object {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw damaged('has a line that is no JSON');
  }
  if (typeof value !== 'object' || value === null) throw damaged('has a line that is none of a backup');
  return value;
}

function headerOf(value: object): BackupHeader {
  const { frontdoorBackup, takenAt, migrations } = value as Record<string, unknown>;
  if (typeof frontdoorBackup !== 'number') {
    throw new FrontdoorError('invalid', 'backup_format', 'the file is no backup of Frontdoor');
  }
  if (frontdoorBackup !== BACKUP_FORMAT) {
    const message = `the backup has format ${frontdoorBackup}, this version reads ${BACKUP_FORMAT}`;
    throw new FrontdoorError('invalid', 'backup_format', message);
  }
  if (typeof takenAt !== 'string' || !isTexts(migrations)) throw damaged('has a head that says too little');
  return { frontdoorBackup, takenAt, migrations };
}

function tableOf(value: object): BackupTable {
  const { table, columns } = value as Record<string, unknown>;
  if (typeof table !== 'string' || !isTexts(columns)) throw damaged('has a line that is none of a backup');
  return { table, columns };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isValue(value: unknown): value is BackupValue {
  return value === null || typeof value === 'string' || typeof value === 'number';
}

function damaged(how: string): FrontdoorError {
  return new FrontdoorError('invalid', 'backup_damaged', `the backup ${how}`);
}
