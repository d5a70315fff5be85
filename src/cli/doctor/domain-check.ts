/**
 * Checks the domains of shares: whether they are proven, resolve to a gateway, and have a certificate. What DNS says is
 * looked up by the control plane, for a few domains, and one that does not resolve is a finding as any other.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { FrontdoorError } from '#base';
import type { DnsCheckAnswer, FrontdoorDomainAnswer } from '#contract/schemas';
import type { ManagementClient } from '../management-client.ts';
import { entriesOf } from '../operations/list-pages.ts';
import { failure, ok, skipped, warning, type CheckResult } from './finding.ts';

/** How many are read, looked up and named. A frontdoor has at most as many as are read. */
const MOST_READ = 1_000;
const MOST_LOOKED_UP = 8;
const MOST_NAMED = 5;
/** Name servers that do not answer must not hold the other findings. */
const LOOK_UP_MS = 2_500;

type Records = readonly DnsCheckAnswer[] | 'late';

const LOOK_UP_REMEDY = 'check the name servers of the domain, and that of the control plane';

interface Fault {
  readonly isFailure: boolean;
  readonly text: string;
  readonly remedy: string;
}

export async function domainsVerdict(
  client: ManagementClient,
  frontdoorId: string,
  lookUpMs = LOOK_UP_MS,
): Promise<CheckResult> {
  const root = `/frontdoor/${encodeURIComponent(frontdoorId)}`;
  let domains: readonly FrontdoorDomainAnswer[];
  try {
    const path = `${root}/domains?page=0&size=${MOST_READ}`;
    domains = entriesOf(await client.call({ method: 'GET', path })) as FrontdoorDomainAnswer[];
  } catch (error) {
    if (error instanceof FrontdoorError && error.kind === 'notFound')
      return skipped('the control plane is of a version without this list');
    throw error;
  }
  if (domains.length === 0) return skipped('no share has a domain');
  // Those with a problem that is known already come first.
  const ordered = domains.toSorted((a, b) => Number(isWell(a)) - Number(isWell(b)));
  const lookedUp = await Promise.all(
    ordered.slice(0, MOST_LOOKED_UP).map(async (domain) => ({
      domain,
      records: await Promise.race([
        recordsOf(client, root, domain),
        delay(lookUpMs, 'late' as const, { ref: false }),
      ]),
    })),
  );
  const others = ordered.slice(MOST_LOOKED_UP).map((domain) => ({ domain, records: [] }));
  const faults = [...lookedUp, ...others].flatMap(({ domain, records }) => faultOf(domain, records) ?? []);
  if (faults.length === 0) return ok(`${domains.length} well`);
  faults.sort((a, b) => Number(b.isFailure) - Number(a.isFailure));
  const more = faults.length > MOST_NAMED ? ` (and ${faults.length - MOST_NAMED} more)` : '';
  const [first] = faults as [Fault];
  const message = `${faults
    .slice(0, MOST_NAMED)
    .map(({ text }) => text)
    .join('; ')}${more}`;
  return first.isFailure ? failure(message, first.remedy) : warning(message, first.remedy);
}

function isWell({ proof, certificate }: FrontdoorDomainAnswer): boolean {
  const { problem, state } = certificate;
  return (proof === 'PROVEN' || proof === 'GRANTED') && problem === null && state !== 'EXPIRED';
}

/** Empty if DNS could not be asked, because too many look-ups run. */
async function recordsOf(
  client: ManagementClient,
  root: string,
  { shareToken, hostname }: FrontdoorDomainAnswer,
): Promise<readonly DnsCheckAnswer[]> {
  const share = `${root}/shares/${encodeURIComponent(shareToken)}`;
  const path = `${share}/domains/${encodeURIComponent(hostname)}/dns-check`;
  try {
    return (await client.call({ method: 'GET', path })) as DnsCheckAnswer[];
  } catch {
    return [];
  }
}

function faultOf(domain: FrontdoorDomainAnswer, found: Records): Fault | undefined {
  const records = found === 'late' ? [] : found;
  const late = found === 'late' ? lateFault(domain) : undefined;
  return proofFault(domain, records) ?? late ?? aliasFault(domain, records) ?? certificateFault(domain);
}

function proofFault(
  { hostname, shareToken, proof, proofEndsAt, proofProblem }: FrontdoorDomainAnswer,
  records: readonly DnsCheckAnswer[],
): Fault | undefined {
  if (proof === 'PROVEN' || proof === 'GRANTED') return undefined;
  const record = records.find(({ type }) => type === 'TXT');
  const until = proofEndsAt === null ? '' : ` until ${proofEndsAt.slice(0, 10)}`;
  const why = record?.problem ?? record?.state ?? proofProblem ?? 'not looked up yet';
  return {
    isFailure: proof === 'MISSING',
    text: `${hostname} is not proven (${proof}${until}; TXT record: ${why})`,
    remedy:
      record === undefined
        ? `create the TXT record that "frontdoor shares domains check ${shareToken} ${hostname}" shows`
        : `create the TXT record ${record.name} with the value ${record.value}`,
  };
}

function lateFault({ hostname }: FrontdoorDomainAnswer): Fault {
  const text = `${hostname} could not be looked up in time`;
  return { isFailure: false, text, remedy: LOOK_UP_REMEDY };
}

function aliasFault(
  { hostname }: FrontdoorDomainAnswer,
  records: readonly DnsCheckAnswer[],
): Fault | undefined {
  const record = records.find(({ type }) => type === 'CNAME');
  if (record === undefined || record.state === 'correct') return undefined;
  const remedy = `create a CNAME record for ${record.name} with the value ${record.value}, or address records that lead to the gateways`;
  if (record.state === 'missing') return { isFailure: true, text: `${hostname} does not resolve`, remedy };
  if (record.state === 'unknown') {
    const text = `${hostname} could not be looked up (${record.problem ?? 'no reason is known'})`;
    return { isFailure: false, text, remedy: LOOK_UP_REMEDY };
  }
  return {
    isFailure: true,
    text: `${hostname} resolves to ${record.found.join(', ')}, which is no gateway`,
    remedy,
  };
}

function certificateFault({ hostname, certificate }: FrontdoorDomainAnswer): Fault | undefined {
  const { state, validUntil, problem, retryAt } = certificate;
  if (problem === null && state !== 'EXPIRED') return undefined;
  const last = problem === null ? '' : `; the last order failed: ${problem}`;
  const next = retryAt === null ? '' : `; the next one is possible at ${retryAt}`;
  const day = validUntil?.slice(0, 10);
  const now =
    day === undefined
      ? `${hostname} has no certificate`
      : `the certificate of ${hostname} ${state === 'VALID' ? 'is valid until' : 'expired on'} ${day}`;
  return {
    isFailure: state !== 'VALID',
    text: `${now}${last}${next}`,
    remedy:
      'correct what the reason names: the domain must lead to a gateway, its port 80 must be reachable, and CAA records must allow the authority',
  };
}
