/**
 * What DNS says about a name now: its alias and its addresses, asked from the name servers of the system, without
 * /etc/hosts. For diagnosis only. Every question ends by itself, and few run at once.
 */
import { messageOf } from '#base';
import type { NameRecords, TxtAnswer } from '#domain';
import { isAbsent, openResolver, txtRecordsOf, type DnsServers } from './txt-records.ts';

const MAX_RUNNING = 32;
/** A check of a custom frontend takes four. */
const MAX_OF_GROUP = 8;

export class NameRecordLookups {
  readonly #options: DnsServers;
  #running = 0;
  readonly #ofGroup = new Map<string, number>();

  constructor(options: DnsServers = { servers: [] }) {
    this.#options = options;
  }

  /** Returns undefined while too many look-ups run, of the group or of all. Never rejects. */
  of(name: string, group: string): Promise<NameRecords | undefined> {
    return this.#counted(group, () => this.#recordsOf(name));
  }

  /** The same for the TXT records of a name. */
  txt(name: string, group: string): Promise<TxtAnswer | undefined> {
    return this.#counted(group, () => txtRecordsOf(name, this.#options));
  }

  async #counted<T>(group: string, look: () => Promise<T>): Promise<T | undefined> {
    const ofGroup = this.#ofGroup.get(group) ?? 0;
    if (this.#running >= MAX_RUNNING || ofGroup >= MAX_OF_GROUP) return undefined;
    this.#running += 1;
    this.#ofGroup.set(group, ofGroup + 1);
    try {
      return await look();
    } finally {
      this.#running -= 1;
      const left = this.#ofGroup.get(group)! - 1;
      if (left === 0) this.#ofGroup.delete(group);
      else this.#ofGroup.set(group, left);
    }
  }

  async #recordsOf(name: string): Promise<NameRecords> {
    const resolver = openResolver(this.#options);
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
  }
}
