/**
 * What policies demand of the device of a session, in OpenZiti's form: SDKs report what `postureQueries` ask for, and
 * administrators and users see which policy fails.
 */
import { mfaRemainingS, NO_TIMEOUT_S, postureFault, type MfaCheck, type Posture } from '#domain/posture';
import type { ApiSession, EdgeModel, FailedPolicy, KnownCheck } from '../../overlay/model/mod.ts';
import { EdgeApiRefusal } from '../../overlay/clients/mod.ts';
import { isoTime } from './service-view.ts';

type Asking = Pick<ApiSession, 'identityId' | 'posture' | 'isSigned'>;
type View = Record<string, unknown>;
const TYPES = ['Dial', 'Bind'] as const;

/** One entry for each policy that grants the service; none if no policy demands anything. */
export function postureQueriesOf(edge: EdgeModel, session: Asking, serviceId: string, nowMs: number): View[] {
  if (edge.postureChecks.size === 0) return [];
  const { identityId, posture } = session;
  const policies = TYPES.flatMap((type) => [...edge.grantingPolicies(type, identityId, serviceId)]);
  if (policies.every((policy) => edge.postureChecks.of(policy).length === 0)) return [];
  return policies.map((policy) => {
    const queries = edge.postureChecks.of(policy).map((known) => queryOf(known, posture, nowMs));
    return {
      policyId: policy.id,
      policyType: policy.type,
      isPassing: queries.every(({ isPassing }) => isPassing === true),
      postureQueries: queries,
    };
  });
}

function queryOf({ record, check }: KnownCheck, posture: Posture | undefined, nowMs: number): View {
  const { id, data, tags } = record;
  const { subtype } = check;
  const mfa = subtype.case === 'mfa' ? subtype.value : undefined;
  const timeoutRemaining = mfa === undefined ? NO_TIMEOUT_S : mfaRemainingS(mfa, posture, nowMs);
  const changedAtMs = Math.max(record.updatedAtMs, mfa === undefined ? 0 : promptedMs(mfa, posture));
  const processes = subtype.case === 'processMulti' ? subtype.value.processes : [];
  return {
    _links: { self: { href: `./posture-checks/${id}` } },
    id,
    createdAt: isoTime(record.createdAtMs),
    updatedAt: isoTime(changedAtMs),
    tags,
    queryType: data['typeId'],
    isPassing: postureFault(check, posture, nowMs) === undefined,
    timeout: mfa === undefined ? NO_TIMEOUT_S : Number(mfa.timeoutSeconds),
    timeoutRemaining,
    ...(timeoutRemaining < 0 ? {} : { timeoutAt: isoTime(nowMs + timeoutRemaining * 1_000) }),
    ...(subtype.case === 'process' ? { process: queriedProcess(subtype.value) } : {}),
    processes: processes.map(queriedProcess),
    ...(mfa === undefined ? {} : { promptOnWake: mfa.promptOnWake, promptOnUnlock: mfa.promptOnUnlock }),
  };
}

function queriedProcess({ osType, path }: { readonly osType: string; readonly path: string }): View {
  return { osType, path };
}

/** When the device last did what asks for another one-time password. */
function promptedMs({ promptOnWake, promptOnUnlock }: MfaCheck, posture: Posture | undefined): number {
  return Math.max(
    promptOnWake ? (posture?.wokenMs ?? 0) : 0,
    promptOnUnlock ? (posture?.unlockedMs ?? 0) : 0,
  );
}

/** The services for which the device has to enter another one-time password, because it was woken or unlocked. */
export function promptedServices(
  edge: EdgeModel,
  { identityId, posture }: Asking,
  nowMs: number,
  asks: (check: MfaCheck) => boolean,
): View[] {
  if (!edge.postureChecks.areTimed || posture?.passedMfaMs === undefined) return [];
  return edge.servicesOf(identityId).flatMap(({ id, name }) => {
    const checks = TYPES.flatMap((type) => [...edge.grantingPolicies(type, identityId, id)])
      .flatMap((policy) => edge.postureChecks.of(policy))
      .flatMap(({ check: { subtype } }) =>
        subtype.case === 'mfa' && asks(subtype.value) ? [subtype.value] : [],
      );
    if (checks.length === 0) return [];
    const timeout = Math.min(...checks.map(({ timeoutSeconds }) => Number(timeoutSeconds)));
    const timeoutRemaining = Math.min(
      ...checks.map((check) => mfaRemainingS(check, posture, nowMs)).filter((seconds) => seconds >= 0),
    );
    return [{ id, name, postureQueryType: 'MFA', timeout, timeoutRemaining }];
  });
}

/** OpenZiti's refusal of a service session: what failed, by policy. */
export function postureRefusal(failed: readonly FailedPolicy[]): EdgeApiRefusal {
  const refusal = new EdgeApiRefusal(
    'conflict',
    'INVALID_POSTURE',
    'Posture response data is missing or wrong',
  );
  const ids = failed.map(({ policy }) => policy.id);
  const data = Object.fromEntries(
    failed.map(({ policy, checks }) => [
      policy.id,
      checks.map(({ id, data: { typeId } }) => ({ id, typeId, isPassing: false })),
    ]),
  );
  refusal.reason = 'posture';
  refusal.detail = {
    message: `Failed to pass posture checks for service policies: [${ids.join(' ')}]`,
    data,
  };
  return refusal;
}
