/**
 * Addresses of a router on the loopback interface. An IPv4 address is added with its whole network, so that all addresses
 * of the network are this machine's. The label of IPv4 addresses and the metric of IPv6 addresses name their owner.
 */
import { runMachineProgram } from './machine-program.ts';

/** Interface labels have at most 15 characters. */
const LABEL_PREFIX = 'lo:fd';
/** Metrics of routers begin here; the rest of the number is the router's. */
const METRIC_BASE = 0xfd000000;
const ID_BITS = 0xffffff;

type Family = '-4' | '-6';

export class LoopbackAddresses {
  readonly #ip: string;
  readonly #label: string;
  readonly #metric: string;
  readonly #added = new Set<string>();

  /** `id` has eight hex digits. */
  constructor(ipPath: string, id: string) {
    this.#ip = ipPath;
    this.#label = `${LABEL_PREFIX}${id}`;
    this.#metric = String(METRIC_BASE + (Number.parseInt(id, 16) & ID_BITS));
  }

  /** Networks that were added and not removed. */
  get added(): ReadonlySet<string> {
    return this.#added;
  }

  /** Adds an address in CIDR notation. Does nothing if the machine has it already. */
  async add(network: string): Promise<void> {
    if (this.#added.has(network)) return;
    const family = familyOf(network);
    const shown = await this.#run(family, 'addr', 'show', 'dev', 'lo');
    if (shown.includes(` ${network} `)) return;
    const owner =
      family === '-4' ? ['scope', 'host', 'label', this.#label] : ['metric', this.#metric, 'nodad'];
    await this.#run(family, 'addr', 'add', network, 'dev', 'lo', ...owner);
    this.#added.add(network);
  }

  async remove(network: string): Promise<void> {
    if (!this.#added.delete(network)) return;
    await this.#run(familyOf(network), 'addr', 'del', network, 'dev', 'lo');
  }

  /** Removes all that have this owner, also those of a predecessor. */
  async clear(): Promise<void> {
    const labelled = await this.#run('-4', 'addr', 'show', 'dev', 'lo', 'label', this.#label);
    for (const [, network] of labelled.matchAll(/^\s*inet (\S+) /gm))
      await this.#run('-4', 'addr', 'del', network!, 'dev', 'lo');
    // A machine without IPv6 has no addresses of it.
    const shown = await this.#run('-6', 'addr', 'show', 'dev', 'lo').catch(() => '');
    for (const [, network, metric] of shown.matchAll(/^\s*inet6 (\S+) metric (\d+) /gm))
      if (metric === this.#metric) await this.#run('-6', 'addr', 'del', network!, 'dev', 'lo');
    this.#added.clear();
  }

  #run(family: Family, ...args: string[]): Promise<string> {
    return runMachineProgram(this.#ip, [family, ...args]);
  }
}

function familyOf(network: string): Family {
  return network.includes(':') ? '-6' : '-4';
}
