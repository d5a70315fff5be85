/** The client certificates of an agent for https targets, from the files that its options name. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { FrontdoorError } from '#base';
import type { AgentStartOptions } from '#cli';
import { readOptionFile, readSecretFile } from './option-file.ts';

const CERTIFICATE = '--target-client-certificate';
const KEY = '--target-client-key';
/** A value of the form `NAME=FILE`. */
const NAMED = /^([A-Za-z0-9][A-Za-z0-9_-]{0,62})=(.+)$/s;

interface TargetClientFiles {
  readonly cert: string;
  readonly key: string;
}

/** By name; that without a name has the name ''. Undefined if there is none. @throws FrontdoorError that names the option. */
export function targetClientsOf({
  targetClientCertificate = [],
  targetClientKey = [],
}: Pick<AgentStartOptions, 'targetClientCertificate' | 'targetClientKey'>):
  | ReadonlyMap<string, TargetClientFiles>
  | undefined {
  const certificates = filesOf(CERTIFICATE, targetClientCertificate);
  const keys = filesOf(KEY, targetClientKey);
  const names = new Set([...certificates.keys(), ...keys.keys()]);
  if (names.size === 0) return undefined;
  return new Map(
    [...names].map((name) => [name, targetClientOf(name, certificates.get(name), keys.get(name))]),
  );
}

function targetClientOf(
  name: string,
  certificate: string | undefined,
  privateKey: string | undefined,
): TargetClientFiles {
  const prefix = name === '' ? '' : ` ${name}=FILE`;
  if (certificate === undefined || privateKey === undefined)
    throw new FrontdoorError(
      'invalid',
      'value',
      `${CERTIFICATE}${prefix} and ${KEY}${prefix} are needed together`,
    );
  const cert = readOptionFile(certificate, CERTIFICATE);
  const key = readSecretFile(privateKey, KEY);
  // What cannot be read is not repeated, because it may be a part of a key.
  const leaf = readAs(CERTIFICATE, 'certificate', () => new X509Certificate(cert));
  const isPair = readAs(KEY, 'private key without a password', () =>
    leaf.checkPrivateKey(createPrivateKey(key)),
  );
  if (!isPair) throw new FrontdoorError('invalid', 'value', `${KEY}: the key belongs to another certificate`);
  return { cert, key };
}

function filesOf(option: string, values: readonly string[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const value of values) {
    const [, name = '', file = value] = NAMED.exec(value) ?? [];
    if (files.has(name)) {
      const which = name === '' ? 'two files without a name' : `two files named ${name}`;
      throw new FrontdoorError('invalid', 'value', `${option}: there are ${which}`);
    }
    files.set(name, file);
  }
  return files;
}

function readAs<T>(option: string, what: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw new FrontdoorError('invalid', 'value', `${option}: the file must be a ${what} in PEM`);
  }
}
