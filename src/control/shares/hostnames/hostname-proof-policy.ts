/**
 * Decides what the answers of DNS prove about a custom frontend's hostname, and when DNS is asked next. A proof is lost only
 * by answers that deny it, over days: name servers that fail change nothing. ADR 0061.
 */
import type { TxtAnswer } from '#domain';
import type { HostnameProof } from '../../store/schema/mod.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** A claim that proves nothing ends after this time. */
export const CLAIM_MS = 14 * DAY_MS;
/** A proven hostname is served for this time after its record is gone. */
export const MISSING_MS = 3 * DAY_MS;
const CHALLENGE_LABEL = '_frontdoor-challenge';
const FIRST_RETRY_MS = 30 * SECOND_MS;
const RETRY_FACTOR = 1.5;
/** The jitter spreads the look-ups of names that were proven together. */
const JITTER = 0.2;

/** The name of the TXT record that proves a hostname or a domain. */
export function challengeName(name: string): string {
  return `${CHALLENGE_LABEL}.${name}`;
}

/** The value that the record has for an organization. It is public, and the same for all names of the organization. */
export function challengeValue(organizationId: string): string {
  return `frontdoor-organization=${organizationId}`;
}

/** Some providers of DNS keep the quotes that people type. */
export function hasValue({ values }: TxtAnswer, value: string): boolean {
  return values.some((each) => each.trim().replaceAll(/^"|"$/g, '').toLowerCase() === value);
}

export interface ProofQuestion {
  readonly hostname: string;
  /** The registrable domain: `hostname` itself, or one above it. */
  readonly domain: string;
  /** Whether another organization has proven the domain: then only a record of the domain proves names below it. */
  readonly isDomainOfAnother: boolean;
  /** The value of the organization. */
  readonly value: string;
}

export type ProofVerdict =
  /** `provenBy` is the hostname or its domain. */
  | { readonly outcome: 'proven'; readonly provenBy: string }
  | { readonly outcome: 'absent' | 'unknown'; readonly problem: string };

/** `ofDomain` is the same answer where the hostname is a registrable domain. */
export function judgeProof(question: ProofQuestion, ofName: TxtAnswer, ofDomain: TxtAnswer): ProofVerdict {
  const { hostname, domain, isDomainOfAnother, value } = question;
  if (hasValue(ofDomain, value)) return { outcome: 'proven', provenBy: domain };
  if (!isDomainOfAnother && hasValue(ofName, value)) return { outcome: 'proven', provenBy: hostname };
  const failed = ofDomain.problem ?? (isDomainOfAnother ? undefined : ofName.problem);
  if (failed !== undefined) return { outcome: 'unknown', problem: `DNS did not answer: ${failed}` };
  const wanted = challengeName(isDomainOfAnother ? domain : hostname);
  const why = isDomainOfAnother ? `another organization has proven ${domain}, and ` : '';
  const { values } = isDomainOfAnother ? ofDomain : ofName;
  const found =
    values.length === 0 ? 'there is no TXT record' : 'no TXT record has the value of your organization';
  return { outcome: 'absent', problem: `${why}${found} at ${wanted}` };
}

export interface ProofState {
  readonly proof: HostnameProof;
  /** See `HostnameClaimTable.proof_ends_at`. */
  readonly endsAtMs: number | null;
  /** Look-ups in a row that proved nothing. */
  readonly misses: number;
}

export type ProofStep =
  | { readonly type: 'keep'; readonly state: ProofState; readonly dueInMs: number }
  | { readonly type: 'prove'; readonly state: ProofState; readonly dueInMs: number }
  /** The record of a proven hostname is gone: it is served until `state.endsAtMs`. */
  | { readonly type: 'miss'; readonly state: ProofState; readonly dueInMs: number }
  /** The hostname is no longer served, and a claim again. */
  | { readonly type: 'lose'; readonly state: ProofState; readonly dueInMs: number }
  /** The claim has ended. */
  | { readonly type: 'end' };

/** `random` is from 0 to 1. */
export function nextProof(
  { proof, endsAtMs, misses }: ProofState,
  outcome: ProofVerdict['outcome'],
  nowMs: number,
  random: number,
): ProofStep {
  const spread = (ms: number): number => Math.round(ms * (1 - JITTER + 2 * JITTER * random));
  if (outcome === 'proven') {
    const state = { proof: 'PROVEN', endsAtMs: null, misses: 0 } as const;
    return { type: proof === 'PROVEN' ? 'keep' : 'prove', state, dueInMs: spread(DAY_MS) };
  }
  const isOver = endsAtMs !== null && nowMs >= endsAtMs;
  const missed = { proof, endsAtMs, misses: misses + 1 };
  const retryMs = (mostMs: number): number =>
    spread(Math.min(mostMs, FIRST_RETRY_MS * RETRY_FACTOR ** Math.min(misses, 40)));
  if (proof === 'PENDING')
    return isOver ? { type: 'end' } : { type: 'keep', state: missed, dueInMs: retryMs(HOUR_MS) };
  if (proof === 'PROVEN' && outcome === 'absent')
    return {
      type: 'miss',
      state: { proof: 'MISSING', endsAtMs: nowMs + MISSING_MS, misses: 1 },
      dueInMs: spread(HOUR_MS),
    };
  if (proof === 'MISSING') {
    if (outcome === 'absent' && isOver)
      return { type: 'lose', state: lostAt(nowMs), dueInMs: spread(MINUTE_MS) };
    return { type: 'keep', state: missed, dueInMs: spread(HOUR_MS) };
  }
  // A proven name whose name servers fail, and one that an operator granted.
  return {
    type: 'keep',
    state: missed,
    dueInMs: proof === 'PROVEN' ? Math.max(MINUTE_MS, retryMs(DAY_MS)) : spread(DAY_MS),
  };
}

/** The state of a claim that begins. */
export function lostAt(nowMs: number): ProofState {
  return { proof: 'PENDING', endsAtMs: nowMs + CLAIM_MS, misses: 0 };
}
