/** The state of a second factor, and what a code makes of it. */
import { leftRecoveryCodes } from './recovery-codes.ts';
import { stepOfCode } from './totp-code.ts';

export interface TotpFactor {
  readonly secret: Uint8Array;
  /** The step of the last code that was accepted. */
  readonly lastStep: number;
  /** Each replaces a code once. */
  readonly recoveryCodes: readonly string[];
}

/** Limit for a code that a client sends. */
const MAX_CODE_CHARS = 64;

/** Returns the fields that change when the code is used; undefined for a wrong one. */
export function usedCode(
  { secret, lastStep, recoveryCodes }: TotpFactor,
  code: string,
  nowMs: number,
  acceptsRecovery: boolean,
): Partial<TotpFactor> | undefined {
  if (code.length > MAX_CODE_CHARS) return undefined;
  const step = stepOfCode(secret, code, nowMs, lastStep);
  if (step !== undefined) return { lastStep: step };
  const left = acceptsRecovery ? leftRecoveryCodes(recoveryCodes, code) : undefined;
  return left && { recoveryCodes: left };
}
