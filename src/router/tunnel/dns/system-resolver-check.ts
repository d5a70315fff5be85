/**
 * Whether the programs of this machine ask this name server: a look-up of a random name, as any program makes it, has to
 * arrive here. Otherwise names of services are unknown on this machine, which is right only where all clients are others.
 */
import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import type { Log } from '#base';
import { encodeName, PROBE_DOMAIN } from './host-name-codec.ts';
import type { QueryResponder } from './query-responder.ts';

const RANDOM_NAME_BYTES = 8;

/** Programs ask name servers at this port only. */
export const SYSTEM_PORT = 53;

export interface SystemResolverCheck {
  readonly responder: QueryResponder;
  /** Place of the option, for messages: file, line and key. */
  readonly place: string;
  readonly log: Log;
  /** Looks a name up as programs of this machine do. */
  readonly lookup?: ((name: string) => Promise<unknown>) | undefined;
}

/** Logs a warning if the look-up does not arrive. */
export async function checkSystemResolver({
  responder,
  place,
  log,
  lookup: find = lookup,
}: SystemResolverCheck): Promise<void> {
  const name = `${randomBytes(RANDOM_NAME_BYTES).toString('hex')}.${PROBE_DOMAIN}`;
  let hasArrived = false;
  const unwatch = responder.watch(encodeName(name)!, () => {
    hasArrived = true;
  });
  // It has no address: only whether the query arrived counts.
  await find(name).catch(() => {});
  unwatch();
  if (hasArrived) return;
  const text = 'programs of this machine do not ask the name server, so they do not know names of services';
  log.warn({ option: place, remedy: 'name its address first in /etc/resolv.conf' }, text);
}
