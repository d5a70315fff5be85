/**
 * What writers asked for and what was acknowledged, in a file of its own that no crash of the product touches, and what
 * the product may hold after one: the last acknowledged state of each thing, or what was asked for after it.
 */
import { closeSync, openSync, writeSync } from 'node:fs';

/** A thing's state: a text that changes with every write, or undefined when it is not there. */
export type State = string | undefined;

interface Entry {
  acknowledged: State;
  /** Asked for, and not answered yet. */
  open: { readonly state: State; readonly action: string } | undefined;
}

export class WriteLedger {
  readonly #file: number;
  readonly #entries = new Map<string, Entry>();
  /** Writes that took place, by action: acknowledged, or found to be done. */
  readonly done = new Map<string, number>();
  acknowledgedCount = 0;
  #awaited: { readonly count: number; readonly resolve: () => void } | undefined;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  /** Before the request is sent. */
  ask(action: string, name: string, state: State): void {
    const entry = this.#entries.get(name) ?? { acknowledged: undefined, open: undefined };
    entry.open = { state, action };
    this.#entries.set(name, entry);
    this.#write('ask', action, name, state);
  }

  /** Records a write as acknowledged, after its answer. */
  acknowledge(name: string): void {
    const { open } = this.#entries.get(name)!;
    this.#write('ack', open!.action, name, open!.state);
    this.acknowledgedCount += 1;
    if (this.acknowledgedCount === this.#awaited?.count) this.#awaited.resolve();
    this.#settle(name, open!.state, true);
  }

  /** Resolves when so many more are acknowledged. One waits at a time. */
  acknowledgedMore(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#awaited = { count: this.acknowledgedCount + count, resolve };
    return promise;
  }

  /** Compares the current rows with the expected ones, and settles open writes. Returns one line per problem. */
  check(found: ReadonlyMap<string, string>): string[] {
    const problems: string[] = [];
    for (const name of found.keys())
      if (!this.#entries.has(name)) problems.push(`${name} was never asked for`);
    for (const [name, { acknowledged, open }] of this.#entries) {
      const state = found.get(name);
      if (open !== undefined && state === open.state) this.#settle(name, state, true);
      else if (state === acknowledged) this.#settle(name, state, false);
      else problems.push(`${name} is ${state ?? 'gone'}, acknowledged was ${acknowledged ?? 'its end'}`);
    }
    return problems;
  }

  /** Names whose last state is known and there, of those that begin so. */
  held(prefix: string): string[] {
    return [...this.#entries]
      .filter(
        ([name, { acknowledged, open }]) => name.startsWith(prefix) && acknowledged !== undefined && !open,
      )
      .map(([name]) => name);
  }

  close(): void {
    closeSync(this.#file);
  }

  #settle(name: string, state: State, isDone: boolean): void {
    const entry = this.#entries.get(name)!;
    if (isDone && entry.open !== undefined) {
      const { action } = entry.open;
      this.done.set(action, (this.done.get(action) ?? 0) + 1);
    }
    entry.acknowledged = state;
    entry.open = undefined;
  }

  #write(...fields: readonly State[]): void {
    writeSync(this.#file, `${JSON.stringify(fields)}\n`);
  }
}
