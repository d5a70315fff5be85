/**
 * The memory of request heads: of those that are unfinished, and of large ones whose requests are being served. All connections
 * share it, so that what clients hold before they have an identity does not grow with their number. When it is used up, the
 * head that has been unfinished for the longest makes room, because an honest one is complete after a moment.
 */
import { newNumber, ShortLivedSet, type Numbered } from '#base';
import type { GatewayLimits } from './gateway-limits.ts';

/** While its request is served, a head is kept as text, as it is sent to the service, and its cookies once more. */
const COPIES = 3;
/** The part of the budget that large heads of running requests may use, so that unfinished ones always find room. */
const SERVED_PART = 2;
/** The part of that for one client. */
const CLIENT_PART = 4;

/** What the heads of one connection use of the budget. */
export class HeadAllowance implements Numbered {
  readonly number = newNumber();
  /** Identifies the client, whose connections share a part of the budget. */
  readonly party: () => string;
  readonly evict: () => void;
  /** Bytes of an unfinished head. */
  heldBytes = 0;
  /** Bytes of a large head whose request is being served. */
  servedBytes = 0;
  servedParty = '';

  /** `evict` is called when the unfinished head has to make room. */
  constructor(party: () => string, evict: () => void) {
    this.party = party;
    this.evict = evict;
  }
}

export class HeadBudget {
  readonly #maxBytes: number;
  readonly #smallHeadBytes: number;
  readonly #unfinished = new ShortLivedSet<HeadAllowance>();
  readonly #servedByParty = new Map<string, number>();
  #heldBytes = 0;
  #servedBytes = 0;

  constructor({ maxHeadsBytes, smallHeadBytes }: Pick<GatewayLimits, 'maxHeadsBytes' | 'smallHeadBytes'>) {
    this.#maxBytes = maxHeadsBytes;
    this.#smallHeadBytes = smallHeadBytes;
  }

  get bytes(): number {
    return this.#heldBytes + this.#servedBytes;
  }

  /** The connection now holds so many bytes of an unfinished head. Returns false if this head has to make room itself. */
  hold(allowance: HeadAllowance, bytes: number): boolean {
    if (allowance.heldBytes === 0) this.#unfinished.add(allowance);
    this.#heldBytes += bytes - allowance.heldBytes;
    allowance.heldBytes = bytes;
    return this.#makeRoom(allowance);
  }

  /** The head is complete, refused or dropped. */
  finish(allowance: HeadAllowance): void {
    if (allowance.heldBytes === 0) return;
    this.#unfinished.delete(allowance);
    this.#heldBytes -= allowance.heldBytes;
    allowance.heldBytes = 0;
  }

  /** A request with a complete head of that size is about to be served. Returns false if there is no room for it. */
  serve(allowance: HeadAllowance, headBytes: number): boolean {
    if (headBytes <= this.#smallHeadBytes) return true;
    const bytes = (headBytes - this.#smallHeadBytes) * COPIES;
    const party = allowance.party();
    const ofParty = (this.#servedByParty.get(party) ?? 0) + bytes;
    const most = this.#maxBytes / SERVED_PART;
    if (this.#servedBytes + bytes > most || ofParty > most / CLIENT_PART) return false;
    allowance.servedBytes = bytes;
    allowance.servedParty = party;
    this.#servedBytes += bytes;
    this.#servedByParty.set(party, ofParty);
    return this.#makeRoom(allowance);
  }

  /** The request is over. */
  served(allowance: HeadAllowance): void {
    const { servedBytes, servedParty } = allowance;
    if (servedBytes === 0) return;
    allowance.servedBytes = 0;
    this.#servedBytes -= servedBytes;
    const left = this.#servedByParty.get(servedParty)! - servedBytes;
    if (left > 0) this.#servedByParty.set(servedParty, left);
    else this.#servedByParty.delete(servedParty);
  }

  #makeRoom(forWhom: HeadAllowance): boolean {
    for (const oldest of this.#unfinished) {
      if (this.bytes <= this.#maxBytes) break;
      this.finish(oldest);
      if (oldest === forWhom) return false;
      oldest.evict();
    }
    return true;
  }
}
