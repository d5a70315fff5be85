/**
 * The addresses of `dnsSvcIpRange`: which of them have a name. Addresses are given in the order of the range, beginning
 * after the one that the option names, which belongs to the router. The addresses of the network and of its broadcast
 * are not given.
 */
import { FrontdoorError } from '#base';

/** Maximum names that have an address at once, so that the memory for them is bounded. */
const MAX_NAMES = 65_536;

export interface AddressRange {
  /** The address of the router itself. */
  readonly address: string;
  readonly prefixLength: number;
}

export class AddressPool {
  readonly range: AddressRange;
  readonly #own: number;
  readonly #first: number;
  readonly #last: number;
  readonly #taken = new Set<number>();
  #next: number;

  /** `place` is part of messages: file, line and key. Throws if the range has no address to give. */
  constructor(cidr: string, place: string) {
    const [address = '', prefix = ''] = cidr.split('/');
    const prefixLength = Number(prefix);
    if (!/^\d+\.\d+\.\d+\.\d+$/.test(address))
      throw new FrontdoorError(
        'invalid',
        'bad-dns-range',
        `${place}: ${cidr} is not a range of IPv4 addresses`,
      );
    this.range = { address, prefixLength };
    this.#own = numberOf(address);
    const size = 2 ** (32 - prefixLength);
    const network = this.#own - (this.#own % size);
    this.#first = network + 1;
    this.#last = network + size - 2;
    this.#next = this.#own;
    if (this.capacity < 1)
      throw new FrontdoorError('invalid', 'bad-dns-range', `${place}: ${cidr} has no address for a name`);
  }

  /** The number of names that can have an address at once. */
  get capacity(): number {
    const isOwnInside = this.#own >= this.#first && this.#own <= this.#last;
    return Math.min(MAX_NAMES, this.#last - this.#first + 1 - (isOwnInside ? 1 : 0));
  }

  /** Takes the next free address, or returns undefined if there is none. */
  take(): string | undefined {
    if (this.#taken.size >= this.capacity) return undefined;
    do this.#next = this.#next >= this.#last ? this.#first : this.#next + 1;
    while (this.#next === this.#own || this.#taken.has(this.#next));
    this.#taken.add(this.#next);
    return textOf(this.#next);
  }

  /** Takes a certain address. Returns false if it is not in the range, or not free. */
  takeThis(address: string): boolean {
    const number = numberOf(address);
    const isInside = number >= this.#first && number <= this.#last && number !== this.#own;
    if (
      !isInside ||
      textOf(number) !== address ||
      this.#taken.has(number) ||
      this.#taken.size >= this.capacity
    )
      return false;
    this.#taken.add(number);
    return true;
  }

  release(address: string): void {
    this.#taken.delete(numberOf(address));
  }
}

/** Returns the four bytes of an IPv4 address. */
export function bytesOfAddress(address: string): Uint8Array {
  return Uint8Array.from(address.split('.'), Number);
}

function numberOf(address: string): number {
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}

function textOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.');
}
