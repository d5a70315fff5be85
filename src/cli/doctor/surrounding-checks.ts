/** The checks of a program's surroundings, which end within two seconds. */
import type { OutwardDialer } from '#net';
import { runChecks, type Check, type Finding } from './finding.ts';
import { nameVerdict, networkChecks } from './network-checks.ts';
import { placeOf, type NetworkTarget } from './network-targets.ts';
import { serverClockVerdict } from './server-clock.ts';

export interface NeededPlaces {
  /** Names at which others reach the program. */
  readonly names: readonly string[];
  /** Servers that it connects to. */
  readonly servers: readonly NeededServer[];
  readonly outward: OutwardDialer;
}

export interface NeededServer {
  readonly name: string;
  /** `https:`, or `tcp:` for a port without HTTP. */
  readonly url: string;
  /** Trust anchors (PEM) to use instead of the system's. */
  readonly ca?: string | undefined;
  /** Whether its certificate is from the product's own authority. */
  readonly hasOwnAuthority: boolean;
  /** The option that sets the address. */
  readonly option: string;
}

const DEADLINE_MS = 2_000;
const PROBE_MS = 1_500;

/** Returns what failed; of a server only the first step of the way to it. */
export async function failedSurroundings({ names, servers, outward }: NeededPlaces): Promise<Finding[]> {
  const ofNames = runChecks(
    names.map((name) => ({ name: `name ${name}`, run: () => nameVerdict(name, PROBE_MS) })),
    DEADLINE_MS,
  );
  const ofServers = servers.map(async ({ url, ...about }) => {
    const parsed = new URL(url);
    const target: NetworkTarget = { ...about, ...placeOf(parsed), isGuess: false };
    const clock: Check = { name: 'clock', run: () => serverClockVerdict(parsed, outward, PROBE_MS) };
    const checks = [
      ...networkChecks([target], outward, Date.now, PROBE_MS),
      ...(target.isTls ? [clock] : []),
    ];
    const failed = (await runChecks(checks, DEADLINE_MS)).filter(({ state }) => state === 'failure');
    return failed.slice(0, 1);
  });
  const found = await Promise.all([ofNames, ...ofServers]);
  return found.flat().filter(({ state }) => state === 'failure');
}
