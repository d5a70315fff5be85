/** Steps about the shared policies of a file. Shares name them, so that they are made first and deleted last. */
import { FrontdoorError } from '#base';
import { DEFAULT_POLICY, type FrontdoorFile } from '#contract/schemas';
import type { ManagementRequest } from '../management-client.ts';
import type { Entry } from '../operations/list-pages.ts';
import { deletion, type ApplyStep, type ProviderIds } from './apply-step.ts';
import type { FrontdoorState } from './frontdoor-state.ts';
import { differentFields, withStoredSecrets } from './wanted-value.ts';

const POLICY = 'policy';
/** Keeps the names of policies apart from those of auth providers. */
const PREFIX = `${POLICY} `;

interface PolicyOptions {
  readonly base: string;
  readonly isReplacingSecrets: boolean;
}

export function policySteps(
  { base, isReplacingSecrets }: PolicyOptions,
  { policies = [] }: FrontdoorFile,
  { policyByName }: FrontdoorState,
): ApplyStep[] {
  return policies.flatMap((wanted): ApplyStep[] => {
    const { name, ...rules } = wanted;
    const standing = policyByName.get(name);
    const path = `${base}/policies`;
    if (standing === undefined) {
      const create = (): ManagementRequest => ({ method: 'POST', path, body: wanted });
      return [{ action: 'create', what: POLICY, name, fields: [], requests: [create] }];
    }
    const { value, entityTag } = standing;
    const body = (isReplacingSecrets ? rules : withStoredSecrets(rules, value)) as Entry;
    const fields = differentFields({ ...DEFAULT_POLICY, ...body }, value);
    if (fields.length === 0) return [];
    const one = `${path}/${encodeURIComponent(String(value['id']))}`;
    const change = (): ManagementRequest => ({ method: 'PUT', path: one, body, ifMatch: entityTag });
    return [{ action: 'change', what: POLICY, name, fields, requests: [change] }];
  });
}

export function unlistedPolicies(
  base: string,
  file: FrontdoorFile,
  { policies }: FrontdoorState,
): ApplyStep[] {
  if (file.policies === undefined) return [];
  const listed = new Set(file.policies.map(({ name }) => name));
  return policies
    .filter((one) => !listed.has(String(one['name'])))
    .map((one) =>
      deletion(POLICY, String(one['name']), `${base}/policies/${encodeURIComponent(String(one['id']))}`),
    );
}

/** Names of policies with their ids, under keys that no auth provider has. */
export function policyKeys({ policies }: FrontdoorState): (readonly [key: string, id: string])[] {
  return policies.map((one) => [`${PREFIX}${String(one['name'])}`, String(one['id'])]);
}

/** The key of what a step made; undefined if its name stands for nothing in other entries. */
export function madeKey(what: string, name: string): string | undefined {
  if (what === POLICY) return `${PREFIX}${name}`;
  return what === 'auth provider' ? name : undefined;
}

/** What a share gets: the policy that it names, none if it has rules of its own, and undefined if the file says nothing. */
export function wantedPolicyId(
  ids: ProviderIds,
  {
    sharedPolicy,
    policy,
  }: { readonly sharedPolicy?: string | undefined; readonly policy?: object | undefined },
): string | null | undefined {
  if (sharedPolicy !== undefined) return ids.get(`${PREFIX}${sharedPolicy}`) ?? sharedPolicy;
  return policy === undefined ? undefined : null;
}

/** Throws `invalid` for a policy that nothing has or makes, and for a share with both kinds of rules. */
export function checkPolicyName(
  file: FrontdoorFile,
  { policies }: FrontdoorState,
  share: {
    readonly name: string;
    readonly sharedPolicy?: string | undefined;
    readonly policy?: object | undefined;
  },
): void {
  const { name, sharedPolicy, policy } = share;
  if (sharedPolicy === undefined) return;
  if (policy !== undefined)
    throw new FrontdoorError(
      'invalid',
      'config-invalid',
      `share ${name} has policy and sharedPolicy: a share has either`,
    );
  const isKnown =
    policies.some((one) => one['id'] === sharedPolicy || one['name'] === sharedPolicy) ||
    (file.policies ?? []).some((one) => one.name === sharedPolicy);
  if (!isKnown)
    throw new FrontdoorError(
      'invalid',
      'name',
      `there is no policy called ${sharedPolicy}, which share ${name} uses`,
    );
}
