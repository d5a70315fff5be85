/** Recovery codes: each replaces a one-time password once, for people and machines that have lost the app. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { base32 } from '../../secrets/mod.ts';

const RECOVERY_CODES = 20;
/** 50 bits: ten characters. */
const RECOVERY_BYTES = 7;
const RECOVERY_CHARS = 10;

export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    base32(randomBytes(RECOVERY_BYTES)).slice(0, RECOVERY_CHARS),
  );
}

/** Returns the codes that are left after one was used; undefined for a wrong one. */
export function leftRecoveryCodes(codes: readonly string[], code: string): readonly string[] | undefined {
  const wanted = Buffer.from(code.toUpperCase());
  const kept = codes.filter((one) => {
    const bytes = Buffer.from(one);
    return bytes.length !== wanted.length || !timingSafeEqual(bytes, wanted);
  });
  return kept.length === codes.length ? undefined : kept;
}
