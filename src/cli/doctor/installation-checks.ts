/** Problems that the control plane reports: failed shares, absent routers and control planes, overdue certificates. */
import { operations, type Operation } from '#contract';
import type { AuthoritiesAnswer, InstallationAnswer, ShareAnswer } from '#contract/schemas';
import type { ResolvedAccess } from '../access/access.ts';
import type { ManagementClient } from '../management-client.ts';
import { entriesOf, pagesOf, type Entry } from '../operations/list-pages.ts';
import { asked } from './asked-api.ts';
import { failure, ok, skipped, warning, type Check, type CheckResult } from './finding.ts';

/** Limits for how many entries are examined, and how many are named. */
const MOST_ENTRIES = 2_000;
const MOST_NAMED = 5;
const SOON_MS = 14 * 86_400_000;
const NOT_ADMIN = 'requires the scope frontdoor.admin';

/** `installation` is undefined if the control plane did not respond. */
export function installationChecks(
  access: ResolvedAccess,
  installation: InstallationAnswer | undefined,
  nowMs: () => number = Date.now,
): Check[] {
  const known =
    (judge: (answer: InstallationAnswer) => CheckResult | Promise<CheckResult>) =>
    async (): Promise<CheckResult> =>
      installation === undefined ? skipped('the Management API could not be reached') : judge(installation);
  return [
    { name: 'shares', run: known(() => sharesVerdict(access)) },
    { name: 'routers', run: known((answer) => routersVerdict(access, answer)) },
    { name: 'gateways', run: known(() => gatewaysVerdict(access)) },
    { name: 'control planes', run: known(({ controlPlanes }) => controlPlanesVerdict(controlPlanes)) },
    { name: 'authorities', run: known(() => authoritiesVerdict(access, nowMs())) },
    { name: 'renewals', run: known((answer) => renewalsVerdict(answer.overdueCertificates, nowMs())) },
  ];
}

async function sharesVerdict(access: ResolvedAccess): Promise<CheckResult> {
  const { frontdoorId } = access;
  if (frontdoorId === undefined) return skipped('no frontdoor is selected');
  return asked(access, async (client) => {
    const path = `/frontdoor/${encodeURIComponent(frontdoorId)}/shares`;
    const shares = (await all(
      client,
      path,
      filterOf('listShares', 'status', 'FAILED'),
    )) as readonly ShareAnswer[];
    const failed = shares.filter(({ status }) => status === 'FAILED');
    if (failed.length === 0) return ok('none fails');
    const descriptions = failed.map(
      ({ token, failure: why }) => `${token} (${why?.lastError ?? 'unknown reason'})`,
    );
    return failure(
      `${counted(failed.length, 'share')} cannot be reached: ${listed(descriptions)}`,
      `check that the service responds at its target on the agent's machine; "frontdoor shares get ${failed[0]!.token}" shows details`,
    );
  });
}

async function routersVerdict(access: ResolvedAccess, { routers }: InstallationAnswer): Promise<CheckResult> {
  if (!routers.some(({ online }) => online))
    return failure(
      'no router that agents and gateways connect to is online: no share can be reached',
      'start a router ("frontdoor router run FILE"), or check its log',
    );
  return asked(access, async (client) => {
    const entries = await nodesOf(client, 'router');
    return entries === undefined
      ? ok(`${counted(routers.filter(({ online }) => online).length, 'router')} online`)
      : nodesVerdict(entries, 'router');
  });
}

/** Another gateway may serve the same address, so that a probe of the address finds nothing. */
function gatewaysVerdict(access: ResolvedAccess): Promise<CheckResult> {
  return asked(access, async (client) => {
    const entries = await nodesOf(client, 'gateway');
    if (entries === undefined) return skipped(NOT_ADMIN);
    return entries.length === 0 ? skipped('no gateway was created') : nodesVerdict(entries, 'gateway');
  });
}

/** Returns undefined if the caller may not see them. */
async function nodesOf(
  client: ManagementClient,
  what: 'router' | 'gateway',
): Promise<readonly Entry[] | undefined> {
  try {
    return await all(client, `/fabric/${what}s`, {});
  } catch (error) {
    if ((error as { kind?: unknown }).kind !== 'forbidden') throw error;
    return undefined;
  }
}

const PEERS = { router: 'a control plane', gateway: 'a router' } as const;

function nodesVerdict(entries: readonly Entry[], what: 'router' | 'gateway'): CheckResult {
  const away = entries.filter(({ enrolled, online }) => enrolled === true && online !== true);
  if (away.length === 0) return ok(`${counted(entries.length, what)}, all enrolled ones online`);
  const names = away.map(({ name }) => String(name));
  return failure(
    `${listed(names)} ${away.length === 1 ? 'is' : 'are'} not connected to ${PEERS[what]}`,
    `restart it, or check its log; "frontdoor fabric ${what} delete ${names[0]}" removes one that no longer exists`,
  );
}

function controlPlanesVerdict(planes: InstallationAnswer['controlPlanes']): CheckResult {
  if (planes === undefined) return skipped(NOT_ADMIN);
  const silent = planes.flatMap(({ apiUrl, silentSince }) =>
    silentSince === null ? [] : [`${apiUrl} since ${silentSince}`],
  );
  if (silent.length === 0) return ok(counted(planes.length, 'control plane'));
  return failure(
    `${listed(silent)}: not responding`,
    'restart it, or check its log; control planes that shut down properly are not listed, others are removed after a day',
  );
}

/** The step of a rotation that comes by itself cuts off the peers that are not prepared by then. */
function authoritiesVerdict(access: ResolvedAccess, nowMs: number): Promise<CheckResult> {
  return asked(access, async (client) => {
    let answer: AuthoritiesAnswer;
    try {
      answer = (await client.call({ method: 'GET', path: '/authorities' })) as AuthoritiesAnswer;
    } catch (error) {
      const { kind } = error as { readonly kind?: unknown };
      if (kind === 'forbidden') return skipped(NOT_ADMIN);
      if (kind === 'notFound') return skipped('this control plane has an earlier version');
      throw error;
    }
    const { authorities, rotation } = answer;
    const [first] = authorities.map(({ expiresAt }) => expiresAt).toSorted();
    if (rotation === undefined)
      return ok(`no key is being rotated; the first expires ${first?.slice(0, 10)}`);
    const { kind, step, nextStepAt, cutOffCount, cutOff } = rotation;
    const state = `the ${kind} key is being rotated (${step}); the next step is at ${nextStepAt}`;
    if (cutOffCount === 0) return ok(`${state}, and cuts off no identities`);
    const names = cutOff.map((one) => `${one.kind} ${one.name}`);
    const message = `${state}, and cuts off ${cutOffCount} of the identities: ${listed(names)}`;
    const remedy =
      'let them connect before that time, or enroll them again later; "frontdoor pki show" lists them';
    return Date.parse(nextStepAt) - nowMs < SOON_MS ? warning(message, remedy) : ok(message);
  });
}

function renewalsVerdict(overdue: InstallationAnswer['overdueCertificates'], nowMs: number): CheckResult {
  if (overdue === undefined) return skipped(NOT_ADMIN);
  if (overdue.length === 0) return ok('every certificate of the installation was renewed in time');
  const descriptions = overdue.map(
    ({ kind, name, expiresAt }) => `${kind} ${name} (${expiresAt.slice(0, 10)})`,
  );
  const isOver = overdue.some(({ expiresAt }) => Date.parse(expiresAt) <= nowMs);
  const remedy =
    'its holder renews it while it is connected: start it, or check its log; after expiry it must enroll again';
  const message = `certificates that expire soon and were not renewed: ${listed(descriptions)}`;
  return isOver ? failure(message, remedy) : warning(message, remedy);
}

async function all(
  client: ManagementClient,
  path: string,
  filter: Readonly<Record<string, string>>,
): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  const ask = async (page: number, size: number): Promise<readonly Entry[]> => {
    const query = new URLSearchParams({ ...filter, page: String(page), size: String(size) });
    return entriesOf(await client.call({ method: 'GET', path: `${path}?${query.toString()}` }));
  };
  for await (const entries of pagesOf(ask, MOST_ENTRIES)) found.push(...entries);
  return found;
}

/** Returns the filter if the operation has it. */
function filterOf(id: string, name: string, value: string): Readonly<Record<string, string>> {
  const operation = (operations as readonly Operation[]).find((each) => each.id === id);
  return operation?.query.some((each) => each.name === name) === true ? { [name]: value } : {};
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function listed(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`;
}
