/**
 * The key of the gateway's account at the certificate authority: made at the first start, kept in a file of its own. A
 * file that cannot be used is refused and never replaced, so that a damaged disk makes no series of accounts.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { FrontdoorError, messageOf } from '#base';
import { readPrivateFile, writeFileDurably } from '#net/files';

export interface AccountKey {
  /** PKCS#8 PEM. */
  readonly keyPem: string;
  /** RFC 7638, SHA-256, base64url. */
  readonly thumbprint: string;
}

/** @throws FrontdoorError `acme-account` that names the file and what to do. */
export async function loadAccountKey(file: string): Promise<AccountKey> {
  const read = await readPrivateFile(file);
  if ('text' in read) return accountKeyOf(read.text, file);
  if (!read.isMissing) throw refused(file, read.problem, read.cause);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  try {
    // The account is created later, with the key that is on disk.
    await writeFileDurably(file, keyPem);
  } catch (cause) {
    throw refused(file, `it cannot be written: ${messageOf(cause)}`, cause);
  }
  return accountKeyOf(keyPem, file);
}

async function accountKeyOf(keyPem: string, file: string): Promise<AccountKey> {
  let jwk;
  try {
    const key = createPrivateKey(keyPem);
    jwk = createPublicKey(key).export({ format: 'jwk' });
  } catch (cause) {
    throw refused(file, 'it is not a private key in PEM form', cause);
  }
  if (jwk.kty === 'RSA' || (jwk.kty === 'EC' && jwk.crv === 'P-256'))
    return { keyPem, thumbprint: await calculateJwkThumbprint(jwk) };
  throw refused(file, 'its key is neither EC P-256 nor RSA');
}

function refused(file: string, why: string, cause?: unknown): FrontdoorError {
  const remedy = 'restore it from a backup, or remove it: then a new account is created';
  return new FrontdoorError('invalid', 'acme-account', `account key ${file} is refused: ${why}; ${remedy}`, {
    cause,
  });
}
