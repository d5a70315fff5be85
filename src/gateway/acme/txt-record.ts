/**
 * Waits until a TXT record is visible, so that the certificate authority does not ask too early: a failed validation
 * counts, and a resolver that has asked too early remembers that there was none. Therefore the name servers of the zone
 * are asked, or the servers that the operator names.
 */
import { Resolver } from 'node:dns/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { FrontdoorError } from '#base';

/** For all servers of a large provider to have a new record. */
const TIMEOUT_MS = 180_000;
const LOOK_MS = 2_000;
const QUERY_MS = 3_000;
const MAX_SERVERS = 8;
/** There is no such name, or it has no record of the type. */
const ABSENT: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

export interface TxtRecord {
  /** Without a dot at its end. */
  readonly name: string;
  readonly value: string;
}

export interface TxtWait {
  /** `address` or `address:port` of the servers to ask; without any, those of the zone. */
  readonly servers: readonly string[];
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  readonly lookMs?: number | undefined;
  readonly queryMs?: number | undefined;
}

/**
 * Resolves to true when every server that answers has the record, and to false when none answered in time. Rejects when
 * one answers and does not have it until then, and when the signal aborts.
 */
export async function awaitTxtRecord(record: TxtRecord, wait: TxtWait): Promise<boolean> {
  const { signal, timeoutMs = TIMEOUT_MS, lookMs = LOOK_MS } = wait;
  const startMs = performance.now();
  for (;;) {
    const { has, lacks } = await look(record, wait);
    if (has > 0 && lacks === 0) return true;
    if (performance.now() - startMs >= timeoutMs) {
      if (has + lacks === 0) return false;
      const message =
        `the TXT record ${record.name} is not visible after ${Math.round(timeoutMs / 1_000)} s at ` +
        `${lacks} of ${has + lacks} name servers: see whether it is created in the zone that these servers have`;
      throw new FrontdoorError('unavailable', 'dns-record-not-visible', message);
    }
    await pause(lookMs, undefined, { signal });
  }
}

interface Look {
  readonly has: number;
  readonly lacks: number;
}

async function look({ name, value }: TxtRecord, { servers: named, queryMs }: TxtWait): Promise<Look> {
  const servers = named.length > 0 ? named : await serversOf(name);
  const answers = await Promise.all(
    servers.slice(0, MAX_SERVERS).map(async (server) => {
      try {
        const records = await openDnsResolver([server], queryMs).resolveTxt(name);
        return records.some((pieces) => pieces.join('') === value);
      } catch (error) {
        return isAbsent(error) ? false : undefined;
      }
    }),
  );
  return {
    has: answers.filter((answer) => answer === true).length,
    lacks: answers.filter((answer) => answer === false).length,
  };
}

/** Addresses of the name servers of the zone that the name belongs to; none if they cannot be found. */
async function serversOf(name: string): Promise<string[]> {
  const labels = name.split('.');
  for (let from = 1; from < labels.length; from += 1) {
    try {
      const hosts = await openDnsResolver([]).resolveNs(labels.slice(from).join('.'));
      const found = await Promise.all(hosts.slice(0, MAX_SERVERS).map((host) => addressOf(host)));
      return found.flat();
    } catch (error) {
      // The zone begins further up.
      if (!isAbsent(error)) return [];
    }
  }
  return [];
}

async function addressOf(host: string): Promise<string[]> {
  try {
    return (await openDnsResolver([]).resolve4(host)).slice(0, 1);
  } catch {
    return [];
  }
}

/** Asks the system's servers if the list is empty. */
export function openDnsResolver(servers: readonly string[], timeout = QUERY_MS): Resolver {
  const made = new Resolver({ timeout, tries: 2 });
  if (servers.length > 0) made.setServers(servers);
  return made;
}

function isAbsent(error: unknown): boolean {
  return ABSENT.has((error as { readonly code?: unknown }).code);
}
