/** Operations on shared policies. A change of one is a change of all shares that use it, in one transaction. */
import { FrontdoorError } from '#base';
import type { AnswerOf } from '#contract';
import { DEFAULT_POLICY, type SharePolicyBody } from '#contract/schemas';
import { invalidValue, parseName } from '#domain';
import { settledPolicy, wantedPolicyOf, type WantedPolicy } from '../policy/policy-record.ts';
import { checkPortGuards, needsCallers } from '../policy/port-guards.ts';
import { hasPeopleRules } from '../policy/policy-warnings.ts';
import type { StoredPolicy } from '../policy/stored-policy.ts';
import {
  deleteAccessPolicy,
  findAccessPolicy,
  insertAccessPolicy,
  listAccessPolicies,
  listSharesOfPolicy,
  lockAccessPolicy,
  sharesOfPolicy,
  updateAccessPolicy,
  type AccessPolicyRecord,
} from '../records/access-policy-store.ts';
import { checkPeopleProvable } from '../records/policy-warning-store.ts';
import type { Queries } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  created,
  gone,
  isoTime,
  ok,
  type Call,
  type ChangeParts,
  type CreationParts,
  type Handlers,
} from './call.ts';
import { creation } from './creation.ts';
import { checkIfMatch, tagged } from './entity-tag.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest } from './page-query.ts';

const KIND = 'policy';
/** A refusal names at most so many shares. */
const MOST_NAMED = 10;
const MOST_SHOWN = 100;

type PolicyCall = Call<unknown, 'policyId'>;

export const policyHandlers: Handlers<
  CreationParts,
  'listPolicies' | 'createPolicy' | 'getPolicy' | 'replacePolicy' | 'deletePolicy' | 'getPolicyUses'
> = {
  async listPolicies(parts, call) {
    const request = parsePageRequest(call.query);
    const filter = listFilterOf(call.query);
    const page = await listAccessPolicies(parts.store.db, call.frontdoor, request, filter);
    const content = page.content.map(({ id, name, shareCount, createdAtMs }) => ({
      id,
      name,
      shareCount,
      createdAt: isoTime(createdAtMs),
    }));
    return ok(countedPageAnswer(request, page, content));
  },

  async createPolicy(parts, call) {
    const { body, frontdoor } = call;
    const wanted = await wantedRulesOf(body);
    const make = async (trx: Queries) => {
      const stored = settledRules(wanted, undefined);
      const nowMs = parts.clock.nowMs();
      const made = await insertAccessPolicy(trx, frontdoor, { name: parseName(body.name)!, stored, nowMs });
      return { result: made, target: { kind: KIND, id: made.id }, after: auditOf(made, wanted) };
    };
    return creation(parts, call, make, (made) => {
      const path = `/frontdoor/${frontdoor.id}/policies/${made.id}`;
      return tagged(parts, created(parts, path, answerOf(made)), storedOf(made));
    });
  },

  async getPolicy(parts, call) {
    const policy = await namedPolicy(parts, call);
    return tagged(parts, ok(answerOf(policy)), storedOf(policy));
  },

  async replacePolicy(parts, call) {
    const { body } = call;
    // Before passwords are hashed, which is slow.
    await namedPolicy(parts, call);
    const wanted = await wantedRulesOf(body);
    const policy = await change(parts, call, async (trx, touch) => {
      const before = await locked(trx, call);
      checkIfMatch(parts, call, storedOf(before));
      const stored = settledRules(wanted, before.stored);
      const name = body.name === undefined ? before.name : parseName(body.name)!;
      const nowMs = parts.clock.nowMs();
      if (hasPeopleRules(stored) || needsCallers(stored)) await checkEverywhere(trx, before, stored);
      const after = await updateAccessPolicy(trx, touch, before, { name, stored, nowMs });
      return {
        result: after,
        target: { kind: KIND, id: after.id },
        before: answerOf(before),
        after: auditOf(after, wanted),
      };
    });
    return tagged(parts, ok(answerOf(policy)), storedOf(policy));
  },

  async deletePolicy(parts, call) {
    await change(parts, call, async (trx) => {
      const before = await locked(trx, call);
      checkIfMatch(parts, call, storedOf(before));
      await checkUnused(trx, before);
      await deleteAccessPolicy(trx, before);
      return { result: undefined, target: { kind: KIND, id: before.id }, before: answerOf(before) };
    });
    return gone;
  },

  async getPolicyUses(parts, call) {
    const { id, shareCount } = await namedPolicy(parts, call);
    return ok({ shares: await listSharesOfPolicy(parts.store.db, id, MOST_SHOWN), shareCount });
  },
};

/** Throws `notFound`. */
export async function namedPolicy(
  { store }: Pick<ChangeParts, 'store'>,
  { frontdoor, parameters: { policyId } }: PolicyCall,
): Promise<AccessPolicyRecord> {
  const found = await findAccessPolicy(store.db, frontdoor, policyId);
  if (found === undefined) throw notFound('Policy', policyId);
  return found;
}

async function locked(trx: Queries, call: PolicyCall): Promise<AccessPolicyRecord> {
  const { policyId } = call.parameters;
  const found = await lockAccessPolicy(trx, call.frontdoor, policyId);
  if (found === undefined) throw notFound('Policy', policyId);
  return found;
}

/** Throws `invalid`: names below that of one share are known, names below those of many are not. */
export function checkSharedRules({ hsts }: SharePolicyBody): void {
  if (hsts?.includeSubdomains === true)
    throw invalidValue(
      'hsts.includeSubdomains',
      'false: names below a share are only decided by its own rules',
    );
}

async function wantedRulesOf(body: SharePolicyBody): Promise<WantedPolicy> {
  checkSharedRules(body);
  return wantedPolicyOf(body);
}

/** The rules to store. A policy without any is stored, too, because shares may use it. */
function settledRules(wanted: WantedPolicy, before: StoredPolicy | undefined): StoredPolicy {
  return settledPolicy(wanted, before) ?? { policy: DEFAULT_POLICY, passwordHashes: new Map() };
}

/** Throws `conflict` if rules about callers would admit nobody at one of the shares, or cannot be held there. */
async function checkEverywhere(
  trx: Queries,
  { id }: AccessPolicyRecord,
  stored: StoredPolicy,
): Promise<void> {
  for await (const shares of sharesOfPolicy(trx, id))
    for (const share of shares) {
      checkPortGuards(share, stored);
      await checkPeopleProvable(trx, share, stored);
    }
}

async function checkUnused(trx: Queries, { id, name, shareCount }: AccessPolicyRecord): Promise<void> {
  if (shareCount === 0) return;
  const shares = await listSharesOfPolicy(trx, id, MOST_NAMED);
  const named = shares.map(({ token }) => token).join(', ');
  const more = shareCount > shares.length ? ` and ${shareCount - shares.length} others` : '';
  const what = shareCount === 1 ? 'share' : 'shares';
  throw new FrontdoorError('conflict', 'in-use', `Policy ${name} is used by ${what} ${named}${more}`);
}

function answerOf({ id, name, stored, shareCount, createdAtMs }: AccessPolicyRecord): AnswerOf<'getPolicy'> {
  return { id, name, ...stored.policy, shareCount, createdAt: isoTime(createdAtMs) };
}

/** Only the names of users with a new password are recorded, never the passwords. */
function auditOf(record: AccessPolicyRecord, { newHashes }: WantedPolicy) {
  return { ...answerOf(record), newPasswords: [...newHashes.keys()] };
}

/** The value that the entity tag covers. A new password changes the tag, another share does not. */
function storedOf({ id, name, stored }: AccessPolicyRecord) {
  const hashes = [...stored.passwordHashes].sort(([a], [b]) => (a < b ? -1 : 1));
  return { id, name, policy: stored.policy, hashes };
}
