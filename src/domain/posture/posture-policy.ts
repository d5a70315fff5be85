/**
 * Decides whether the posture of a device passes a posture check, at routers and at control planes. The device reports its posture
 * itself, except the time of its last one-time password, which a controller signs. Data that is missing passes no check.
 */
import { isVersionIn } from './version-range-policy.ts';

/** A process as the device reports it. */
export interface ReportedProcess {
  readonly path: string;
  readonly isRunning: boolean;
  readonly hash: string;
  readonly signerFingerprints: readonly string[];
}

export interface ProcessCheck {
  readonly osType: string;
  readonly path: string;
  /** Empty: any. */
  readonly hashes: readonly string[];
  /** Empty: any. */
  readonly fingerprints: readonly string[];
}

export interface MfaCheck {
  /** -1: no timeout. */
  readonly timeoutSeconds: bigint;
  readonly promptOnWake: boolean;
  readonly promptOnUnlock: boolean;
  /** Routers and control planes of OpenZiti permit nothing by it either. */
  readonly ignoreLegacyEndpoints?: boolean;
}

/** What a check demands, in the form of the router data model. */
export interface PostureCheck {
  readonly subtype:
    | {
        readonly case: 'osList';
        readonly value: {
          readonly osList: readonly { readonly osType: string; readonly osVersions: readonly string[] }[];
        };
      }
    | { readonly case: 'domains'; readonly value: { readonly domains: readonly string[] } }
    | { readonly case: 'mac'; readonly value: { readonly macAddresses: readonly string[] } }
    | { readonly case: 'process'; readonly value: ProcessCheck }
    | {
        readonly case: 'processMulti';
        readonly value: { readonly semantic: string; readonly processes: readonly ProcessCheck[] };
      }
    | { readonly case: 'mfa'; readonly value: MfaCheck }
    | { readonly case: undefined; readonly value?: undefined };
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
  /** The device reports its operating system only when a check of its type asks for it, so processes do not need it. */
  readonly isOsOptional?: boolean;
}

/** `timeoutSeconds` of a check without a timeout. */
export const NO_TIMEOUT_S = -1;
/** Time after waking or unlocking within which the one-time password has to be entered again. */
const PROMPT_GRACE_MS = 5 * 60_000;

/** Returns the reason why a check fails, or undefined if it passes. */
export function postureFault(
  check: PostureCheck,
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
      return overlap([posture.domain], subtype.value.domains, sameCase)
        ? undefined
        : 'the domain is not one of the check';
    }
    case 'mac': {
      const { macAddresses: given } = posture;
      if (given === undefined) return 'the device has reported no MAC address';
      const isListed = overlap(given, subtype.value.macAddresses, hexOf);
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
  check: { readonly semantic: string; readonly processes: readonly ProcessCheck[] },
  posture: Posture,
): string | undefined {
  const faults = check.processes.map((process) => processFault(process, posture));
  if (check.semantic === 'AllOf') return faults.find((fault) => fault !== undefined);
  if (check.semantic !== 'AnyOf') return 'this router does not know the semantic of the check';
  return faults.includes(undefined) ? undefined : (faults[0] ?? 'the check names no process');
}

function processFault(
  { osType, path, hashes, fingerprints }: ProcessCheck,
  { processes, os, isOsOptional = false }: Posture,
): string | undefined {
  const given = processes.get(path);
  if (path === '' || given === undefined) return 'the device has not reported the process';
  if (!given.isRunning) return 'the process is not running';
  if (!(os === undefined && isOsOptional) && !isSameType(osType, os?.type ?? ''))
    return 'the process is of another operating system';
  if (hashes.length > 0 && !overlap([given.hash], hashes, hexOf))
    return 'the hash of the process is not one of the check';
  const isSigned = overlap(given.signerFingerprints, fingerprints, hexOf);
  return fingerprints.length === 0 || isSigned
    ? undefined
    : 'the signer of the process is not one of the check';
}

function mfaFault(
  check: MfaCheck,
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

/**
 * Returns the seconds for which the last one-time password is still enough: 0 if it is not, and `NO_TIMEOUT_S` if it is
 * until something else happens.
 */
export function mfaRemainingS(check: MfaCheck, posture: Posture | undefined, nowMs: number): number {
  const { timeoutSeconds, promptOnWake, promptOnUnlock } = check;
  const passedMs = posture?.passedMfaMs;
  if (posture === undefined || passedMs === undefined)
    return Number(timeoutSeconds) === NO_TIMEOUT_S ? NO_TIMEOUT_S : 0;
  const ends = [promptOnWake ? posture.wokenMs : undefined, promptOnUnlock ? posture.unlockedMs : undefined]
    .filter((ms) => ms !== undefined && ms > passedMs)
    .map((ms) => ms! + PROMPT_GRACE_MS);
  if (Number(timeoutSeconds) !== NO_TIMEOUT_S) ends.push(passedMs + Number(timeoutSeconds) * 1_000);
  if (ends.length === 0) return NO_TIMEOUT_S;
  return Math.max(0, Math.floor((Math.min(...ends) - nowMs) / 1_000));
}

function isSameType(a: string, b: string): boolean {
  return sameCase(a) === sameCase(b);
}

function overlap(
  given: readonly string[],
  wanted: readonly string[],
  formOf: (text: string) => string,
): boolean {
  const forms = new Set(given.map(formOf));
  return wanted.some((one) => forms.has(formOf(one)));
}

function sameCase(text: string): string {
  return text.toLowerCase();
}

/** The digits of a hash or an address, which people and systems write with different separators. */
function hexOf(text: string): string {
  const digits = text.toLowerCase().replace(/[^0-9a-f]/g, '');
  return digits === '' ? text : digits;
}
