/**
 * The steps that make a frontdoor as a file has it, in the order of their dependencies. Names become ids when a step is made,
 * because an earlier step may make what a name stands for. Steps name fields and never values, some of which are secrets.
 */
import { definedFields, FrontdoorError, nearestNames } from '#base';
import {
  DEFAULT_POLICY,
  type FileAuthProvider,
  type FileCustomFrontend,
  type FileGuardedShare,
  type FrontdoorFile,
} from '#contract/schemas';
import { isUuid, parseShareTarget } from '#domain';
import type { ManagementRequest } from '../management-client.ts';
import type { Entry } from '../operations/list-pages.ts';
import { deletion, type ApplyStep, type ProviderIds } from './apply-step.ts';
import { domainSteps } from './domain-steps.ts';
import type { FrontdoorState, StandingShare } from './frontdoor-state.ts';
import {
  checkPolicyName,
  policyKeys,
  policySteps,
  unlistedPolicies,
  wantedPolicyId,
} from './policy-steps.ts';
import { differentFields, withStoredSecrets } from './wanted-value.ts';

export interface ApplyOptions {
  readonly base: string;
  readonly isPruning: boolean;
  /** Whether secrets of the file replace those that are stored. */
  readonly isReplacingSecrets: boolean;
}

export interface ApplyPlan {
  readonly steps: readonly ApplyStep[];
  /** What the file does not have and stays, in sections that the file has. */
  readonly kept: readonly { readonly what: string; readonly name: string }[];
}

interface Place extends ApplyOptions {
  readonly file: FrontdoorFile;
  readonly state: FrontdoorState;
}

const PROVIDER = 'auth provider';
const CUSTOM_FRONTEND = 'custom frontend';
const SHARE = 'share';
const SUGGESTED_NAMES = 3;
/** A share without a guard yet has no address at which someone could reach it. */
const NOWHERE = { shareMode: 'private', backendMode: 'proxy', target: 'http://127.0.0.1:9' } as const;

/** Throws `invalid` for names that stand for nothing. */
export function applyPlanOf(file: FrontdoorFile, state: FrontdoorState, options: ApplyOptions): ApplyPlan {
  const place: Place = { ...options, file, state };
  const domains = domainSteps(options.base, file, state);
  const unlisted = [
    ...domains.unlisted,
    ...unlistedShares(place),
    ...unlistedCustomFrontends(place),
    ...unlistedProviders(place),
    ...unlistedPolicies(options.base, file, state),
  ];
  const steps = [
    ...(file.authProviders ?? []).flatMap((each) => providerSteps(place, each)),
    ...policySteps(options, file, state),
    ...(file.customFrontends ?? []).flatMap((each) => customFrontendSteps(place, each)),
    ...(file.shares ?? []).flatMap((each) => shareSteps(place, each)),
  ];
  // A domain may be one that a deletion frees.
  if (options.isPruning) return { steps: [...steps, ...unlisted, ...domains.missing], kept: [] };
  const kept = unlisted.map(({ what, name }) => ({ what, name }));
  return { steps: [...steps, ...domains.missing], kept };
}

function providerSteps(place: Place, { name, type, enabled = true, data }: FileAuthProvider): ApplyStep[] {
  const { base, state, isReplacingSecrets } = place;
  const standing = state.providerByName.get(name);
  if (standing === undefined) {
    const create = (): ManagementRequest => ({
      method: 'POST',
      path: `${base}/auth-providers`,
      body: { name, type, data },
    });
    // A provider is enabled when it is made.
    const disable = (ids: ProviderIds): ManagementRequest => ({
      method: 'PATCH',
      path: `${base}/auth-providers/${idOf(ids, name)}`,
      body: { enabled },
    });
    const requests = enabled ? [create] : [create, disable];
    return [{ action: 'create', what: PROVIDER, name, fields: [], requests }];
  }
  const { value, entityTag } = standing;
  const settled = isReplacingSecrets ? data : withStoredSecrets(data, value['data']);
  const body = { name, type, enabled, data: settled };
  const fields = differentFields(body, value);
  if (fields.length === 0) return [];
  const path = `${base}/auth-providers/${encodeURIComponent(String(value['id']))}`;
  const requests = [(): ManagementRequest => ({ method: 'PUT', path, body, ifMatch: entityTag })];
  return [{ action: 'change', what: PROVIDER, name, fields, requests }];
}

function customFrontendSteps(place: Place, wanted: FileCustomFrontend): ApplyStep[] {
  const { base, state } = place;
  const { hostname: name, authProviders } = wanted;
  checkProviders(place, authProviders);
  const frontendId = frontendIdOf(state, wanted.frontend);
  const standing = state.customFrontends.find((one) => one['hostname'] === name.toLowerCase());
  const path = `${base}/custom-frontends`;
  const bodyOf = (ids: ProviderIds): Entry =>
    definedFields({ frontendId, authProviderIds: providerIdsOf(ids, authProviders) });
  if (standing === undefined) {
    const create = (ids: ProviderIds): ManagementRequest => ({
      method: 'POST',
      path,
      body: { hostname: name, ...bodyOf(ids) },
    });
    return [{ action: 'create', what: CUSTOM_FRONTEND, name, fields: [], requests: [create] }];
  }
  const fields = differentFields(bodyOf(knownIds(state)), standing);
  if (fields.length === 0) return [];
  const change = (ids: ProviderIds): ManagementRequest => ({
    method: 'PATCH',
    path: `${path}/${encodeURIComponent(String(standing['id']))}`,
    body: bodyOf(ids),
  });
  return [{ action: 'change', what: CUSTOM_FRONTEND, name, fields, requests: [change] }];
}

function shareSteps(place: Place, wanted: FileGuardedShare): ApplyStep[] {
  const { base, state } = place;
  const { name, authProviders } = wanted;
  checkProviders(place, authProviders);
  checkPolicyName(place.file, state, wanted);
  const environmentId = entryIdOf(state.environments, 'environment', wanted.environment);
  const target = parseShareTarget(wanted.target);
  if (target === undefined)
    throw new FrontdoorError(
      'invalid',
      'config-invalid',
      `the target of share ${name} is not valid: ${wanted.target}`,
    );
  const bodyOf = (ids: ProviderIds): Entry =>
    definedFields({
      shareMode: wanted.mode,
      backendMode: target.mode,
      target: target.url,
      ingress: wanted.ingress,
      ingressPort: wanted.ingressPort,
      grants: wanted.grants?.map((each) => entryIdOf(state.environments, 'environment', each)),
      authProviderIds: providerIdsOf(ids, authProviders),
      policyId: wantedPolicyId(ids, wanted),
    });
  const path = `${base}/shares/${encodeURIComponent(name)}`;
  const standing = state.shareByToken.get(name);
  if (standing !== undefined && standing.share.value['environmentId'] !== environmentId) {
    const message = `share ${name} belongs to another environment than ${wanted.environment}: delete it first, or give it another name`;
    throw new FrontdoorError('conflict', 'share-elsewhere', message);
  }
  const settings = settingRequests(place, wanted, standing);
  if (standing === undefined) {
    const requests = [
      (): ManagementRequest => ({
        method: 'POST',
        path: `${base}/shares`,
        body: { name, environmentId, ...NOWHERE },
      }),
      ...settings.flatMap(({ request }) => request),
      (ids: ProviderIds): ManagementRequest => ({ method: 'PATCH', path, body: bodyOf(ids) }),
    ];
    return [{ action: 'create', what: SHARE, name, fields: [], requests }];
  }
  const fields = differentFields(bodyOf(knownIds(state)), standing.share.value);
  const own = (ids: ProviderIds): ManagementRequest => ({
    method: 'PATCH',
    path,
    body: bodyOf(ids),
    ifMatch: standing.share.entityTag,
  });
  const others = settings.flatMap(({ request }) => request);
  const all = [...fields, ...settings.flatMap(({ fields: each }) => each)];
  if (all.length === 0) return [];
  const ownRequests = fields.length === 0 ? [] : [own];
  // Rules about people need the provider that proves them, and go before it does.
  const needsPeople = (wanted.policy?.emails ?? []).length > 0 || (wanted.policy?.claims ?? []).length > 0;
  // A share that uses a shared policy has no rules of its own that could be changed.
  const leavesPolicy = fields.includes('policyId');
  const requests = needsPeople || leavesPolicy ? [...ownRequests, ...others] : [...others, ...ownRequests];
  return [{ action: 'change', what: SHARE, name, fields: all, requests }];
}

interface Setting {
  readonly fields: readonly string[];
  readonly request: readonly (() => ManagementRequest)[];
}

/** The policy and the upstream settings of a share, as far as they differ. */
function settingRequests(
  { base, isReplacingSecrets }: Place,
  { name, policy, upstream }: FileGuardedShare,
  standing: StandingShare | undefined,
): Setting[] {
  const path = `${base}/shares/${encodeURIComponent(name)}`;
  const found: Setting[] = [];
  if (policy !== undefined) {
    const is = standing?.policy.value ?? DEFAULT_POLICY;
    const body = isReplacingSecrets ? policy : (withStoredSecrets(policy, is) as Entry);
    const fields = differentFields({ ...DEFAULT_POLICY, ...body }, is);
    const ifMatch = standing?.policy.entityTag;
    const request = (): ManagementRequest => ({ method: 'PUT', path: `${path}/policy`, body, ifMatch });
    if (fields.length > 0) found.push({ fields: fields.map((each) => `policy.${each}`), request: [request] });
  }
  if (upstream !== undefined) {
    const fields = differentFields(upstream, standing?.upstream.value ?? {});
    const ifMatch = standing?.upstream.entityTag;
    const request = (): ManagementRequest => ({
      method: 'PATCH',
      path: `${path}/upstream`,
      body: upstream,
      ifMatch,
    });
    if (fields.length > 0)
      found.push({ fields: fields.map((each) => `upstream.${each}`), request: [request] });
  }
  return found;
}

function unlistedShares({ base, file, state }: Place): ApplyStep[] {
  if (file.shares === undefined) return [];
  const listed = new Set(file.shares.map(({ name }) => name));
  const others = state.shares.map((one) => String(one['token'])).filter((token) => !listed.has(token));
  return others.map((token) => deletion(SHARE, token, `${base}/shares/${encodeURIComponent(token)}`));
}

function unlistedCustomFrontends({ base, file, state }: Place): ApplyStep[] {
  if (file.customFrontends === undefined) return [];
  const listed = new Set(file.customFrontends.map(({ hostname }) => hostname.toLowerCase()));
  return state.customFrontends
    .filter((one) => !listed.has(String(one['hostname'])))
    .map((one) =>
      deletion(CUSTOM_FRONTEND, String(one['hostname']), pathOf(`${base}/custom-frontends`, one)),
    );
}

function unlistedProviders({ base, file, state }: Place): ApplyStep[] {
  if (file.authProviders === undefined) return [];
  const listed = new Set(file.authProviders.map(({ name }) => name));
  return state.providers
    .filter((one) => !listed.has(String(one['name'])))
    .map((one) => deletion(PROVIDER, String(one['name']), pathOf(`${base}/auth-providers`, one)));
}

function pathOf(list: string, one: Entry): string {
  return `${list}/${encodeURIComponent(String(one['id']))}`;
}

/** Ids of the auth providers and policies that stand. */
export function knownIds(state: FrontdoorState): Map<string, string> {
  const ids = state.providers.map((one) => [String(one['name']), String(one['id'])] as const);
  return new Map([...ids, ...policyKeys(state)]);
}

function providerIdsOf(ids: ProviderIds, names: readonly string[] | undefined): string[] | undefined {
  return names?.map((name) => idOf(ids, name));
}

/** A name that nothing has yet stays as it is: an earlier step makes it. */
function idOf(ids: ProviderIds, name: string): string {
  return ids.get(name) ?? name;
}

function checkProviders({ file, state }: Place, names: readonly string[] = []): void {
  const all = [
    ...state.providers.map((one) => String(one['name'])),
    ...(file.authProviders ?? []).map(({ name }) => name),
  ];
  for (const name of names) if (!isUuid(name) && !all.includes(name)) throw unknownName(PROVIDER, name, all);
}

function entryIdOf(entries: readonly Entry[], what: string, given: string): string {
  if (entries.some((one) => one['id'] === given)) return given;
  const found = entries.filter((one) => one['name'] === given);
  if (found.length === 1) return String(found[0]!['id']);
  const names = entries.map((one) => String(one['name']));
  if (found.length === 0) throw unknownName(what, given, names);
  throw new FrontdoorError(
    'invalid',
    'name',
    `several ${what}s are called ${given}: use the ID of one of them`,
  );
}

function frontendIdOf({ frontends }: FrontdoorState, given: string | undefined): string {
  const found =
    given === undefined
      ? frontends
      : frontends.filter((one) => one['id'] === given || one['publicName'] === given);
  if (found.length === 1) return String(found[0]!['id']);
  const names = frontends.map((one) => String(one['publicName']));
  if (given !== undefined) throw unknownName('frontend', given, names);
  const message = `a custom frontend needs frontend, because there are several: ${names.join(', ')}`;
  throw new FrontdoorError('invalid', 'name', message);
}

function unknownName(what: string, given: string, names: readonly string[]): FrontdoorError {
  const near = nearestNames(given, names, SUGGESTED_NAMES);
  const hint = near.length === 0 ? '' : `; the nearest names are ${near.join(', ')}`;
  return new FrontdoorError('invalid', 'name', `there is no ${what} called ${given}${hint}`);
}
