/** The shape of the registry of errors. Each part lists its own codes in an `error-table.ts`; `npm run docs` collects them. */
import type { ErrorKind } from './errors.ts';

/** What a code means to the person who reads it, and what that person can do. */
export interface ErrorRow {
  /** Decides the HTTP status and the exit status. A list: the kind depends on where the error arises. */
  readonly kind: ErrorKind | readonly ErrorKind[];
  readonly meaning: string;
  readonly remedy: string;
  /** The first version that has the code. */
  readonly since: string;
}

/** Rows by code. Codes are words in lower case, joined by hyphens. */
export type ErrorTable = Readonly<Record<string, ErrorRow>>;

/** A table whose rows were all added in one version. */
export function errorsSince<Code extends string>(
  since: string,
  rows: Readonly<Record<Code, Omit<ErrorRow, 'since'>>>,
): Readonly<Record<Code, ErrorRow>> {
  const codes = Object.keys(rows) as Code[];
  return Object.fromEntries(codes.map((code) => [code, { ...rows[code], since }])) as Record<Code, ErrorRow>;
}
