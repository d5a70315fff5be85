/** Header rules of a share, compiled once: which lines of a head they remove, and the lines that they add. ADR 0087. */
import type { GatewayUpstream } from '#domain/upstream';
import type { FieldLines } from './head-decoder.ts';

type Rules = NonNullable<GatewayUpstream['requestHeaders']>;

export class HeaderRuleSet {
  /** Lines that are added at the end, each with its line end. */
  readonly lines: string;
  /** Names in lower case whose received lines are removed. */
  readonly #replaced: ReadonlySet<string>;

  constructor(rules: Rules) {
    const added = rules.filter(({ action }) => action !== 'remove');
    this.lines = added.map(({ name, value = '' }) => `${name}: ${value}\r\n`).join('');
    this.#replaced = new Set(
      rules.filter(({ action }) => action !== 'add').map(({ name }) => name.toLowerCase()),
    );
  }

  /** The lines of a head that the rules remove. */
  removedFrom(fields: FieldLines): readonly number[] {
    const removed: number[] = [];
    if (this.#replaced.size === 0) return removed;
    for (let i = 0; i < fields.count; i += 1)
      if (this.#replaced.has(fields.name(i).toLowerCase())) removed.push(i);
    return removed;
  }
}
