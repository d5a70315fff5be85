/**
 * What a program needs around it, checked once after its start as `frontdoor doctor` does. It delays and ends nothing: what
 * fails is logged with its remedy. Places on this machine are not checked. The checks are loaded when they run.
 */
import { isLoopbackHost, messageOf, type Log } from '#base';
import type { NeededPlaces } from './surrounding-checks.ts';

/** A name that stands for those of all shares of a zone. */
export function anyShareOf(zone: string): string {
  return `any-share.${zone}`;
}

/** The start comes first. */
const DELAY_MS = 1_000;
const LOCAL_NAME = /(?:^|\.)localhost$/;

/** `of` is called when the checks run. */
export function checkSurroundings(log: Log, of: () => Promise<NeededPlaces> | NeededPlaces): void {
  setTimeout(() => {
    check(log, of).catch((error: unknown) =>
      log.debug({ err: messageOf(error) }, 'the surroundings could not be checked'),
    );
  }, DELAY_MS).unref();
}

async function check(log: Log, of: () => Promise<NeededPlaces> | NeededPlaces): Promise<void> {
  const { names, servers, outward } = await of();
  const isElsewhere = (host: string): boolean => !isLoopbackHost(host) && !LOCAL_NAME.test(host);
  const remote = {
    names: names.filter(isElsewhere),
    servers: servers.filter(({ url }) => isElsewhere(URL.parse(url)?.hostname ?? 'localhost')),
    outward,
  };
  if (remote.names.length === 0 && remote.servers.length === 0) return;
  const { failedSurroundings } = await import('./surrounding-checks.ts');
  for (const { check: name, message, remedy } of await failedSurroundings(remote))
    log.warn({ check: name, remedy }, message);
}
