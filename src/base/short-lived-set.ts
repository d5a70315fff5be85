/** A set of objects that come and go, each with a number of its own. `ShortLivedMap` says why a `Set` is costly for them. */
import { ShortLivedMap } from './short-lived-map.ts';

export interface Numbered {
  /** Unique in the process, by `newNumber`. */
  readonly number: number;
}

const numbers = { last: 0 };

export function newNumber(): number {
  numbers.last += 1;
  return numbers.last;
}

export class ShortLivedSet<Member extends Numbered> {
  readonly #members = new ShortLivedMap<number, Member>();

  get size(): number {
    return this.#members.size;
  }

  has(member: Member): boolean {
    return this.#members.has(member.number);
  }

  add(member: Member): void {
    this.#members.set(member.number, member);
  }

  /** Returns whether it was a member. */
  delete(member: Member): boolean {
    return this.#members.delete(member.number);
  }

  /** In the order in which they were added. */
  [Symbol.iterator](): Generator<Member, void> {
    return this.#members.values();
  }

  clear(): void {
    this.#members.clear();
  }
}
