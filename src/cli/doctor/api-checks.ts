/** Checks of the Management API: its identity, clock, the credentials, the frontdoor; and of what only it can name. */
import { definedFields, messageOf } from '#base';
import { directDialer } from '#net';
import { API_VERSION } from '#contract';
import type { InstallationAnswer } from '#contract/schemas';
import { JsonClient, serverDateOf } from '#net/http';
import type { ResolvedAccess } from '../access/access.ts';
import { fetchCaller } from '../access/caller.ts';
import { ManagementClient } from '../management-client.ts';
import { asked } from './asked-api.ts';
import { failure, ok, PROBE_MS, skipped, warning, type Check, type CheckResult } from './finding.ts';
import {
  customFrontendsVerdict,
  frontendVerdict,
  gatewayTlsVerdict,
  policyVerdict,
  shareDomainsVerdict,
  zoneVerdict,
} from './frontend-checks.ts';

/** Tokens are refused if the clocks differ by more. */
const MAX_SKEW_MS = 60_000;
const GOOD_SKEW_MS = 10_000;
const AWAY = 'the Management API could not be reached';

/** Several checks depend on the contact, so it is given. */
export function apiChecks(
  access: ResolvedAccess,
  contact: Promise<Contact>,
  nowMs: () => number = Date.now,
): Check[] {
  const reach = (): Promise<Contact> => contact;
  return [
    { name: 'Management API', run: async () => apiVerdict(access, await reach()) },
    { name: 'clock', run: async () => clockVerdict(await reach()) },
    { name: 'credentials', run: () => whenReached(reach, () => credentialsVerdict(access)) },
    { name: 'frontdoor', run: () => whenReached(reach, () => frontdoorVerdict(access)) },
    { name: 'public shares', run: () => whenReached(reach, () => frontendVerdict(access)) },
    { name: 'TLS of public shares', run: () => whenReached(reach, () => gatewayTlsVerdict(access, nowMs())) },
    { name: 'policies', run: () => whenReached(reach, () => policyVerdict(access)) },
    { name: 'custom frontends', run: () => whenReached(reach, () => customFrontendsVerdict(access)) },
    { name: 'domains of shares', run: () => whenReached(reach, () => shareDomainsVerdict(access)) },
    { name: 'site of shares', run: () => whenReached(reach, () => zoneVerdict(access)) },
  ];
}

export interface Contact {
  /** Undefined if the API responds. */
  readonly problem?: string;
  readonly isOurs: boolean;
  readonly version?: string;
  /** How many milliseconds the server's clock is ahead of this one; also known if only TLS failed. */
  readonly aheadMs?: number;
}

/** Neither an option nor a profile nor a file of this machine names the API, so nothing is asked. */
export const UNNAMED_API: Contact = {
  problem:
    'nothing names the Management API: give its address with --api or FRONTDOOR_API_URL, or the directory of "frontdoor up" with --data-dir',
  isOurs: false,
};

/** Never rejects. */
export async function contactApi(
  { apiUrl, ca, outward = directDialer }: ResolvedAccess,
  nowMs: () => number = Date.now,
): Promise<Contact> {
  const url = URL.parse(apiUrl);
  if (url === null || !/^https?:$/.test(url.protocol))
    return { problem: `${apiUrl} is not a URL`, isOurs: false };
  let client: JsonClient | undefined;
  try {
    client = new JsonClient({ origin: url.origin, timeoutMs: PROBE_MS, ca, outward });
    const sentMs = nowMs();
    const path = `${url.pathname.replace(/\/$/, '')}/openapi.json`;
    const { headers, json } = await client.request({ method: 'GET', path });
    const date = Date.parse(String(headers['date']));
    const { openapi, info } = (json ?? {}) as { openapi?: unknown; info?: { version?: unknown } };
    const isOurs = typeof openapi === 'string' && typeof info?.version === 'string';
    return {
      isOurs,
      ...(isOurs ? { version: String(info.version) } : {}),
      // The header has whole seconds, and was written about halfway through the round trip.
      ...(Number.isNaN(date) ? {} : { aheadMs: date + 500 - (sentMs + nowMs()) / 2 }),
    };
  } catch (error) {
    const serverMs = url.protocol === 'https:' ? await serverDateOf(url.origin, outward) : undefined;
    const aheadMs = serverMs === undefined ? undefined : serverMs - nowMs();
    return { problem: messageOf(error), isOurs: false, ...definedFields({ aheadMs }) };
  } finally {
    await client?.close();
  }
}

async function whenReached(
  reach: () => Promise<Contact>,
  run: () => Promise<CheckResult>,
): Promise<CheckResult> {
  return (await reach()).problem === undefined ? run() : skipped(AWAY);
}

function apiVerdict({ apiUrl }: ResolvedAccess, { problem, isOurs, version }: Contact): CheckResult {
  if (problem !== undefined)
    return skipped(
      problem === UNNAMED_API.problem ? problem : `${problem} (see the checks of its port and TLS)`,
    );
  if (!isOurs)
    return failure(
      `the server at ${apiUrl} is not a Management API`,
      'correct --api, or the port of the other program',
    );
  const summary = `version ${version} at ${apiUrl}`;
  if (version === API_VERSION) return ok(summary);
  return warning(
    `${summary}; this command line supports ${API_VERSION}`,
    'use the same version of frontdoor on both sides',
  );
}

export function clockVerdict({ problem, aheadMs }: Contact): CheckResult {
  if (aheadMs === undefined) return skipped(problem === undefined ? 'the Management API sent no time' : AWAY);
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  const serverTime = new Date(Date.now() + aheadMs).toISOString();
  const summary = `this clock is ${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} the control plane's, which says ${serverTime}`;
  const remedy =
    'synchronize both machines with NTP ("timedatectl set-ntp true"): tokens are refused if the clocks differ by more than 60 s';
  if (Math.abs(aheadMs) > MAX_SKEW_MS) return failure(summary, remedy);
  return Math.abs(aheadMs) > GOOD_SKEW_MS
    ? warning(summary, remedy)
    : ok(seconds === 0 ? 'the same time' : summary);
}

async function credentialsVerdict(access: ResolvedAccess): Promise<CheckResult> {
  if (access.credentials === undefined) return skipped(access.missing ?? 'not signed in');
  return asked(access, async (client) => {
    const { kind, id, scopes } = await fetchCaller(client);
    const summary = `${kind} ${id} has the scopes ${scopes.join(', ')}`;
    if (scopes.includes('frontdoor.write')) return ok(summary);
    return warning(
      summary,
      'for changes, add the scope frontdoor.write to the account, or sign in with another one',
    );
  });
}

async function frontdoorVerdict(access: ResolvedAccess): Promise<CheckResult> {
  const { credentials, frontdoorId } = access;
  if (credentials === undefined) return skipped('not signed in');
  if (frontdoorId === undefined)
    return warning(
      'none is selected',
      'run "frontdoor login" again, or set FRONTDOOR_ID; "frontdoor frontdoors list" shows them',
    );
  return asked(access, async (client) => {
    const path = `/frontdoor/${encodeURIComponent(frontdoorId)}`;
    const { name } = (await client.call({ method: 'GET', path })) as { name?: unknown };
    return ok(`${String(name)} (${frontdoorId})`);
  });
}

/** Returns undefined if nobody is logged in, the API cannot be reached, or its version is older. */
export async function fetchInstallation(access: ResolvedAccess): Promise<InstallationAnswer | undefined> {
  if (access.credentials === undefined) return undefined;
  let client;
  try {
    client = new ManagementClient(access, PROBE_MS);
    const answer = await client.call({ method: 'GET', path: '/installation' });
    const { edgeApiUrl, routers } = (answer ?? {}) as Partial<InstallationAnswer>;
    return typeof edgeApiUrl === 'string' && Array.isArray(routers)
      ? (answer as InstallationAnswer)
      : undefined;
  } catch {
    // Other checks report the cause.
    return undefined;
  } finally {
    await client?.close();
  }
}
