/** Fields of a policy that decide nothing as the share is guarded now, or refuse everyone, with the remedy. */
import { DEFAULT_POLICY } from '#contract/schemas';
import { ineffectiveRules, type IneffectiveReason, type IneffectiveRule } from '#domain/access';
import { LOGIN_TYPES_TEXT } from '#domain/provider-types';
import { accessRulesOf } from './access-rules.ts';
import type { StoredPolicy } from './stored-policy.ts';

export interface PolicyWarning {
  /** The name of the field in the API. */
  readonly field: string;
  readonly reason: IneffectiveReason;
  readonly message: string;
}

export interface WarnedShare {
  readonly token: string;
  readonly isPrivate: boolean;
  /** The names under which the share is served, with the providers that guard it there. */
  readonly names: readonly { readonly host: string; readonly authProviderIds: readonly string[] }[];
}

const REMEDY_FOR_PEOPLE = `give the share an auth provider of type ${LOGIN_TYPES_TEXT}`;

const EFFECTS: Readonly<Record<Exclude<IneffectiveReason, 'person-unprovable'>, string>> = {
  private: 'has no effect: gateways do not serve private shares, and their grants decide who may dial them',
  'no-log-in': 'has no effect: nobody can log in at the share, so that there are no sessions',
  'no-identity':
    'has no effect: no caller has to identify at the share; give it an auth provider or a user with a password',
  'no-browser-identity': 'has no effect: no browser identifies its user at the share by itself',
};

/** `provers`: the ids of auth providers that prove people; others may be among them. */
export function policyWarningsOf(
  stored: StoredPolicy,
  share: WarnedShare,
  provers: ReadonlySet<string>,
): PolicyWarning[] {
  const rules = accessRulesOf(stored);
  const { isPrivate, token, names } = share;
  const guards = isPrivate ? [{ host: '', authProviderIds: [] }] : names;
  const byName = guards.map(({ host, authProviderIds }) => {
    const hasPeople = authProviderIds.some((id) => provers.has(id));
    return { host, found: ineffectiveRules(rules, { isPrivate, authProviderIds, hasPeople }) };
  });
  const all = byName.flatMap(({ found }) => found);
  const distinct = new Map(all.map((one) => [`${one.rule} ${one.reason}`, one]));
  return [...distinct.values()].flatMap((one) => {
    const hosts = byName.filter(({ found }) => isAmong(found, one)).map(({ host }) => host);
    const isEverywhere = hosts.length === byName.length;
    // Another rule has its effect when it has one under some name.
    if (one.reason !== 'person-unprovable' && !isEverywhere) return [];
    const where = isEverywhere ? '' : ` at ${hosts.join(', ')}`;
    return fieldsOf(stored, one).map((field) => ({ ...warningOf(field, one.reason, where, token) }));
  });
}

/** Whether rules about people admit nobody under any name of the share. */
export function isClosedToPeople(
  stored: StoredPolicy,
  { isPrivate, names }: WarnedShare,
  provers: ReadonlySet<string>,
): boolean {
  if (isPrivate || !hasPeopleRules(stored)) return false;
  return !names.some(({ authProviderIds }) => authProviderIds.some((id) => provers.has(id)));
}

/** Whether a rule of the policy depends on providers that prove people. */
export function dependsOnPeople(stored: StoredPolicy): boolean {
  const { session, allowedOrigins } = stored.policy;
  return (
    hasPeopleRules(stored) ||
    allowedOrigins.length > 0 ||
    JSON.stringify(session) !== JSON.stringify(DEFAULT_POLICY.session)
  );
}

export function hasPeopleRules({ policy }: StoredPolicy): boolean {
  return policy.emails.length > 0 || policy.claims.length > 0;
}

/** The refusal of a change after which rules about people would admit nobody. */
export function closedToPeopleMessage(token: string): string {
  return (
    `The policy of share ${token} has rules about people (emails, claims), and no auth provider of the share would prove ` +
    `who a person is, so that nobody would be admitted: first ${REMEDY_FOR_PEOPLE}, or remove emails and claims`
  );
}

function isAmong(found: readonly IneffectiveRule[], { rule, reason }: IneffectiveRule): boolean {
  return found.some((each) => each.rule === rule && each.reason === reason);
}

function fieldsOf({ policy }: StoredPolicy, { rule }: IneffectiveRule): readonly string[] {
  if (rule === 'ip') return (['ipAllow', 'ipDeny'] as const).filter((field) => policy[field].length > 0);
  return [rule === 'expiresAtMs' ? 'expiresAt' : rule];
}

function warningOf(field: string, reason: IneffectiveReason, where: string, token: string): PolicyWarning {
  if (reason !== 'person-unprovable') return { field, reason, message: `${field} ${EFFECTS[reason]}` };
  const message =
    `${field} admits nobody${where}: no auth provider there proves who a person is; ${REMEDY_FOR_PEOPLE} ` +
    `("frontdoor shares change ${token} --auth-provider-id NAME"), or remove emails and claims from its policy`;
  return { field, reason, message };
}
