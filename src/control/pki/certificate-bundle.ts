/**
 * The degenerate PKCS#7 (RFC 2315 SignedData with certificates only, without content and signers) in which
 * OpenZiti's clients fetch the trust bundle. Hand-written DER: six fixed fields around encoded certificates.
 */
import { concatBytes } from '#base';

const SIGNED_DATA = Uint8Array.of(0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02);
const DATA = Uint8Array.of(0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01);
const VERSION_1 = Uint8Array.of(0x02, 0x01, 0x01);
const SEQUENCE = 0x30;
const SET = 0x31;
const CONTEXT_0 = 0xa0;

/** Base64 in lines of 64 characters, each ended by a line feed. */
export function certificateBundleBase64(certificates: readonly Uint8Array[]): string {
  const signedData = element(SEQUENCE, [
    VERSION_1,
    element(SET, []),
    element(SEQUENCE, [DATA]),
    element(CONTEXT_0, certificates),
    element(SET, []),
  ]);
  const bundle = element(SEQUENCE, [SIGNED_DATA, element(CONTEXT_0, [signedData])]);
  return Buffer.from(bundle)
    .toString('base64')
    .replaceAll(/.{1,64}/g, (line) => `${line}\n`);
}

function element(tag: number, parts: readonly Uint8Array[]): Uint8Array {
  const content = concatBytes(parts);
  return concatBytes([Uint8Array.of(tag, ...lengthOctets(content.length)), content]);
}

function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length];
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return [0x80 | octets.length, ...octets];
}
