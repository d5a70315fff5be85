/**
 * The resolver of the system, with the type that its callback has: after an error, Node passes no addresses, although its own types
 * promise them. It also throws for some names (empty, with a NUL); here that is an error like any other.
 */
import { lookup, type LookupAddress } from 'node:dns';

/** Calls `done` once, later. */
export type HostLookup = (
  host: string,
  options: { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses?: readonly LookupAddress[]) => void,
) => void;

export const systemLookup: HostLookup = (host, options, done) => {
  try {
    lookup(host, options, done);
  } catch (error) {
    process.nextTick(done, error);
  }
};
