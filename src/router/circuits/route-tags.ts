/**
 * Tags of circuits. A router keeps those of each circuit until its next report, so that circuits with equal tags, as between the
 * same gateway and agent, have one object.
 */
import type { CircuitTags } from '../forwarder/circuit-table.ts';

const MAX_KEPT = 1_024;

export class RouteTags {
  readonly #kept = new Map<string, CircuitTags>();

  /** Returns undefined if there are none. */
  of(tags: CircuitTags): CircuitTags | undefined {
    if (Object.keys(tags).length === 0) return undefined;
    const key = JSON.stringify(tags);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    this.#kept.set(key, tags);
    return tags;
  }
}
