/**
 * Resolves names of servers and hosted services with the resolver of the system, whose look-ups cannot be aborted, and of which a few
 * run at a time for the whole process. A name has at most one look-up at a time. Pending names and the requests that wait
 * for one of them are bounded, because look-ups of names that no server answers would pile up.
 */
import type { LookupFunction } from 'node:net';
import { FrontdoorError } from '#base';
import { inOwnScope } from '../containment.ts';
import { systemLookup, type HostLookup } from './host-lookup.ts';

type Waiting = Parameters<HostLookup>[2];

const MAX_NAMES = 256;
const MAX_WAITING = 1_024;
/** The forms in which Node names a family; 0 is any. */
const FAMILIES: Readonly<Record<number | string, 4 | 6>> = { 4: 4, 6: 6, IPv4: 4, IPv6: 6 };

export class NameLookups {
  readonly #system: HostLookup;
  readonly #waiting = new Map<string, Waiting[]>();

  /** `system` replaces the resolver of the system. */
  constructor(system: HostLookup = systemLookup) {
    this.#system = system;
  }

  /** Passes all addresses of the name, or an error: `limited` if too many look-ups are pending. */
  readonly lookup: HostLookup = (host, options, done) => {
    const others = this.#waiting.get(host);
    const isFull = others === undefined ? this.#waiting.size >= MAX_NAMES : others.length >= MAX_WAITING;
    if (isFull) {
      const error = new FrontdoorError('limited', 'too-many-lookups', 'too many names are being resolved');
      process.nextTick(done, error);
      return;
    }
    if (others !== undefined) {
      others.push(inOwnScope(done));
      return;
    }
    const waiting = [inOwnScope(done)];
    this.#waiting.set(host, waiting);
    this.#system(host, options, (error, addresses) => {
      this.#waiting.delete(host);
      for (const one of waiting) one(error, addresses);
    });
  };

  /** Does the same in the form of the option `lookup` of sockets. */
  readonly forSockets: LookupFunction = (host, { all, family }, done) => {
    this.lookup(host, { all: true }, (error, found = []) => {
      const version = FAMILIES[family ?? 0];
      const addresses = found.filter((one) => version === undefined || one.family === version);
      const [first] = addresses;
      if (error !== null) done(error, []);
      else if (first === undefined) done(noAddress(host), []);
      else if (all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

function noAddress(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${host} has no address of the family`), { code: 'ENOTFOUND' });
}
