/** Checks of public shares: the name, port and certificate of the gateways that serve them. */
import { formatHostPort, isLoopbackHost } from '#base';
import type { AnswerOf } from '#contract';
import type { ShareAnswer } from '#contract/schemas';
import { probePort } from '#net';
import type { ResolvedAccess } from '../access/access.ts';
import type { ManagementClient } from '../management-client.ts';
import { entriesOf } from '../operations/list-pages.ts';
import { asked } from './asked-api.ts';
import { domainsVerdict } from './domain-check.ts';
import { failure, ok, PROBE_MS, skipped, warning, type CheckResult } from './finding.ts';
import { hostnamesVerdict } from './hostname-check.ts';
import { nameVerdict, shareTlsVerdict } from './network-checks.ts';
import { placeOf } from './network-targets.ts';
import { siteVerdict } from './site-check.ts';

type PolicyWarningsAnswer = AnswerOf<'listPolicyWarnings'>;

/** Limits for how many shares are read, and how many of their names are examined: each is a TLS handshake. */
const MOST_SHARES = 200;
const MOST_HOSTS = 8;
const MOST_WARNINGS = 5;

/** Checks the names and ports of public shares. The name of any share must resolve to a gateway. */
export async function frontendVerdict(access: ResolvedAccess): Promise<CheckResult> {
  return askedOfFrontdoor(access, async (client, frontdoorId) => {
    const url = await frontendUrl(client, frontdoorId);
    if (url === undefined) return skipped('there is no frontend');
    const { host, port } = placeOf(url);
    const name = await nameVerdict(host);
    if (name.state !== 'ok') return name;
    const { state } = await probePort(host, port, PROBE_MS);
    const place = formatHostPort(host, port);
    if (state === 'open') return ok(`${place} accepts connections for share names`);
    const remedy = isLoopbackHost(host)
      ? 'start the gateway'
      : 'check that the gateway runs and that its port is open';
    return failure(`nothing listens at ${place}`, remedy);
  });
}

/**
 * Checks the certificates that clients of public shares see. Shares have one each, or one for all names of a zone; a
 * name that no share has may have none.
 */
export async function gatewayTlsVerdict(access: ResolvedAccess, nowMs: number): Promise<CheckResult> {
  return askedOfFrontdoor(access, async (client, frontdoorId) => {
    const origins = await secureOrigins(client, frontdoorId);
    if (origins.length === 0) return skipped('no public share is served with TLS');
    const verdicts = await Promise.all(
      origins.map(async (origin) => {
        const verdict = await shareTlsVerdict(origin, access.ca, nowMs);
        return { ...verdict, message: `${origin.host}: ${verdict.message}` };
      }),
    );
    const worst = ['failure', 'warning', 'ok', 'skipped'].flatMap((state) =>
      verdicts.filter((verdict) => verdict.state === state),
    )[0]!;
    const others = verdicts.filter(({ state }) => state === worst.state).length - 1;
    return others === 0 ? worst : { ...worst, message: `${worst.message} (and ${others} more)` };
  });
}

async function secureOrigins(client: ManagementClient, frontdoorId: string): Promise<readonly URL[]> {
  const query = `status=DEPLOYED&page=0&size=${MOST_SHARES}`;
  const path = `/frontdoor/${encodeURIComponent(frontdoorId)}/shares?${query}`;
  const shares = entriesOf(await client.call({ method: 'GET', path })) as Partial<ShareAnswer>[];
  const urls = shares
    .flatMap(({ frontendEndpoints }) => frontendEndpoints ?? [])
    .map((endpoint) => URL.parse(endpoint))
    .filter((url) => url?.protocol === 'https:');
  const distinct = new Map(urls.map((url) => [url!.host, url!]));
  return [...distinct.values()].slice(0, MOST_HOSTS);
}

/** Returns the URL of a share named `doctor` at the first frontend, or undefined if there is no frontend. */
async function frontendUrl(client: ManagementClient, frontdoorId: string): Promise<URL | undefined> {
  const path = `/frontdoor/${encodeURIComponent(frontdoorId)}/frontends`;
  const frontends = (await client.call({ method: 'GET', path })) as { urlTemplate?: unknown }[];
  const urls = frontends.map(({ urlTemplate }) =>
    URL.parse(String(urlTemplate).replace('{token}', 'doctor')),
  );
  return urls.find((each) => each !== null) ?? undefined;
}

/** Names the shares whose policies have rules about people that no auth provider can prove, and other rules without effect. */
export async function policyVerdict(access: ResolvedAccess): Promise<CheckResult> {
  return askedOfFrontdoor(access, async (client, frontdoorId) => {
    const path = `/frontdoor/${encodeURIComponent(frontdoorId)}/policy-warnings`;
    const answer = (await client.call({ method: 'GET', path })) as Partial<PolicyWarningsAnswer>;
    const warnings = answer.warnings ?? [];
    if (warnings.length === 0) return ok('every rule of every policy has an effect');
    const shown = warnings.slice(0, MOST_WARNINGS).map(({ token, message }) => `${token}: ${message}`);
    const isMore = warnings.length > shown.length || answer.hasMore === true;
    return warning(
      `${shown.join('; ')}${isMore ? '; and more' : ''}`,
      'change the policies or the auth providers of these shares; "frontdoor shares policy warnings" lists all',
    );
  });
}

export function customFrontendsVerdict(access: ResolvedAccess): Promise<CheckResult> {
  return askedOfFrontdoor(access, hostnamesVerdict);
}

export function shareDomainsVerdict(access: ResolvedAccess): Promise<CheckResult> {
  return askedOfFrontdoor(access, domainsVerdict);
}

export async function zoneVerdict(access: ResolvedAccess): Promise<CheckResult> {
  return askedOfFrontdoor(access, async (client, frontdoorId) => {
    const hostname = (await frontendUrl(client, frontdoorId))?.hostname ?? '';
    return siteVerdict(hostname.slice(hostname.indexOf('.') + 1));
  });
}

async function askedOfFrontdoor(
  access: ResolvedAccess,
  work: (client: ManagementClient, frontdoorId: string) => Promise<CheckResult>,
): Promise<CheckResult> {
  const { credentials, frontdoorId } = access;
  if (credentials === undefined || frontdoorId === undefined) return skipped('not signed in to a frontdoor');
  return asked(access, (client) => work(client, frontdoorId));
}
