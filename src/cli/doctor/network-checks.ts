/** Checks of the way to each server: name resolution, port, certificate. */
import { formatHostPort, isLoopbackHost, messageOf } from '#base';
import { probeAddresses, probePort, probeTls, proxyText, type OutwardDialer, type TlsProbe } from '#net';
import { failure, ok, PROBE_MS, skipped, warning, type Check, type CheckResult } from './finding.ts';
import { placeOf, type NetworkTarget } from './network-targets.ts';
import { portHolder } from './port-holder.ts';

const DAY_MS = 86_400_000;
/** A certificate that another program renews should be renewed before this time. */
const EXPIRES_SOON_MS = 30 * DAY_MS;
const EXPIRES_NOW_MS = 14 * DAY_MS;
const GATEWAY_REMEDY =
  'give the gateway a certificate for this name (--tls-dir or --acme-email), or check what terminates TLS in front of it';
/** Errors of a chain that ends at an unknown authority. */
const UNKNOWN_AUTHORITY = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

export function networkChecks(
  targets: readonly NetworkTarget[],
  outward: OutwardDialer,
  nowMs: () => number = Date.now,
  probeMs = PROBE_MS,
): Check[] {
  // A proxy resolves the names of the servers behind it.
  const hosts = [
    ...new Set(targets.filter((to) => proxyOf(to, outward) === undefined).map(({ host }) => host)),
  ];
  return [
    ...hosts.map((host) => ({ name: `name ${host}`, run: () => nameVerdict(host, probeMs) })),
    ...targets.map((target) => ({
      name: `port of ${target.name}`,
      run: () => portVerdict(target, outward, probeMs),
    })),
    ...targets
      .filter(({ isTls }) => isTls)
      .map((target) => ({
        name: `TLS of ${target.name}`,
        run: () => tlsVerdict(target, outward, { nowMs: nowMs(), probeMs }),
      })),
  ];
}

/** For addresses that nothing confirms: another program may listen there. `isApiNamed`: the API was asked, without an answer. */
export function unknownAddressChecks(targets: readonly NetworkTarget[], isApiNamed: boolean): Check[] {
  const why = isApiNamed
    ? 'the Management API does not respond, and no file on this machine has the address'
    : 'the address is not configured';
  return targets.map(({ name, option }) => ({
    name: `port of ${name}`,
    run: () => Promise.resolve(skipped(`${why}: set it with ${option}`)),
  }));
}

/** `missingRemedy` is for a name that does not exist. */
export async function nameVerdict(
  host: string,
  probeMs = PROBE_MS,
  missingRemedy = 'check the spelling, the DNS record and the resolver',
): Promise<CheckResult> {
  try {
    const addresses = await probeAddresses(host, probeMs);
    return ok(addresses[0] === host ? 'an address' : addresses.join(', '));
  } catch (error) {
    if (host.endsWith('.localhost')) {
      return warning(
        `this system cannot resolve ${host}, although browsers and newer versions of curl do`,
        `add a line to /etc/hosts for each name that you use, such as "127.0.0.1 ${host.replace(/^doctor\./, 'app.')}", or connect to 127.0.0.1 with the name in the Host header`,
      );
    }
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAI_AGAIN')
      return failure(
        `${host} cannot be resolved: no name server answers`,
        'check the network of this machine, and the name servers in /etc/resolv.conf',
      );
    const why = code === 'ENOTFOUND' ? 'the name does not exist' : (code ?? messageOf(error));
    return failure(`${host} cannot be resolved: ${why}`, missingRemedy);
  }
}

/** The proxy that leads to a server; undefined: none does, or its setting is wrong, which another check reports. */
function proxyOf(target: NetworkTarget, outward: OutwardDialer): string | undefined {
  try {
    const proxy = outward.proxyTo({ ...target, isPlain: !target.isTls });
    return proxy && proxyText(proxy);
  } catch {
    return undefined;
  }
}

async function portVerdict(
  target: NetworkTarget,
  outward: OutwardDialer,
  probeMs: number,
): Promise<CheckResult> {
  const { host, port, isGuess, option, name } = target;
  const isLocal = isLoopbackHost(host);
  const place = formatHostPort(host, port);
  const proxy = proxyOf(target, outward);
  const probe = await probePort(host, port, probeMs, outward);
  if (probe.state === 'open' && proxy !== undefined) return ok(`${proxy} connects to ${place}`);
  if (probe.state === 'open') {
    const holder = isLocal ? await portHolder(port) : undefined;
    return ok(`${place} answers${holder === undefined ? '' : `: ${holder}`}`);
  }
  const start = isLocal ? 'start it ("frontdoor up")' : 'check that it runs and that no firewall blocks it';
  if (isGuess) {
    return warning(
      `nothing listens at ${place}, the default address of the ${name}`,
      `${start}, or give its address with ${option}`,
    );
  }
  if (probe.state === 'refused')
    return failure(`nothing listens at ${place}`, `${start}, or correct ${option}`);
  if (probe.state === 'silent')
    return failure(`${place} does not respond`, 'a firewall drops the packets: allow this port');
  if (probe.state === 'failed' && proxy !== undefined)
    return failure(probe.reason, `correct the setting of the proxy, or let it connect to ${place}`);
  return failure(`${place} cannot be reached: ${probe.reason}`, 'check the address and the network');
}

async function tlsVerdict(
  target: NetworkTarget,
  outward: OutwardDialer,
  { nowMs, probeMs }: { readonly nowMs: number; readonly probeMs: number },
): Promise<CheckResult> {
  let probe;
  try {
    probe = await probeTls(target.host, target.port, probeMs, { ca: target.ca, outward });
  } catch (error) {
    const { state } = await probePort(target.host, target.port, probeMs, outward);
    if (state !== 'open') return skipped('nothing listens there');
    return failure(
      `no TLS: ${messageOf(error)}`,
      `another program may use the port; or correct ${target.option}`,
    );
  }
  const nameRemedy = `use one of these names with ${target.option}`;
  return certificateVerdict({ ...target, nameRemedy }, probe, nowMs);
}

/**
 * The certificate that clients of a public share see: trusted by this system, or issued by the configured CA
 * (`ca`, PEM).
 */
export async function shareTlsVerdict(
  origin: URL,
  ca: string | undefined,
  nowMs: number,
): Promise<CheckResult> {
  const { host, port } = placeOf(origin);
  // The check of the name of public shares has the remedy.
  if ((await nameVerdict(host)).state !== 'ok') return skipped('this name cannot be resolved');
  try {
    let probe = await probeTls(host, port, PROBE_MS);
    if (ca !== undefined && UNKNOWN_AUTHORITY.has(probe.problem ?? ''))
      probe = await probeTls(host, port, PROBE_MS, { ca });
    return certificateVerdict({ host, ca, nameRemedy: GATEWAY_REMEDY }, probe, nowMs);
  } catch (error) {
    return failure(`no TLS: ${messageOf(error)}`, GATEWAY_REMEDY);
  }
}

interface CertificateTarget extends Partial<Pick<NetworkTarget, 'ca' | 'hasOwnAuthority'>> {
  readonly host: string;
  /** For a certificate of other names. */
  readonly nameRemedy: string;
}

function certificateVerdict(
  { host, ca, hasOwnAuthority, nameRemedy }: CertificateTarget,
  { leaf, namesHost, problem }: TlsProbe,
  nowMs: number,
): CheckResult {
  const [fromMs, toMs] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()];
  if (nowMs > toMs)
    return failure(
      `its certificate expired on ${dayOf(toMs)}`,
      "renew it; if it is valid, correct this machine's clock",
    );
  if (nowMs < fromMs)
    return failure(
      `its certificate is not valid before ${dayOf(fromMs)}`,
      "correct this machine's clock, or that of the machine that issued the certificate",
    );
  if (!namesHost) {
    const names = leaf.subjectAltName ?? 'nobody';
    return failure(`its certificate is for ${names}, not for ${host}`, nameRemedy);
  }
  if (problem !== undefined) {
    if (hasOwnAuthority === true && ca === undefined && UNKNOWN_AUTHORITY.has(problem))
      return ok(
        `issued by its own authority, until ${dayOf(toMs)}; agents trust that authority after they enroll`,
      );
    return failure(
      `its certificate is not trusted: ${problem}`,
      ca === undefined
        ? 'give the CA with --ca FILE, or install it in the system'
        : 'the configured CA did not issue it: compare both, and check which program runs the server',
    );
  }
  if (toMs - nowMs < EXPIRES_SOON_MS)
    return warning(
      `its certificate expires on ${dayOf(toMs)}`,
      toMs - nowMs < EXPIRES_NOW_MS
        ? 'renew it now'
        : 'renew it within two weeks; if a program renews it, check that this works',
    );
  return ok(`trusted, until ${dayOf(toMs)}`);
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
