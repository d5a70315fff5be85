/**
 * Names for repeated statements, so that each connection parses and plans them once. Rare statements, such as
 * `in` lists of every length, have no name. A name belongs to its text for the lifetime of the process.
 */
import { createHash } from 'node:crypto';

/** A connection keeps at most so many prepared statements. */
const MAX_NAMES = 300;
const MAX_CANDIDATES = 1_000;
/** A statement is named when it is sent for the third time. */
const SIGHTINGS = 3;

export class StatementNames {
  readonly #names = new Map<string, string>();
  readonly #sightings = new Map<string, number>();

  /** Returns undefined if the statement should run unnamed. */
  nameOf(sql: string): string | undefined {
    const known = this.#names.get(sql);
    if (known !== undefined || this.#names.size >= MAX_NAMES) return known;
    const sightings = (this.#sightings.get(sql) ?? 0) + 1;
    this.#sightings.delete(sql);
    if (sightings < SIGHTINGS) {
      this.#sightings.set(sql, sightings);
      if (this.#sightings.size > MAX_CANDIDATES) {
        this.#sightings.delete(this.#sightings.keys().next().value!);
      }
      return undefined;
    }
    const name = `f${createHash('sha256').update(sql).digest('base64url').slice(0, 24)}`;
    this.#names.set(sql, name);
    return name;
  }
}
