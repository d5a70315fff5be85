/** Time-based one-time passwords (RFC 6238): SHA-1, steps of 30 s, six digits, as authenticator apps make them. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export const TOTP_STEP_MS = 30_000;
const DIGITS = 6;
/** Codes of the step before and the one after are accepted, for clocks that differ. */
const TOLERATED_STEPS = 1;

/** Returns the step of a code; undefined if the code is wrong, or its step not later than `lastStep`. */
export function stepOfCode(
  secret: Uint8Array,
  code: string,
  nowMs: number,
  lastStep: number,
): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const present = Math.floor(nowMs / TOTP_STEP_MS);
  let found: number | undefined;
  // Each step is compared, so that the time does not depend on the one that fits.
  for (let step = present - TOLERATED_STEPS; step <= present + TOLERATED_STEPS; step += 1) {
    const isEqual = timingSafeEqual(Buffer.from(codeOfStep(secret, step)), Buffer.from(code));
    if (isEqual && step > lastStep) found ??= step;
  }
  return found;
}

/** Returns the code at a time. */
export function codeAt(secret: Uint8Array, nowMs: number): string {
  return codeOfStep(secret, Math.floor(nowMs / TOTP_STEP_MS));
}

function codeOfStep(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.max(0, step)));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac[mac.length - 1]! & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}
