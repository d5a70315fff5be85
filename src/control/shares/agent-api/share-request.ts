/**
 * Makes a share as the request of an agent has it, guards included, in one transaction: a share is never served without the auth
 * providers and the policy that came with it. A request with guards that would change nothing writes nothing, because
 * agents send it at every start. ADR 0096.
 */
import { isDeepStrictEqual } from 'node:util';
import { Type } from '#base/shapes';
import { DEFAULT_POLICY, sharePolicyReplacementSchema, type SharePolicyBody } from '#contract/schemas';
import { invalidValue, parseShareTarget, type Share } from '#domain';
import type { HostedShareRequest } from '#domain/agent-shapes';
import { changedUpstream, hasUpstream, isSameUpstream, type ShareUpstream } from '#domain/upstream';
import { hashPassword } from '../../credentials/passwords/mod.ts';
import { MASK } from '../../secrets/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import { bodyCheckOf } from '../checks/body-check.ts';
import { checkDomainName } from '../hostnames/domain-name.ts';
import { CLAIM_MS } from '../hostnames/hostname-proof-policy.ts';
import { settledPolicy, wantedPolicyOf, type WantedPolicy } from '../policy/policy-record.ts';
import { checkPortGuards } from '../policy/port-guards.ts';
import { hasPeopleRules } from '../policy/policy-warnings.ts';
import type { StoredPolicy } from '../policy/stored-policy.ts';
import { accessPolicyIdOf, assignAccessPolicy } from '../records/access-policy-store.ts';
import { authProviderIdsOf } from '../records/auth-provider-store.ts';
import { environmentIdsOf } from '../records/environment-store.ts';
import { checkNothingBelow } from '../records/names-below.ts';
import { checkPeopleProvable } from '../records/policy-warning-store.ts';
import {
  findShareDomain,
  insertShareDomain,
  listShareDomains,
  shareDomainView,
} from '../records/share-domain-store.ts';
import { findSharePolicy, putSharePolicy } from '../records/share-policy-store.ts';
import { findShare, findShareForUpdate } from '../records/share-record.ts';
import { createOrTakeBackShare, lockShareName, type NewShare } from '../records/share-store.ts';
import { findShareUpstream, putShareUpstream } from '../records/share-upstream-store.ts';
import { upstreamProblem } from '../records/upstream-check.ts';

/** What an event of the audit trail says of one change. */
export interface ShareRequestChange {
  readonly action:
    | 'createShare'
    | 'takeBackShare'
    | 'changeShareUpstream'
    | 'replaceSharePolicy'
    | 'addShareDomain';
  readonly target: { readonly kind: 'share'; readonly id: string };
  readonly before?: object | undefined;
  readonly after: object;
}

export interface ShareRequestAudit {
  readonly view: (share: Share) => object;
  readonly append: (change: ShareRequestChange) => Promise<void>;
}

export interface MadeShare {
  readonly share: Share;
  readonly upstream: ShareUpstream;
}

interface Requester {
  readonly frontdoorId: string;
  readonly environmentId: string;
  readonly nowMs: number;
  /** Those of the installation's APIs. */
  readonly ownUrls: readonly string[];
}

/** A request whose names are ids, and whose policy may be stored. */
export interface WantedShare {
  readonly share: NewShare;
  readonly upstream: NonNullable<HostedShareRequest['upstream']>;
  readonly policy: WantedPolicy | undefined;
  /** Domains that it gets; it keeps its others. */
  readonly domains: readonly string[];
}

const checkPolicy = bodyCheckOf(Type.Object({ policy: Type.Optional(sharePolicyReplacementSchema) }));

/** Throws `invalid` or `notFound`. Hashes passwords, which is slow, so that it must not run in a transaction. */
export async function wantedShareOf(
  db: Queries,
  request: HostedShareRequest,
  { ownUrls, ...requester }: Requester,
): Promise<WantedShare> {
  const { upstream = {}, policy, sharedPolicy, authProviders, grants, domains = [], ...rest } = request;
  const problem = upstreamProblem(upstream);
  if (problem !== undefined) throw invalidValue(`upstream.${problem.field}`, problem.rule);
  for (const domain of domains) await checkDomainName('domains', domain, ownUrls);
  const { frontdoorId } = requester;
  checkPolicy({ policy });
  if (policy !== undefined && sharedPolicy !== undefined)
    throw invalidValue('sharedPolicy', 'absent where a policy is given');
  const share = {
    ...rest,
    ...requester,
    grants: grants ? await environmentIdsOf(db, frontdoorId, grants) : undefined,
    authProviderIds: authProviders && (await authProviderIdsOf(db, frontdoorId, authProviders)),
    targetByAgent: true,
    // Rules of its own take the place of a shared policy.
    policyId:
      sharedPolicy === undefined ? policy && null : await accessPolicyIdOf(db, frontdoorId, sharedPolicy),
  };
  if (policy === undefined) return { share, upstream, domains, policy: undefined };
  const name = rest.name ?? undefined;
  const standing = name === undefined ? undefined : await findShare(db, frontdoorId, name);
  const stored = standing && (await findSharePolicy(db, standing.id));
  const body = await withKeptPasswords(policy, stored);
  return { share, upstream, domains, policy: await wantedPolicyOf(body) };
}

/** Returns the share if it is as the request wants it, so that nothing must be written. */
export async function standingShare(db: Queries, wanted: WantedShare): Promise<MadeShare | undefined> {
  const { share, policy } = wanted;
  const name = share.name ?? undefined;
  const hasGuards =
    policy !== undefined || share.authProviderIds !== undefined || share.policyId !== undefined;
  if (name === undefined || !hasGuards) return undefined;
  const is = await findShare(db, share.frontdoorId, name);
  if (is === undefined || !isAsWanted(is, share)) return undefined;
  const upstream = await findShareUpstream(db, is.id);
  if (!hasUpstream(upstream, wanted.upstream)) return undefined;
  if (policy !== undefined && !isSamePolicy(policy, await findSharePolicy(db, is.id))) return undefined;
  const has = new Set((await listShareDomains(db, is.id)).map(({ hostname }) => hostname));
  if (!wanted.domains.every((domain) => has.has(domain.toLowerCase()))) return undefined;
  return { share: is, upstream };
}

/** Runs in a transaction. */
export async function makeShare(
  trx: Queries,
  touch: Touch,
  wanted: WantedShare,
  audit: ShareRequestAudit,
): Promise<MadeShare> {
  const { nowMs } = wanted.share;
  const former = await ownPolicy(trx, wanted.share);
  const policy = wanted.policy && settledPolicy(wanted.policy, former?.policy);
  // Stored first: rules about people may be removed together with the provider that proves them.
  if (wanted.policy !== undefined && former !== undefined) {
    await assignAccessPolicy(trx, touch, former.share, null, nowMs);
    await putSharePolicy(trx, touch, former.share.id, policy, nowMs);
  }
  const { before, share } = await createOrTakeBackShare(trx, touch, wanted.share);
  const target = { kind: 'share', id: share.token } as const;
  await audit.append({
    action: before === undefined ? 'createShare' : 'takeBackShare',
    target,
    before: before && audit.view(before),
    after: audit.view(share),
  });
  if (wanted.policy !== undefined && !isSamePolicy(wanted.policy, former?.policy)) {
    if (former === undefined) await putSharePolicy(trx, touch, share.id, policy, nowMs);
    checkPortGuards(share, policy);
    if (policy !== undefined && hasPeopleRules(policy)) await checkPeopleProvable(trx, share, policy);
    if (policy?.policy.hsts?.includeSubdomains === true) await checkNothingBelow(trx, share);
    await audit.append({
      action: 'replaceSharePolicy',
      target,
      before: { policy: former?.policy?.policy ?? DEFAULT_POLICY },
      // Only the names of users with a new password are recorded, never the passwords.
      after: { policy: policy?.policy ?? DEFAULT_POLICY, newPasswords: [...wanted.policy.newHashes.keys()] },
    });
  }
  const formerUpstream = await findShareUpstream(trx, share.id);
  const upstream = changedUpstream(formerUpstream, wanted.upstream);
  if (!isSameUpstream(formerUpstream, upstream)) {
    await putShareUpstream(trx, touch, share.id, upstream, nowMs);
    await audit.append({
      action: 'changeShareUpstream',
      target,
      before: { upstream: formerUpstream },
      after: { upstream },
    });
  }
  await addDomains(trx, touch, share, wanted, audit);
  return { share, upstream };
}

async function addDomains(
  trx: Queries,
  touch: Touch,
  share: Share,
  { domains, share: { nowMs } }: WantedShare,
  audit: ShareRequestAudit,
): Promise<void> {
  for (const hostname of domains) {
    if ((await findShareDomain(trx, share.id, hostname)) !== undefined) continue;
    const claim = { hostname, nowMs, claimEndsAtMs: nowMs + CLAIM_MS };
    const domain = await insertShareDomain(trx, touch, share, claim);
    const target = { kind: 'share', id: share.token } as const;
    await audit.append({ action: 'addShareDomain', target, after: shareDomainView(domain) });
  }
}

/** The policy of the environment's share of this name, which stays as it is until the transaction ends. */
async function ownPolicy(
  trx: Queries,
  { frontdoorId, environmentId, name }: NewShare,
): Promise<{ readonly share: Share; readonly policy: StoredPolicy | undefined } | undefined> {
  if (typeof name !== 'string') return undefined;
  await lockShareName(trx, frontdoorId, name);
  const share = await findShareForUpdate(trx, frontdoorId, name);
  if (share?.environmentId !== environmentId) return undefined;
  return { share, policy: await findSharePolicy(trx, share.id) };
}

function isAsWanted(is: Share, wanted: NewShare): boolean {
  return (
    is.environmentId === wanted.environmentId &&
    is.targetByAgent &&
    is.reserved &&
    is.shareMode === wanted.shareMode &&
    is.backendMode === wanted.backendMode &&
    is.target === parseShareTarget(wanted.target)?.url &&
    is.ingress === (wanted.ingress ?? is.ingress) &&
    is.ingressPort === (wanted.ingressPort ?? is.ingressPort) &&
    isDeepStrictEqual(is.grants, (wanted.grants ?? []).toSorted()) &&
    isDeepStrictEqual(is.authProviderIds, wanted.authProviderIds ?? is.authProviderIds) &&
    is.accessPolicyId === (wanted.policyId === undefined ? is.accessPolicyId : wanted.policyId)
  );
}

function isSamePolicy({ policy, newHashes }: WantedPolicy, stored: StoredPolicy | undefined): boolean {
  return newHashes.size === 0 && JSON.stringify(policy) === JSON.stringify(stored?.policy ?? DEFAULT_POLICY);
}

/** A password that the user has already is masked, which keeps it. */
async function withKeptPasswords(
  body: SharePolicyBody,
  stored: StoredPolicy | undefined,
): Promise<SharePolicyBody> {
  const users = (body.basicAuth ?? []).map(async ({ name, password }) => {
    const hash = stored?.passwordHashes.get(name);
    const isKept = hash !== undefined && (await hashPassword(password, hash)) === hash;
    return { name, password: isKept ? MASK : password };
  });
  return { ...body, basicAuth: await Promise.all(users) };
}
