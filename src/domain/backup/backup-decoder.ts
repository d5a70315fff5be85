/**
 * Decodes the portable form of the whole database: lines of JSON (compressed on disk and wire) with a header,
 * tables with their rows, and a trailer with the number of rows and a SHA-256 hash of all previous lines.
 * Incremental and pure: the caller provides the hash, and must not trust any data before `end` has returned.
 */
import { FrontdoorError, utf8 } from '#base';
import { LineDecoder } from '../line-decoder.ts';

export const BACKUP_FORMAT = 1;

/** The first line. */
export interface BackupHeader {
  readonly frontdoorBackup: typeof BACKUP_FORMAT;
  /** ISO 8601. */
  readonly takenAt: string;
  /** Names of the schema's migrations, in order. */
  readonly migrations: readonly string[];
}

/** Precedes a table's rows. Each row is a line with an array, in the order of the columns. */
export interface BackupTable {
  readonly table: string;
  readonly columns: readonly string[];
}

/** The last line. */
export interface BackupTrailer {
  readonly end: {
    readonly rows: Readonly<Record<string, number>>;
    /** Hash of all previous lines with their line feeds, in lower-case hex. */
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
  /** Number of rows by table. */
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

  /** Returns the items that these bytes complete. Throws `invalid` (`backup_damaged`, `backup_format`). */
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

  /** Throws if the trailer has not arrived, or if something follows it. */
  end(): BackupSummary {
    if (this.#header === undefined || !this.#isComplete) throw damaged('is truncated');
    if (this.#length !== this.#lineLength) throw damaged('continues after its end');
    return { header: this.#header, rows: Object.fromEntries(this.#rows) };
  }

  #take(line: string): BackupItem | undefined {
    if (this.#isComplete) throw damaged('continues after its end');
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
      throw damaged('has a row that does not fit its table');
    }
    this.#rows.set(table.table, this.#rows.get(table.table)! + 1);
    return values;
  }

  #checkTrailer(end: Partial<BackupTrailer['end']> | null): void {
    const { rows, sha256 } = end ?? {};
    if (sha256 !== this.#hash.digest()) throw damaged('was changed: its checksum does not match');
    const counted = Object.entries(rows ?? {});
    if (
      counted.length !== this.#rows.size ||
      counted.some(([name, count]) => this.#rows.get(name) !== count)
    ) {
      throw damaged('does not have the number of rows that its trailer states');
    }
    this.#isComplete = true;
  }
}

function parsed(line: string): object {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw damaged('has a line that is not JSON');
  }
  if (typeof value !== 'object' || value === null)
    throw damaged('has a line that does not belong to a backup');
  return value;
}

function headerOf(value: object): BackupHeader {
  const { frontdoorBackup, takenAt, migrations } = value as Record<string, unknown>;
  if (typeof frontdoorBackup !== 'number') {
    throw new FrontdoorError('invalid', 'backup-format', 'the file is not a backup of Frontdoor');
  }
  if (frontdoorBackup !== BACKUP_FORMAT) {
    const message = `the backup has format ${frontdoorBackup}, this version reads ${BACKUP_FORMAT}`;
    throw new FrontdoorError('invalid', 'backup-format', message);
  }
  if (typeof takenAt !== 'string' || !isTexts(migrations)) throw damaged('has an incomplete header');
  return { frontdoorBackup, takenAt, migrations };
}

function tableOf(value: object): BackupTable {
  const { table, columns } = value as Record<string, unknown>;
  if (typeof table !== 'string' || !isTexts(columns))
    throw damaged('has a line that does not belong to a backup');
  return { table, columns };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isValue(value: unknown): value is BackupValue {
  return value === null || typeof value === 'string' || typeof value === 'number';
}

function damaged(how: string): FrontdoorError {
  return new FrontdoorError('invalid', 'backup-damaged', `the backup ${how}`);
}
