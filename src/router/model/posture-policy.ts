/**
 * Decides whether the posture of a device passes the posture checks of the data model. The device reports its posture
 * itself, except the time of its last one-time password, which a controller signs. Data that is missing passes no check.
 */
import type { DataState_PostureCheck, DataState_PostureCheck_Process } from '#wire/ctrl';
import { isVersionIn } from './version-range-policy.ts';

/** A process as the device reports it. */
export interface ReportedProcess {
  readonly path: string;
  readonly isRunning: boolean;
  readonly hash: string;
  readonly signerFingerprints: readonly string[];
}

/** The posture of a device. Undefined: not reported. */
export interface Posture {
  readonly os: { readonly type: string; readonly version: string } | undefined;
  readonly domain: string | undefined;
  readonly macAddresses: readonly string[] | undefined;
  /** By path. */
  readonly processes: ReadonlyMap<string, ReportedProcess>;
  /** When a controller last accepted a one-time password of the session. */
  readonly passedMfaMs: number | undefined;
  readonly wokenMs: number | undefined;
  readonly unlockedMs: number | undefined;
}

/** `timeoutSeconds` of a check without a timeout. */
const NO_TIMEOUT_S = -1;
/** Time after waking or unlocking within which the one-time password has to be entered again. */
const PROMPT_GRACE_MS = 5 * 60_000;

/** Returns the reason why a check fails, or undefined if it passes. */
export function postureFault(
  check: DataState_PostureCheck,
  posture: Posture | undefined,
  nowMs: number,
): string | undefined {
  if (posture === undefined) return 'the device has reported no posture';
  const { subtype } = check;
  switch (subtype.case) {
    case 'osList':
      return osFault(subtype.value.osList, posture);
    case 'domains': {
      if (posture.domain === undefined) return 'the device has reported no domain';
      return subtype.value.domains.includes(posture.domain)
        ? undefined
        : 'the domain is not one of the check';
    }
    case 'mac': {
      const { macAddresses: given } = posture;
      if (given === undefined) return 'the device has reported no MAC address';
      const isListed = subtype.value.macAddresses.some((address) => given.includes(address));
      return isListed ? undefined : 'no MAC address is one of the check';
    }
    case 'process':
      return processFault(subtype.value, posture);
    case 'processMulti':
      return processesFault(subtype.value, posture);
    case 'mfa':
      return mfaFault(subtype.value, posture, nowMs);
    default:
      return 'this router does not know the kind of the check';
  }
}

function osFault(
  list: readonly { readonly osType: string; readonly osVersions: readonly string[] }[],
  { os }: Posture,
): string | undefined {
  if (os === undefined) return 'the device has reported no operating system';
  const valid = list.find(({ osType }) => isSameType(osType, os.type));
  if (valid === undefined) return 'the operating system is not one of the check';
  // Controllers of OpenZiti accept any version where the check names none.
  if (valid.osVersions.length === 0) return undefined;
  const isValid = valid.osVersions.some((range) => isVersionIn(os.version, range));
  return isValid ? undefined : 'the version of the operating system is not one of the check';
}

function processesFault(
  check: { readonly semantic: string; readonly processes: readonly DataState_PostureCheck_Process[] },
  posture: Posture,
): string | undefined {
  const faults = check.processes.map((process) => processFault(process, posture));
  if (check.semantic === 'AllOf') return faults.find((fault) => fault !== undefined);
  if (check.semantic !== 'AnyOf') return 'this router does not know the semantic of the check';
  return faults.includes(undefined) ? undefined : (faults[0] ?? 'the check names no process');
}

function processFault(
  { osType, path, hashes, fingerprints }: DataState_PostureCheck_Process,
  { processes, os }: Posture,
): string | undefined {
  const given = processes.get(path);
  if (path === '' || given === undefined) return 'the device has not reported the process';
  if (!given.isRunning) return 'the process is not running';
  if (!isSameType(osType, os?.type ?? '')) return 'the process is of another operating system';
  if (hashes.length > 0 && !hashes.includes(given.hash))
    return 'the hash of the process is not one of the check';
  const isSigned = fingerprints.some((fingerprint) => given.signerFingerprints.includes(fingerprint));
  return fingerprints.length === 0 || isSigned
    ? undefined
    : 'the signer of the process is not one of the check';
}

function mfaFault(
  check: {
    readonly timeoutSeconds: bigint;
    readonly promptOnWake: boolean;
    readonly promptOnUnlock: boolean;
  },
  { passedMfaMs, wokenMs, unlockedMs }: Posture,
  nowMs: number,
): string | undefined {
  if (passedMfaMs === undefined) return 'no one-time password was entered';
  const timeoutS = Number(check.timeoutSeconds);
  if (timeoutS !== NO_TIMEOUT_S && passedMfaMs + timeoutS * 1_000 < nowMs)
    return 'the last one-time password is too old';
  const isDue = (sinceMs: number | undefined): boolean =>
    sinceMs !== undefined && sinceMs > passedMfaMs && nowMs > sinceMs + PROMPT_GRACE_MS;
  if (check.promptOnWake && isDue(wokenMs)) return 'no one-time password was entered after the device woke';
  if (check.promptOnUnlock && isDue(unlockedMs))
    return 'no one-time password was entered after the device was unlocked';
  return undefined;
}

function isSameType(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
