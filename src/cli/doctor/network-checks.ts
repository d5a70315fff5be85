/** The way to each server: its name, its port, its certificate. */
import { formatHostPort, isLoopbackHost, messageOf } from '#base';
import { probeAddresses, probePort, probeTls, type TlsProbe } from '#net';
import { failure, ok, PROBE_MS, skipped, warning, type Check, type CheckResult } from './finding.ts';
import type { NetworkTarget } from './network-targets.ts';
import { portHolder } from './port-holder.ts';

const DAY_MS = 86_400_000;
/** One that others renew should be renewed by then, and is late after that. */
const EXPIRES_SOON_MS = 30 * DAY_MS;
const EXPIRES_NOW_MS = 14 * DAY_MS;
/** The chain ends at an anchor that is not known here. */
const UNKNOWN_AUTHORITY = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

export function networkChecks(targets: readonly NetworkTarget[], nowMs: () => number = Date.now): Check[] {
  const hosts = [...new Set(targets.map(({ host }) => host))];
  return [
    ...hosts.map((host) => ({ name: `name ${host}`, run: () => nameVerdict(host) })),
    ...targets.map((target) => ({ name: `port of ${target.name}`, run: () => portVerdict(target) })),
    ...targets
      .filter(({ isTls }) => isTls)
      .map((target) => ({ name: `TLS of ${target.name}`, run: () => tlsVerdict(target, nowMs()) })),
  ];
}

export async function nameVerdict(host: string): Promise<CheckResult> {
  try {
    const addresses = await probeAddresses(host, PROBE_MS);
    return ok(addresses[0] === host ? 'an address' : addresses.join(', '));
  } catch (error) {
    if (host.endsWith('.localhost')) {
      return warning(
        `this system does not know ${host}; browsers and newer versions of curl do`,
        `add a line for each name that you use to /etc/hosts, such as "127.0.0.1 ${host.replace(/^doctor\./, 'app.')}", or send the name as Host to 127.0.0.1`,
      );
    }
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'ENOTFOUND' ? 'there is no such name' : (code ?? messageOf(error));
    return failure(
      `${host} cannot be resolved: ${why}`,
      'check the spelling, and the DNS record or resolver',
    );
  }
}

async function portVerdict({ host, port, isGuess, option, name }: NetworkTarget): Promise<CheckResult> {
  const isLocal = isLoopbackHost(host);
  const place = formatHostPort(host, port);
  const probe = await probePort(host, port, PROBE_MS);
  if (probe.state === 'open') {
    const holder = isLocal ? await portHolder(port) : undefined;
    return ok(`${place} answers${holder === undefined ? '' : `: ${holder}`}`);
  }
  const start = isLocal ? 'start it ("frontdoor up")' : 'see that it runs and that no firewall is between';
  if (isGuess) {
    return warning(
      `nothing answers at ${place}, where the ${name} usually is`,
      `${start}, or say where with ${option}`,
    );
  }
  if (probe.state === 'refused')
    return failure(`nothing listens at ${place}`, `${start}, or correct ${option}`);
  if (probe.state === 'silent')
    return failure(`${place} is silent`, 'a firewall drops the packets: allow this port');
  return failure(`${place} cannot be reached: ${probe.reason}`, 'check the address and the network');
}

async function tlsVerdict(target: NetworkTarget, nowMs: number): Promise<CheckResult> {
  let probe;
  try {
    probe = await probeTls(target.host, target.port, PROBE_MS, target.ca);
  } catch (error) {
    const { state } = await probePort(target.host, target.port, PROBE_MS);
    if (state !== 'open') return skipped('nothing answers there');
    return failure(
      `no TLS: ${messageOf(error)}`,
      `another program may hold the port; or correct ${target.option}`,
    );
  }
  return certificateVerdict(target, probe, nowMs);
}

function certificateVerdict(
  target: NetworkTarget,
  { leaf, namesHost, problem }: TlsProbe,
  nowMs: number,
): CheckResult {
  const { host, ca, hasOwnAuthority, option } = target;
  const [fromMs, toMs] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()];
  if (nowMs > toMs)
    return failure(
      `its certificate expired on ${dayOf(toMs)}`,
      'renew it; if it is valid, this clock is wrong',
    );
  if (nowMs < fromMs)
    return failure(
      `its certificate is valid from ${dayOf(fromMs)} only`,
      'set this clock, or the one that it was made with',
    );
  if (!namesHost) {
    const names = leaf.subjectAltName ?? 'nobody';
    return failure(
      `its certificate is not for ${host} but for ${names}`,
      `use one of these names with ${option}`,
    );
  }
  if (problem !== undefined) {
    if (hasOwnAuthority && ca === undefined && UNKNOWN_AUTHORITY.has(problem))
      return ok(`of its own authority, until ${dayOf(toMs)}; agents learn to know it when they enroll`);
    return failure(
      `its certificate is not trusted: ${problem}`,
      ca === undefined
        ? 'give the CA with --ca FILE, or install it in the system'
        : 'it is not of the CA that is configured: compare both, and ask who runs the server',
    );
  }
  if (toMs - nowMs < EXPIRES_SOON_MS)
    return warning(
      `its certificate expires on ${dayOf(toMs)}`,
      toMs - nowMs < EXPIRES_NOW_MS
        ? 'renew it now'
        : 'renew it within two weeks; where a program renews it, see that this works',
    );
  return ok(`trusted, until ${dayOf(toMs)}`);
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
