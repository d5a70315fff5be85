import { createHmac } from 'node:crypto';

/** The secret of an address for all hosts that have the same key. */
export function terminatorSecret(identity: string, keyPem: string): Uint8Array {
  return createHmac('sha256', keyPem).update(`terminator ${identity}`).digest();
}
