/**
 * Makes the `allowedSourceAddresses` of hosted services addresses of this machine while the services are hosted, so that
 * connections to far ends can come from them, and answers come back. Addresses that the machine has are left alone.
 */
import { networkInterfaces } from 'node:os';
import { messageOf, type Log } from '#base';
import { isInNetwork, networkText, parseIpNetwork, type IpNetwork } from '#domain';
import { LoopbackAddresses } from '../machine/loopback-addresses.ts';
import { findProgram } from '../machine/machine-program.ts';
import type { MachineRecord } from '../machine/machine-record.ts';
import { hasNetAdmin, NET_ADMIN_REMEDY } from '../machine/net-admin.ts';

export interface SourceAddressesOptions {
  /** The owner of the addresses: eight hex digits. */
  readonly id: string;
  readonly record: MachineRecord;
  readonly log: Log;
}

const LOOPBACK = 'lo';

export class SourceAddresses {
  readonly #options: SourceAddressesOptions;
  #addresses: LoopbackAddresses | undefined;
  /** Returns the networks of the services that are hosted now. */
  #wanted: (() => Iterable<IpNetwork>) | undefined;
  #working: Promise<void> = Promise.resolve();
  /** Networks that are logged once, by their texts. */
  readonly #refused = new Set<string>();
  #isOver = false;

  constructor(options: SourceAddressesOptions) {
    this.#options = options;
  }

  /** Applies what `wanted` returns when the changes before are done. */
  update(wanted: () => Iterable<IpNetwork>): void {
    const isWaiting = this.#wanted !== undefined;
    this.#wanted = wanted;
    if (!isWaiting) this.#working = this.#working.then(() => this.#apply());
  }

  /** Resolves when the present changes are done. */
  settled(): Promise<void> {
    return this.#working;
  }

  /** Circuits remain, and need their addresses. */
  drain(): void {}

  /** Removes all addresses. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.#working;
    if (this.#addresses === undefined) return;
    const { id, record, log } = this.#options;
    try {
      await this.#addresses.clear();
      await record.delete(id);
    } catch (error) {
      log.error({ err: messageOf(error) }, 'source addresses remain on this machine');
    }
  }

  async #apply(): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (wanted === undefined || this.#isOver) return;
    const { log } = this.#options;
    const added = this.#addresses?.added ?? new Set<string>();
    const networks = new Map(Array.from(wanted(), (network) => [networkText(network), network]));
    const missing = [...networks].filter(
      ([text, network]) => !added.has(text) && this.#isMissing(text, network),
    );
    try {
      if (missing.length > 0) this.#addresses ??= await this.#open();
      for (const text of added) if (!networks.has(text)) await this.#addresses?.remove(text);
    } catch (error) {
      log.error({ err: messageOf(error) }, 'source addresses could not be changed on this machine');
    }
    for (const [text] of missing) {
      try {
        await this.#addresses?.add(text);
      } catch (error) {
        log.error(
          { network: text, err: messageOf(error) },
          'a source address could not be added to this machine',
        );
      }
    }
  }

  /** Whether the network has to be added and may be. */
  #isMissing(text: string, network: IpNetwork): boolean {
    const isAddress = network.prefixBits === network.network.length * 8;
    for (const [name, addresses = []] of Object.entries(networkInterfaces())) {
      for (const { address, cidr } of addresses) {
        const own = parseIpNetwork(name === LOOPBACK && cidr !== null ? cidr : address);
        const added = this.#addresses?.added.has(own === undefined ? '' : networkText(own)) === true;
        if (own !== undefined && !added && contains(own, network)) return false;
        const connected = parseIpNetwork(cidr ?? address);
        if (isAddress || name === LOOPBACK || connected === undefined) continue;
        if (contains(network, connected) || contains(connected, network))
          return this.#refuse(text, `it would cut the machine off from the network of ${name}`);
      }
    }
    if (!isAddress && network.network.length === 16)
      return this.#refuse(text, 'of IPv6, only single addresses can be added');
    return true;
  }

  #refuse(text: string, why: string): false {
    if (this.#refused.has(text)) return false;
    this.#refused.add(text);
    this.#options.log.error({ network: text, why }, 'a source address is not added to this machine');
    return false;
  }

  async #open(): Promise<LoopbackAddresses | undefined> {
    const { id, record } = this.#options;
    if (!(await hasNetAdmin())) {
      this.#refuse(
        '',
        `that needs the capability CAP_NET_ADMIN, which this process does not have: ${NET_ADMIN_REMEDY}`,
      );
      return undefined;
    }
    const ip = await findProgram('ip');
    if (ip === undefined) {
      this.#refuse('', 'that needs the program ip, which this machine does not have: install iproute2');
      return undefined;
    }
    await record.add(id);
    const addresses = new LoopbackAddresses(ip, id);
    await addresses.clear();
    return addresses;
  }
}

function contains(outer: IpNetwork, inner: IpNetwork): boolean {
  return outer.prefixBits <= inner.prefixBits && isInNetwork(outer, inner.network);
}
