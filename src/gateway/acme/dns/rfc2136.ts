/**
 * Records by DNS UPDATE (RFC 2136), as BIND, Knot, PowerDNS and others take it, signed with a shared key (TSIG). A value is
 * added to and removed from the set of its name, so that others stay. Messages travel over TCP.
 */
import { randomInt } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { formatHostPort, messageOf, systemClock, type HostPort } from '#base';
import { exchangeDns, isAbsent } from '#net/names';
import { openDnsResolver } from '../txt-record.ts';
import { dnsServerOf } from './dns-server.ts';
import { providerFailure, type ChallengeRecord, type DnsProvider } from './dns-provider.ts';
import type { ProviderContext } from './provider-context.ts';
import {
  decodeUpdateResponse,
  encodeTxtUpdate,
  type UpdateKey,
  type UpdateResponse,
} from './dns-update-codec.ts';
import { zonesAbove } from './provider-client.ts';
import { delegationsOf } from './provider-settings.ts';
import { tsigKeyOf } from './tsig-key.ts';

const TTL_S = 60;
const EXCHANGE_MS = 15_000;
const MAX_TRIES = 3;
const FIRST_PAUSE_MS = 1_000;
const SERVFAIL = 2;
const RCODES: Readonly<Record<number, string>> = {
  1: 'FORMERR',
  2: 'SERVFAIL',
  4: 'NOTIMP',
  5: 'REFUSED',
  9: 'NOTAUTH',
  10: 'NOTZONE',
};
const TSIG_ERRORS: Readonly<Record<number, string>> = { 16: 'BADSIG', 17: 'BADKEY', 18: 'BADTIME' };

export class Rfc2136 implements DnsProvider {
  readonly delegations: readonly string[];
  readonly #context: ProviderContext;
  readonly #server: HostPort;
  readonly #key: UpdateKey;

  constructor(context: ProviderContext) {
    this.#context = context;
    this.delegations = delegationsOf(context.settings);
    this.#server = dnsServerOf(context.settings['server']!)!;
    this.#key = tsigKeyOf(context.secret!);
  }

  add(record: ChallengeRecord, signal: AbortSignal): Promise<void> {
    return this.#update(record, TTL_S, signal);
  }

  remove(record: ChallengeRecord, signal: AbortSignal): Promise<void> {
    return this.#update(record, undefined, signal);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #update(
    { target, value }: ChallengeRecord,
    ttl: number | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const zone = this.#context.settings['zone'] ?? (await this.#zoneOf(target));
    const action = ttl === undefined ? `remove a TXT record of ${target}` : `add a TXT record at ${target}`;
    for (let tries = 1; ; tries += 1) {
      const { response, error } = await this.#exchange({ zone, name: target, value, ttl }, signal);
      if (response?.rcode === 0 && response.isSigned) return;
      const reason = response === undefined ? messageOf(error) : this.#reasonOf(response, zone);
      const isLater = response === undefined || response.rcode === SERVFAIL;
      if (!isLater || tries === MAX_TRIES)
        throw providerFailure(`${this.#title} did not ${action}: ${reason}`, error);
      await this.#context.pause(FIRST_PAUSE_MS * 2 ** (tries - 1), signal);
    }
  }

  async #exchange(
    update: {
      readonly zone: string;
      readonly name: string;
      readonly value: string;
      readonly ttl: number | undefined;
    },
    signal: AbortSignal,
  ): Promise<{ readonly response?: UpdateResponse; readonly error?: unknown }> {
    const id = randomInt(65_536);
    const nowS = Math.floor(systemClock.nowMs() / 1_000);
    const { message, mac } = encodeTxtUpdate({ ...update, id, nowS }, this.#key);
    try {
      const bytes = await exchangeDns(message, this.#server, { timeoutMs: EXCHANGE_MS, signal });
      const response = decodeUpdateResponse(bytes, id, { key: this.#key, mac, nowS });
      return response === undefined
        ? { error: new Error('its answer is no response to an update') }
        : { response };
    } catch (error) {
      signal.throwIfAborted();
      return { error };
    }
  }

  /** The zone that the server has of a name, which is where it answers with the start of authority (SOA). */
  async #zoneOf(name: string): Promise<string> {
    const { host, port } = this.#server;
    try {
      const { address } = isIP(host) === 0 ? await lookup(host) : { address: host };
      const resolver = openDnsResolver([formatHostPort(address, port)]);
      for (const zone of zonesAbove(name)) {
        const found = await resolver.resolveSoa(zone).catch((error: unknown) => {
          if (isAbsent(error)) return undefined;
          throw error;
        });
        if (found !== undefined) return zone;
      }
    } catch (error) {
      throw providerFailure(
        `${this.#title} does not answer which zone contains ${name}: ${messageOf(error)}; it must be an authoritative ` +
          'server of the zone that answers this machine, or give --acme-dns-setting zone=ZONE',
        error,
      );
    }
    throw providerFailure(
      `${this.#title} has no zone that contains ${name}: it must be the primary server of the zone`,
    );
  }

  #reasonOf({ rcode, tsigError, serverS, isSigned }: UpdateResponse, zone: string): string {
    const { secret, rights } = this.#context;
    const source = secret!.source;
    const status = [RCODES[rcode] ?? `status ${rcode}`, TSIG_ERRORS[tsigError]].filter(Boolean).join(', ');
    if (serverS !== undefined)
      return `its clock shows ${new Date(serverS * 1_000).toISOString()} (${status}): set the clock of this machine`;
    if (tsigError !== 0)
      return `it does not accept the key "${this.#key.name}" of ${source} (${status}): name, algorithm and secret must be those of the server`;
    if (rcode === 5)
      return `it refuses the update (${status}): the key "${this.#key.name}" of ${source} needs ${rights} in the zone ${zone}`;
    if (rcode === 9 || rcode === 10)
      return `it is no primary server of the zone ${zone} (${status}): give its primary server, or the zone by zone=ZONE`;
    if (rcode === 0 && !isSigned) return 'its response is not signed with the key';
    return status;
  }

  get #title(): string {
    return `The DNS server ${formatHostPort(this.#server.host, this.#server.port)}`;
  }
}
