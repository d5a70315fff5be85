/** The client certificate of an agent for https targets, from the files that its options name. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { FrontdoorError } from '#base';
import type { AgentStartOptions } from '#cli';
import { readOptionFile, readSecretFile } from './option-file.ts';

const CERTIFICATE = '--target-client-certificate';
const KEY = '--target-client-key';

/** Undefined if there is none. @throws FrontdoorError that names the option. */
export function targetClientOf({
  targetClientCertificate,
  targetClientKey,
}: Pick<AgentStartOptions, 'targetClientCertificate' | 'targetClientKey'>):
  | { readonly cert: string; readonly key: string }
  | undefined {
  if (targetClientCertificate === undefined && targetClientKey === undefined) return undefined;
  if (targetClientCertificate === undefined || targetClientKey === undefined)
    throw new FrontdoorError('invalid', 'value', `${CERTIFICATE} and ${KEY} are needed together`);
  const cert = readOptionFile(targetClientCertificate, CERTIFICATE);
  const key = readSecretFile(targetClientKey, KEY);
  // What cannot be read is not repeated, because it may be a part of a key.
  const leaf = readAs(CERTIFICATE, 'certificate', () => new X509Certificate(cert));
  const isPair = readAs(KEY, 'private key without a password', () =>
    leaf.checkPrivateKey(createPrivateKey(key)),
  );
  if (!isPair) throw new FrontdoorError('invalid', 'value', `${KEY}: the key belongs to another certificate`);
  return { cert, key };
}

function readAs<T>(option: string, what: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw new FrontdoorError('invalid', 'value', `${option}: the file must be a ${what} in PEM`);
  }
}
