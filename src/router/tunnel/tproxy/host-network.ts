/** What the machine's routing needs beside the rules: marked packets are delivered to this machine. */
import { networkInterfaces } from 'node:os';
import { FrontdoorError } from '#base';
import { runMachineProgram } from '../machine/machine-program.ts';
import { hasNetAdmin, NET_ADMIN_REMEDY } from '../machine/net-admin.ts';
import { MARK } from './packet-mark.ts';

/** Routing tables of routers begin here; the rest of the number is the router's. */
const NUMBER_BASE = 0xfd000000;
const ID_BITS = 0xffffff;

/** The number of a router's routing table. */
export function routingTableOf(id: string): number {
  return NUMBER_BASE + (Number.parseInt(id, 16) & ID_BITS);
}

/** @throws FrontdoorError `forbidden` with the missing capability and ways to grant it. */
export async function requireNetAdmin(): Promise<void> {
  if (await hasNetAdmin()) return;
  const message = `mode tproxy needs the capability CAP_NET_ADMIN, which this process does not have: ${NET_ADMIN_REMEDY}`;
  throw new FrontdoorError('forbidden', 'net-admin-missing', message);
}

/** @throws FrontdoorError `invalid` for a name that no network interface of the machine has. */
export function requireInterfaces(names: readonly string[], place: string): void {
  const known = Object.keys(networkInterfaces());
  const missing = names.find((name) => !known.includes(name));
  if (missing === undefined) return;
  const message = `${place}: invalid lanIf '${missing}': the network interfaces are ${known.join(', ')}`;
  throw new FrontdoorError('invalid', 'unknown-interface', message);
}

/** Marked packets of a family are delivered to this machine, whatever their destination. */
export class MarkRoutes {
  readonly #ip: string;
  readonly #table: string;
  readonly #families = new Set<4 | 6>();

  constructor(ipPath: string, table: number) {
    this.#ip = ipPath;
    this.#table = String(table);
  }

  async add(family: 4 | 6): Promise<void> {
    if (this.#families.has(family)) return;
    await this.#remove(family);
    const all = family === 4 ? '0.0.0.0/0' : '::/0';
    await this.#run(family, 'route', 'replace', 'local', all, 'dev', 'lo', 'table', this.#table);
    await this.#run(family, 'rule', 'add', 'fwmark', MARK, 'lookup', this.#table);
    this.#families.add(family);
  }

  /** Removes those of both families, also those of a predecessor. */
  async clear(): Promise<void> {
    for (const family of [4, 6] as const) await this.#remove(family);
    this.#families.clear();
  }

  async #remove(family: 4 | 6): Promise<void> {
    // A machine without IPv6 has no rules of it.
    const rules = await this.#run(family, 'rule', 'show').catch(() => '');
    // Rules of earlier builds have a mark without a mask. The table is the router's in both cases.
    for (const [, mark, table] of rules.matchAll(/fwmark (\S+) lookup (\d+)\s*$/gm))
      if (table === this.#table) await this.#run(family, 'rule', 'del', 'fwmark', mark!, 'lookup', table);
    // The program fails for a table that does not exist.
    await this.#run(family, 'route', 'flush', 'table', this.#table).catch(() => {});
  }

  #run(family: 4 | 6, ...args: string[]): Promise<string> {
    return runMachineProgram(this.#ip, [`-${family}`, ...args]);
  }
}
