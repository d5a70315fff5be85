/** What name servers answer, or why they do not. `#net/names` looks it up. */

export interface TxtAnswer {
  /** The records, each with its pieces joined. None if there is no such name, or it has no TXT records. */
  readonly values: readonly string[];
  /** Why the records are not known, in words; undefined if the name servers responded. */
  readonly problem: string | undefined;
}

export interface NameRecords {
  /** The target of its CNAME record; undefined if it has none. */
  readonly alias: string | undefined;
  /** The addresses of the name, behind its alias if it has one. */
  readonly addresses: readonly string[];
  /** Why its records are not known, in words; undefined if the name servers responded. */
  readonly problem: string | undefined;
}
