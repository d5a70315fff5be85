/**
 * What DNS says about the TXT records of a name now, asked from the name servers of the system or from given ones. The
 * answer distinguishes a name without records from name servers that fail. Every question ends by itself.
 */
import { Resolver } from 'node:dns/promises';
import { messageOf } from '#base';
import type { TxtAnswer } from '#domain';

const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** There is no such name, or it has no record of the type. */
const ABSENT: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

export interface DnsServers {
  /** `address` or `address:port`; empty: those of the system. */
  readonly servers: readonly string[];
}

/** Never rejects. The signal ends the question. */
export async function txtRecordsOf(
  name: string,
  { signal, ...options }: DnsServers & { readonly signal?: AbortSignal | undefined },
): Promise<TxtAnswer> {
  const resolver = openResolver(options);
  const cancel = (): void => resolver.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const records = await resolver.resolveTxt(name);
    return { values: records.map((pieces) => pieces.join('')), problem: undefined };
  } catch (error) {
    return { values: [], problem: isAbsent(error) ? undefined : messageOf(error) };
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** Whether each is an address, with or without a port. */
export function areDnsServers(servers: readonly string[]): boolean {
  try {
    openResolver({ servers });
    return true;
  } catch {
    return false;
  }
}

/** Throws for a server that is no address. */
export function openResolver({ servers }: DnsServers): Resolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  return resolver;
}

export function isAbsent(error: unknown): boolean {
  return ABSENT.has((error as { readonly code?: unknown }).code);
}
