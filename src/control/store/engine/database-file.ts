/**
 * Checks the file of the embedded database before SQLite opens it, since SQLite takes an empty file for a new database and
 * reads a cut one until it reaches the end. Reads the head of the file only; what is inside is SQLite's to judge.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { FrontdoorError } from '#base';

const HEAD_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
const PAGE_SIZE_AT = 16;
const PAGES_AT = 28;
/** The page size of 65,536 bytes is written as 1. */
const LARGEST_PAGE = 65_536;

/** Size of the file in bytes; 0 if there is none. */
export function databaseFileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** @throws FrontdoorError `database-damaged`, with path and remedy. A missing or empty file is a new database. */
export function checkDatabaseFile(path: string): void {
  const bytes = databaseFileBytes(path);
  if (bytes === 0) return;
  const head = headOf(path);
  if (head.length < HEAD_BYTES || !head.toString('latin1').startsWith(MAGIC))
    throw damagedDatabase(path, 'is no SQLite database');
  // The pages that a checkpoint has not written yet are in the log.
  if (databaseFileBytes(`${path}-wal`) > 0) return;
  const pageBytes = head.readUInt16BE(PAGE_SIZE_AT);
  const expected = (pageBytes === 1 ? LARGEST_PAGE : pageBytes) * head.readUInt32BE(PAGES_AT);
  if (bytes < expected) throw damagedDatabase(path, `has ${bytes} of its ${expected} bytes`);
}

export function damagedDatabase(path: string, why: string, cause?: unknown): FrontdoorError {
  const message = `${path} ${why}: move it away, then restore the database from a backup with "frontdoor restore"`;
  return new FrontdoorError('invalid', 'database-damaged', message, { cause });
}

function headOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    return head.subarray(0, readSync(file, head, 0, HEAD_BYTES, 0));
  } finally {
    closeSync(file);
  }
}
