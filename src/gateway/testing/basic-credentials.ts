/** Names and passwords for tests of basic authentication. */
import { argon2Sync, randomBytes } from 'node:crypto';

/** Cheaper than the product's hashes, in the same form. */
export function cheapHashOf(password: string, memory = 64): string {
  const nonce = randomBytes(16);
  const parameters = { message: password, nonce, parallelism: 1, tagLength: 32, memory, passes: 1 };
  const text = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
  return `$argon2id$v=19$m=${memory},t=1,p=1$${text(nonce)}$${text(argon2Sync('argon2id', parameters))}`;
}

export const basicLine = (name: string, password: string): string =>
  `Authorization: Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
