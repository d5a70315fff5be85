/** What libsodium made, in test/vectors/libsodium-secret-stream.json. */
import { readFileSync } from 'node:fs';

interface SodiumVectors {
  readonly streams: readonly {
    readonly key: string;
    readonly header: string;
    readonly messages: readonly { readonly text: string; readonly tag: number; readonly sealed: string }[];
  }[];
  readonly large: readonly {
    readonly key: string;
    readonly header: string;
    readonly bytes: number;
    readonly seed: number;
    readonly sealedSha256: string;
  }[];
  readonly exchanges: readonly {
    readonly dialer: SodiumKeyPair;
    readonly host: SodiumKeyPair;
    readonly dialerReceives: string;
    readonly dialerSends: string;
  }[];
}

interface SodiumKeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

const FILE = new URL('../vectors/libsodium-secret-stream.json', import.meta.url);

export function loadSodiumVectors(): SodiumVectors {
  return JSON.parse(readFileSync(FILE, 'utf8')) as SodiumVectors;
}

/** The text of a large message. */
export function largeText(bytes: number, seed: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, at) => (seed * 31 + at * 7) & 255);
}
