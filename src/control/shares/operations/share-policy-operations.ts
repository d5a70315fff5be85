/** Operations on the access policy of a share, and explanations of decisions. */
import { DEFAULT_POLICY, type AccessQuestion, type SharePolicyAnswer } from '#contract/schemas';
import { parseWebOrigin, type Share } from '#domain';
import { compileRules, explainAccess, type AccessExplanation, type ExplainedRequest } from '#domain/access';
import { accessRulesOf } from '../policy/access-rules.ts';
import { checkPortGuards, needsCallers } from '../policy/port-guards.ts';
import { draftPolicyOf, settledPolicy, wantedPolicyOf } from '../policy/policy-record.ts';
import { hasPeopleRules } from '../policy/policy-warnings.ts';
import type { StoredPolicy } from '../policy/stored-policy.ts';
import { checkOwnRules, findAccessPolicy } from '../records/access-policy-store.ts';
import { checkNothingBelow } from '../records/names-below.ts';
import { checkPeopleProvable, warnedPolicies, warningsOfPolicy } from '../records/policy-warning-store.ts';
import { findSharePolicy, putSharePolicy } from '../records/share-policy-store.ts';
import { change, ok, unstored, type ApiAnswer, type ChangeParts, type Handlers } from './call.ts';
import { checkIfMatch, tagged } from './entity-tag.ts';
import { guardsOf, namesOf, providersOf, withProviders } from './explained-share.ts';
import { lockedShareId, namedShare } from './named-share.ts';

/** A list of warnings has at most so many. */
const MOST_WARNINGS = 100;

export const sharePolicyHandlers: Handlers<
  ChangeParts,
  'getSharePolicy' | 'replaceSharePolicy' | 'explainShareAccess' | 'listPolicyWarnings'
> = {
  async getSharePolicy(parts, call) {
    const share = await namedShare(parts.store.db, call);
    return policyAnswer(parts, share, await findSharePolicy(parts.store.db, share.id));
  },

  async listPolicyWarnings(parts, { frontdoor }) {
    const warnings: { token: string; field: string; message: string }[] = [];
    for await (const { token, warnings: found } of warnedPolicies(parts.store.db, frontdoor.id)) {
      warnings.push(...found.map(({ field, message }) => ({ token, field, message })));
      if (warnings.length > MOST_WARNINGS) break;
    }
    const hasMore = warnings.length > MOST_WARNINGS;
    return unstored(ok({ warnings: warnings.slice(0, MOST_WARNINGS), hasMore }));
  },

  async replaceSharePolicy(parts, call) {
    // Checked before passwords are hashed, which is slow.
    const share = await namedShare(parts.store.db, call);
    const wanted = await wantedPolicyOf(call.body);
    const stored = await change(parts, call, async (trx, touch) => {
      const shareId = await lockedShareId(trx, call);
      await checkOwnRules(trx, shareId, call.parameters.token);
      const before = await findSharePolicy(trx, shareId);
      checkIfMatch(parts, call, storedOf(before));
      const result = settledPolicy(wanted, before);
      if (result !== undefined && (hasPeopleRules(result) || needsCallers(result))) {
        const guarded = await namedShare(trx, call);
        checkPortGuards(guarded, result);
        await checkPeopleProvable(trx, guarded, result);
      }
      if (result?.policy.hsts?.includeSubdomains === true)
        await checkNothingBelow(trx, await namedShare(trx, call));
      await putSharePolicy(trx, touch, shareId, result, parts.clock.nowMs());
      return {
        result,
        target: { kind: 'share', id: call.parameters.token },
        before: { policy: before?.policy ?? DEFAULT_POLICY },
        // Only the names of users with a new password are recorded, never the passwords.
        after: { policy: result?.policy ?? DEFAULT_POLICY, newPasswords: [...wanted.newHashes.keys()] },
      };
    });
    return policyAnswer(parts, share, stored);
  },

  async explainShareAccess(parts, call) {
    const share = await namedShare(parts.store.db, call);
    const stored = await findSharePolicy(parts.store.db, share.id);
    const request = requestOf(call.body, share, parts.clock.nowMs());
    const guarded = await withProviders(parts, call, share, call.body.authProviderIds);
    const ids = guardsOf(guarded, request.host);
    if (ids === undefined) return unstored(ok(notServed(share, request.host)));
    const asked = call.body.policy === undefined ? stored : draftPolicyOf(call.body.policy);
    const rules = compileRules(asked === undefined ? null : accessRulesOf(asked));
    const explained = explainAccess(rules, await providersOf(parts, call, ids), request);
    const isStored = call.body.policy === undefined;
    return unstored(ok(isStored ? await withPolicyName(parts, call.frontdoor, share, explained) : explained));
  },
};

async function policyAnswer(
  parts: ChangeParts,
  share: Share,
  stored: StoredPolicy | undefined,
): Promise<ApiAnswer<SharePolicyAnswer>> {
  const found = await warningsOfPolicy(parts.store.db, share, stored);
  const warnings = found.map(({ field, message }) => ({ field, message }));
  return tagged(parts, ok({ ...(stored?.policy ?? DEFAULT_POLICY), warnings }), storedOf(stored));
}

/** The value that the entity tag covers. A new password changes the tag. */
function storedOf(stored: StoredPolicy | undefined) {
  const hashes = [...(stored?.passwordHashes ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  return { policy: stored?.policy ?? DEFAULT_POLICY, hashes };
}

/** The first step names the shared policy, so that an owner finds where the rules are. */
async function withPolicyName(
  { store }: ChangeParts,
  frontdoor: { readonly id: string },
  { accessPolicyId: policyId }: Share,
  explained: AccessExplanation,
): Promise<AccessExplanation> {
  if (policyId === null) return explained;
  const policy = await findAccessPolicy(store.db, frontdoor, policyId);
  const detail = `the rules are those of the policy ${policy?.name ?? policyId}`;
  return { ...explained, steps: [{ rule: 'policy', outcome: 'passed', detail }, ...explained.steps] };
}

function requestOf(question: AccessQuestion, share: Share, nowMs: number): ExplainedRequest {
  const { host, method = 'GET', path = '/', secure = true, at, address, providerId } = question;
  const { origin, preflight = false } = question;
  const { email, emailVerified = true, groups, claims, keyName, basicUser, certificateName } = question;
  const isPerson = email !== undefined || groups !== undefined || claims !== undefined;
  const isOther = keyName !== undefined || basicUser !== undefined;
  const names = namesOf(share);
  return {
    host: (host ?? names[0] ?? '').toLowerCase(),
    method,
    target: path,
    origin: origin === undefined ? undefined : parseWebOrigin(origin),
    isPreflight: preflight,
    address,
    isSecure: secure,
    nowMs: at === undefined ? nowMs : Date.parse(at),
    providerId: providerId?.toLowerCase(),
    // A provider without further fields means that it authenticated a person.
    person:
      isPerson || (providerId !== undefined && !isOther)
        ? {
            email: email === undefined || !emailVerified ? null : email,
            groups: groups ?? [],
            claims: claims ?? {},
          }
        : undefined,
    keyName,
    basicUser,
    certificateName,
  };
}

function notServed({ shareMode, token }: Share, host: string): AccessExplanation {
  const detail =
    shareMode === 'private'
      ? 'it is private: gateways do not serve it, granted environments dial it'
      : `${token} is not served under ${host}`;
  const steps = [{ rule: 'host', outcome: 'decided', detail } as const];
  return { decision: 'refuse', status: 404, reason: 'no-such-host', steps };
}
