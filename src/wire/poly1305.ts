/**
 * Poly1305 of RFC 8439, for one message after the other. Numbers of 130 bits are six limbs of 22 bits, so that a sum of their products stays below 2^53
 * and is exact. No branch and no index depends on a secret.
 */

import { writeU32 } from './frame-headers.ts';

export const MAC_BYTES = 16;
const WORD = 2 ** 32;
const BLOCK_BYTES = 16;
const LIMB = 2 ** 22;
const LIMB_MASK = LIMB - 1;
const PER_LIMB = 1 / LIMB;
/** Limb 5 begins at bit 110: its bit 18 is above a whole block, and its bit 20 is the modulus 2^130 - 5. */
const ABOVE_BLOCK = 2 ** 18;
const ABOVE_MODULUS = 2 ** 20;
/** 2^132 and 2^130 modulo 2^130 - 5. */
const LIMBS_WRAP = 20;
const MODULUS_WRAP = 5;

export class Poly1305 {
  /** The multiplier, and its limbs times `LIMBS_WRAP`. */
  readonly #r = new Float64Array(6);
  readonly #s = new Float64Array(6);
  readonly #h = new Float64Array(6);
  readonly #reduced = new Float64Array(6);
  readonly #pad = new Uint32Array(4);
  readonly #block = new Uint8Array(BLOCK_BYTES);

  /** Begins a message. `key`: 8 words, which may authenticate this message only. */
  begin(key: Uint32Array): void {
    this.#h.fill(0);
    setLimbs(this.#r, key[0]! & 0x0fffffff, key[1]! & 0x0ffffffc, key[2]! & 0x0ffffffc, key[3]! & 0x0ffffffc);
    for (let limb = 0; limb < 6; limb += 1) this.#s[limb] = this.#r[limb]! * LIMBS_WRAP;
    for (let word = 0; word < 4; word += 1) this.#pad[word] = key[4 + word]!;
  }

  /** Adds the bytes in `[from, to)`, which are whole blocks of 16. */
  update(data: Uint8Array, from: number, to: number): void {
    const r = this.#r;
    const s = this.#s;
    const h = this.#h;
    const r0 = r[0]!;
    const r1 = r[1]!;
    const r2 = r[2]!;
    const r3 = r[3]!;
    const r4 = r[4]!;
    const r5 = r[5]!;
    const s1 = s[1]!;
    const s2 = s[2]!;
    const s3 = s[3]!;
    const s4 = s[4]!;
    const s5 = s[5]!;
    let h0 = h[0]!;
    let h1 = h[1]!;
    let h2 = h[2]!;
    let h3 = h[3]!;
    let h4 = h[4]!;
    let h5 = h[5]!;
    for (let at = from; at < to; at += BLOCK_BYTES) {
      const t0 = data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24);
      const t1 = data[at + 4]! | (data[at + 5]! << 8) | (data[at + 6]! << 16) | (data[at + 7]! << 24);
      const t2 = data[at + 8]! | (data[at + 9]! << 8) | (data[at + 10]! << 16) | (data[at + 11]! << 24);
      const t3 = data[at + 12]! | (data[at + 13]! << 8) | (data[at + 14]! << 16) | (data[at + 15]! << 24);
      h0 += t0 & LIMB_MASK;
      h1 += ((t0 >>> 22) | (t1 << 10)) & LIMB_MASK;
      h2 += ((t1 >>> 12) | (t2 << 20)) & LIMB_MASK;
      h3 += (t2 >>> 2) & LIMB_MASK;
      h4 += ((t2 >>> 24) | (t3 << 8)) & LIMB_MASK;
      h5 += (t3 >>> 14) | ABOVE_BLOCK;
      const p0 = h0 * r0 + h1 * s5 + h2 * s4 + h3 * s3 + h4 * s2 + h5 * s1;
      const c0 = Math.floor(p0 * PER_LIMB);
      const p1 = h0 * r1 + h1 * r0 + h2 * s5 + h3 * s4 + h4 * s3 + h5 * s2 + c0;
      const c1 = Math.floor(p1 * PER_LIMB);
      const p2 = h0 * r2 + h1 * r1 + h2 * r0 + h3 * s5 + h4 * s4 + h5 * s3 + c1;
      const c2 = Math.floor(p2 * PER_LIMB);
      const p3 = h0 * r3 + h1 * r2 + h2 * r1 + h3 * r0 + h4 * s5 + h5 * s4 + c2;
      const c3 = Math.floor(p3 * PER_LIMB);
      const p4 = h0 * r4 + h1 * r3 + h2 * r2 + h3 * r1 + h4 * r0 + h5 * s5 + c3;
      const c4 = Math.floor(p4 * PER_LIMB);
      const p5 = h0 * r5 + h1 * r4 + h2 * r3 + h3 * r2 + h4 * r1 + h5 * r0 + c4;
      const c5 = Math.floor(p5 * PER_LIMB);
      const wrapped = p0 - c0 * LIMB + c5 * LIMBS_WRAP;
      const carry = Math.floor(wrapped * PER_LIMB);
      h0 = wrapped - carry * LIMB;
      h1 = p1 - c1 * LIMB + carry;
      h2 = p2 - c2 * LIMB;
      h3 = p3 - c3 * LIMB;
      h4 = p4 - c4 * LIMB;
      h5 = p5 - c5 * LIMB;
    }
    h[0] = h0;
    h[1] = h1;
    h[2] = h2;
    h[3] = h3;
    h[4] = h4;
    h[5] = h5;
  }

  /** Adds the first `length` bytes of `tail`, the last ones of the message, and writes its code to `out` from `at` on. */
  finish(tail: Uint8Array, length: number, out: Uint8Array, at: number): void {
    const wholeBytes = length - (length % BLOCK_BYTES);
    this.update(tail, 0, wholeBytes);
    if (wholeBytes < length) this.#updateShort(tail, wholeBytes, length);
    this.#digest(out, at);
  }

  /** A short block has its highest bit behind its last byte. `update` adds that of a whole block, which is removed. */
  #updateShort(tail: Uint8Array, from: number, to: number): void {
    const block = this.#block;
    block.fill(0);
    for (let at = from; at < to; at += 1) block[at - from] = tail[at]!;
    block[to - from] = 1;
    this.#h[5]! -= ABOVE_BLOCK;
    this.update(block, 0, BLOCK_BYTES);
  }

  #digest(out: Uint8Array, at: number): void {
    const h = this.#h;
    carryAll(h);
    carryAll(h);
    // The sum with 5 exceeds 2^130 exactly when the number is not below the modulus.
    const reduced = this.#reduced;
    for (let limb = 0; limb < 6; limb += 1) reduced[limb] = h[limb]!;
    reduced[0]! += MODULUS_WRAP;
    for (let limb = 0; limb < 5; limb += 1) {
      const carry = Math.floor(reduced[limb]! * PER_LIMB);
      reduced[limb]! -= carry * LIMB;
      reduced[limb + 1]! += carry;
    }
    const isAbove = Math.floor(reduced[5]! / ABOVE_MODULUS);
    for (let limb = 0; limb < 6; limb += 1) {
      h[limb] = h[limb]! * (1 - isAbove) + reduced[limb]! * isAbove;
    }
    let carry = 0;
    for (let word = 0; word < 4; word += 1) {
      const sum = wordOf(h, word) + this.#pad[word]! + carry;
      writeU32(out, at + word * 4, sum >>> 0);
      carry = Math.floor(sum / WORD);
    }
  }
}

function setLimbs(limbs: Float64Array, t0: number, t1: number, t2: number, t3: number): void {
  limbs[0] = t0 & LIMB_MASK;
  limbs[1] = ((t0 >>> 22) | (t1 << 10)) & LIMB_MASK;
  limbs[2] = ((t1 >>> 12) | (t2 << 20)) & LIMB_MASK;
  limbs[3] = (t2 >>> 2) & LIMB_MASK;
  limbs[4] = ((t2 >>> 24) | (t3 << 8)) & LIMB_MASK;
  limbs[5] = t3 >>> 14;
}

/** Bits 32 × `index` to 32 × `index` + 31 of a number whose limbs are below 2^22. */
function wordOf(limbs: Float64Array, index: number): number {
  if (index === 0) return (limbs[0]! | (limbs[1]! << 22)) >>> 0;
  if (index === 1) return ((limbs[1]! >>> 10) | (limbs[2]! << 12)) >>> 0;
  if (index === 2) return ((limbs[2]! >>> 20) | (limbs[3]! << 2) | (limbs[4]! << 24)) >>> 0;
  return ((limbs[4]! >>> 8) | (limbs[5]! << 14)) >>> 0;
}

/** Brings each limb below 2^22, and the number below 2^130 (the second time). */
function carryAll(limbs: Float64Array): void {
  const above = Math.floor(limbs[5]! / ABOVE_MODULUS);
  limbs[5]! -= above * ABOVE_MODULUS;
  limbs[0]! += above * MODULUS_WRAP;
  for (let limb = 0; limb < 5; limb += 1) {
    const carry = Math.floor(limbs[limb]! * PER_LIMB);
    limbs[limb]! -= carry * LIMB;
    limbs[limb + 1]! += carry;
  }
}
