/**
 * What DNS says about a name now: its alias and its addresses, asked from the name servers of the system, without
 * /etc/hosts. For diagnosis only. Every question ends by itself, and few run at once.
 */
import { Resolver } from 'node:dns/promises';
import { messageOf } from '#base';

export interface NameRecords {
  /** The target of its CNAME record; undefined if it has none. */
  readonly alias: string | undefined;
  /** The addresses of the name, behind its alias if it has one. */
  readonly addresses: readonly string[];
  /** Why its records are not known, in words; undefined if the name servers responded. */
  readonly problem: string | undefined;
}

const TIMEOUT_MS = 2_000;
const TRIES = 2;
const MAX_RUNNING = 16;
/** There is no such name, or it has no record of the type. */
const ABSENT: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

export class NameRecordLookups {
  #running = 0;

  /** Returns undefined while too many look-ups run. Never rejects. */
  async of(name: string): Promise<NameRecords | undefined> {
    if (this.#running >= MAX_RUNNING) return undefined;
    this.#running += 1;
    try {
      const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
      const asked = await Promise.allSettled([
        resolver.resolveCname(name),
        resolver.resolve4(name),
        resolver.resolve6(name),
      ]);
      const [aliases = [], ...addresses] = asked.map((one) => (one.status === 'fulfilled' ? one.value : []));
      const problem = asked.find((one) => one.status === 'rejected' && !isAbsent(one.reason));
      return {
        alias: aliases[0],
        addresses: addresses.flat(),
        problem: problem?.status === 'rejected' ? messageOf(problem.reason) : undefined,
      };
    } finally {
      this.#running -= 1;
    }
  }
}

function isAbsent(reason: unknown): boolean {
  return ABSENT.has((reason as { readonly code?: unknown }).code);
}
