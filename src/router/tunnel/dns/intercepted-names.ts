/**
 * The names of services, and their addresses: patterns (host names and `*.domain`) that services add, and the names below
 * them that were asked for. A name keeps its address while the router runs and after restarts. Only when the range is
 * used up, the address of a name goes to another one: of a name that no client has asked for lately, and without a flow.
 */
import { FrontdoorError, messageOf, type Clock, type Log } from '#base';
import type { NamedAddress } from '#domain/agent-shapes';
import { AddressPool, bytesOfAddress, type AddressRange } from './address-pool.ts';
import { decodeName, encodeName, formatNamePattern, parentOf, parseNamePattern } from './host-name-codec.ts';
import { NameFile } from './name-file.ts';

/** After this time without a query, no client still has the address of a name in its cache. */
const KEPT_MS = 5 * 60_000;
/** Maximum names that one search for unused addresses finds. */
const MAX_FOUND_UNUSED = 1_024;
/** After a search that found nothing, the next one waits. */
const SEARCH_PAUSE_MS = 5_000;

export interface NameListener {
  /** A name can be answered now. Its first answer waits for the promise; after a rejection, there is none. */
  given(name: string, address: string): void | Promise<void>;
  /** No pattern covers the name now, or its address is about to go to another one. */
  released(name: string, address: string): void;
}

export interface InterceptedNamesOptions {
  /** CIDR of the addresses. */
  readonly range: string;
  /** Place of the range, for messages: file, line and key. */
  readonly place: string;
  readonly file: string;
  /** False where only host names can be answered. */
  readonly areWildcardsAllowed: boolean;
  /** Returns whether a flow to an address is open. */
  isInUse(address: string): boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export interface NameRecord extends NamedAddress {
  readonly wire: string;
  readonly addressBytes: Uint8Array;
  /** Whether a pattern covers the name. Without, the record reserves the address. */
  isLive: boolean;
  /** Pending until listeners and the file have the name. */
  ready: Promise<void> | undefined;
  /** Time of the last query that was answered, in Unix milliseconds. */
  lastAskedMs: number;
}

interface Pattern {
  readonly text: string;
  readonly owners: Set<string>;
}

export class InterceptedNames {
  readonly #options: InterceptedNamesOptions;
  readonly #pool: AddressPool;
  /** By wire name. */
  readonly #records = new Map<string, NameRecord>();
  readonly #byAddress = new Map<string, NameRecord>();
  /** Patterns by wire name: host names, and the domains of wildcards. */
  readonly #hostNames = new Map<string, Pattern>();
  readonly #domains = new Map<string, Pattern>();
  readonly #listeners = new Set<NameListener>();
  /** Names whose addresses may be recycled, the one with the oldest query last. */
  #unused: NameRecord[] = [];
  #nextSearchMs = 0;
  #file!: NameFile;

  private constructor(options: InterceptedNamesOptions) {
    this.#options = options;
    this.#pool = new AddressPool(options.range, options.place);
  }

  /** Rejects if the range has no address, or the file cannot be used. */
  static async open(options: InterceptedNamesOptions): Promise<InterceptedNames> {
    const names = new InterceptedNames(options);
    const { file: path, log } = options;
    // The last of several lines with the same name or address counts.
    for (const entry of (await NameFile.load(path, log)).toReversed()) names.#restore(entry);
    names.#file = await NameFile.open({ path, entries: names.#records, log });
    return names;
  }

  get range(): AddressRange {
    return this.#pool.range;
  }

  /**
   * Adds a host name or `*.domain` for an owner. Returns the address of a host name, and undefined for `*.domain`. Throws
   * if the text is neither, or no address is left.
   */
  add(text: string, owner: string): string | undefined {
    const pattern = parseNamePattern(text);
    if (pattern === undefined)
      throw new FrontdoorError('invalid', 'bad-host-name', `${text} is neither a host name nor *.domain`);
    if (pattern.isWildcard && !this.#options.areWildcardsAllowed)
      throw new FrontdoorError('invalid', 'bad-host-name', `${text}: a hosts file cannot contain wildcards`);
    const wire = encodeName(pattern.name)!;
    const record = pattern.isWildcard ? undefined : this.#assign(wire, pattern.name);
    const patterns = pattern.isWildcard ? this.#domains : this.#hostNames;
    const known = patterns.get(wire);
    if (known === undefined)
      patterns.set(wire, { text: formatNamePattern(pattern), owners: new Set([owner]) });
    else known.owners.add(owner);
    return record?.address;
  }

  /** Takes back what `add` did. The address remains reserved for the name. */
  remove(text: string, owner: string): void {
    const pattern = parseNamePattern(text);
    if (pattern === undefined) return;
    const wire = encodeName(pattern.name)!;
    const patterns = pattern.isWildcard ? this.#domains : this.#hostNames;
    const known = patterns.get(wire);
    if (known?.owners.delete(owner) !== true || known.owners.size > 0) return;
    patterns.delete(wire);
    const record = this.#records.get(wire);
    if (pattern.isWildcard) for (const below of this.#liveBelow(wire)) this.#releaseIfUncovered(below);
    else if (record !== undefined) this.#releaseIfUncovered(record);
  }

  /** Returns the name that has an address now, in lower case and without a dot at the end. */
  nameOf(address: string): string | undefined {
    const record = this.#byAddress.get(address);
    return record?.isLive === true ? record.name : undefined;
  }

  /** Returns the patterns that cover a name: the name itself, then `*.domain`, the longest domain first. */
  patternsOf(name: string): readonly string[] {
    const wire = encodeName(name) ?? '';
    const found = [this.#hostNames.get(wire)];
    for (let at = wire; at !== '';) found.push(this.#domains.get((at = parentOf(at))));
    return found.flatMap((pattern) => pattern?.text ?? []);
  }

  /** Returns the names below `*.domain` that can be answered now. */
  liveNames(text: string): readonly NamedAddress[] {
    const pattern = parseNamePattern(text);
    return pattern?.isWildcard === true ? this.#liveBelow(encodeName(pattern.name)!) : [];
  }

  /** Notifies a listener of names from now on, until the returned function is called. */
  follow(listener: NameListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Returns the record of a wire name that can be answered. */
  find(wire: string): NameRecord | undefined {
    const record = this.#records.get(wire);
    return record?.isLive === true ? record : undefined;
  }

  /** Whether a pattern covers a wire name. */
  isCovered(wire: string): boolean {
    if (this.#hostNames.has(wire)) return true;
    if (this.#domains.size === 0) return false;
    for (let at = wire; at !== '';) {
      at = parentOf(at);
      if (this.#domains.has(at)) return true;
    }
    return false;
  }

  /**
   * Gives an address to a wire name that a pattern covers. Returns undefined if it is no host name. Throws if no address
   * is left.
   */
  assign(wire: string): NameRecord | undefined {
    const name = decodeName(wire);
    return name === undefined ? undefined : this.#assign(wire, name);
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    await this.#file.close();
  }

  #restore({ name, address }: NamedAddress): void {
    const wire = encodeName(name);
    if (wire === undefined || this.#records.has(wire) || !this.#pool.takeThis(address)) return;
    this.#keep(wire, name, address);
  }

  #assign(wire: string, name: string): NameRecord {
    const known = this.#records.get(wire);
    if (known?.isLive === true) return known;
    const record = known ?? this.#keep(wire, name, this.#takeAddress(name));
    record.isLive = true;
    record.lastAskedMs = this.#options.clock.nowMs();
    const pending = [...this.#listeners].map((listener) => listener.given(name, record.address));
    if (known === undefined) pending.push(this.#file.append(record));
    const waits = pending.filter((wait) => wait !== undefined);
    if (waits.length > 0) this.#awaitReady(record, waits);
    else record.ready = undefined;
    return record;
  }

  #awaitReady(record: NameRecord, waits: readonly Promise<void>[]): void {
    const ready = Promise.all(waits).then(
      () => {
        if (record.ready === ready) record.ready = undefined;
      },
      (error: unknown) => {
        if (record.ready !== ready) return;
        record.ready = undefined;
        const { name, address } = record;
        this.#options.log.error({ name, address, err: messageOf(error) }, 'a name cannot be intercepted');
        // The next query tries again.
        this.#release(record);
      },
    );
    record.ready = ready;
  }

  #keep(wire: string, name: string, address: string): NameRecord {
    const lastAskedMs = this.#options.clock.nowMs();
    const addressBytes = bytesOfAddress(address);
    const state = { isLive: false, ready: undefined, lastAskedMs };
    const record: NameRecord = { name, address, wire, addressBytes, ...state };
    this.#records.set(wire, record);
    this.#byAddress.set(address, record);
    return record;
  }

  #takeAddress(name: string): string {
    const address = this.#pool.take();
    if (address !== undefined) return address;
    const unused = this.#releaseUnused();
    if (unused === undefined) {
      const { range, place } = this.#options;
      const text = `${place}: no address of ${range} is left for ${name}: ${this.#pool.capacity} are in use`;
      throw new FrontdoorError('unavailable', 'dns-range-exhausted', text);
    }
    this.#records.delete(unused.wire);
    this.#byAddress.delete(unused.address);
    this.#pool.release(unused.address);
    return this.#pool.take()!;
  }

  /** Returns a name that was not asked for lately, and that is not answered from now on. */
  #releaseUnused(): NameRecord | undefined {
    const record = this.#takeUnused();
    if (record !== undefined) this.#release(record);
    return record;
  }

  #takeUnused(): NameRecord | undefined {
    const nowMs = this.#options.clock.nowMs();
    if (this.#unused.length === 0 && nowMs >= this.#nextSearchMs) {
      const found = [...this.#records.values()].filter((record) => this.#isUnused(record, nowMs));
      found.sort((a, b) => Number(b.isLive) - Number(a.isLive) || b.lastAskedMs - a.lastAskedMs);
      this.#unused = found.slice(-MAX_FOUND_UNUSED);
      if (found.length === 0) this.#nextSearchMs = nowMs + SEARCH_PAUSE_MS;
    }
    for (;;) {
      const record = this.#unused.pop();
      if (record === undefined || this.#isUnused(record, nowMs)) return record;
    }
  }

  #isUnused(record: NameRecord, nowMs: number): boolean {
    const { wire, address } = record;
    if (this.#records.get(wire) !== record || nowMs - record.lastAskedMs < KEPT_MS) return false;
    return !this.#hostNames.has(wire) && !this.#options.isInUse(address);
  }

  #liveBelow(domain: string): NameRecord[] {
    return [...this.#records.values()].filter(
      ({ wire, isLive }) => isLive && wire.length > domain.length && isBelow(wire, domain),
    );
  }

  #releaseIfUncovered(record: NameRecord): void {
    if (!this.isCovered(record.wire)) this.#release(record);
  }

  #release(record: NameRecord): void {
    if (!record.isLive) return;
    record.isLive = false;
    record.ready = undefined;
    for (const listener of this.#listeners) listener.released(record.name, record.address);
  }
}

function isBelow(wire: string, domain: string): boolean {
  for (let at = wire; at.length > domain.length;) if ((at = parentOf(at)) === domain) return true;
  return false;
}
