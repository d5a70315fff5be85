/** Enrollment for programs: a token becomes an identity file. */
import { access, constants, lstat, readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { FrontdoorError } from '#base';
import { saveIdentityFile } from '#net/files';
import { outwardOf } from './outward.ts';
import { enrollIdentity } from '../enroll.ts';
import { abortable } from './abortable.ts';

export interface EnrollmentOptions {
  /** The enrollment token (a JWT). Either this or `tokenFile` is required. */
  readonly token?: string | undefined;
  /** Path of a file with the token. */
  readonly tokenFile?: string | undefined;
  /**
   * Path of the file to write. Only its owner can read it. It must not exist, unless `replace` is set; its folder must.
   */
  readonly identityFile: string;
  /** Whether an existing identity file is replaced. False by default. */
  readonly replace?: boolean | undefined;
  /** Requested name of the environment. A control plane of OpenZiti ignores it, because its tokens have names. */
  readonly name?: string | undefined;
  /** PEM anchors that the server's certificate must chain to, in addition to being proven by the token. */
  readonly ca?: string | undefined;
  /** Deadline of each of the four requests in ms; 10,000 by default. */
  readonly timeoutMs?: number | undefined;
  /**
   * The URL of a proxy for all connections, such as `http://proxy.example:3128`, or `none`. By default the variables
   * `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` decide.
   */
  readonly proxy?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface EnrollmentResult {
  /** Id of the new identity. */
  readonly id: string;
  /** `https://host:port` of the edge API. */
  readonly apiUrl: string;
  /** Absolute path of the identity file. */
  readonly identityFile: string;
}

/**
 * Exchanges a token for a certificate of a new key, and writes both into the identity file atomically, with mode 0600.
 * The key never leaves this machine. The token is spent once the file can be written. Rejects with an `SdkError`.
 */
export function enroll(options: EnrollmentOptions): Promise<EnrollmentResult> {
  return abortable(options.signal, async () => {
    const identityFile = resolve(options.identityFile);
    const jwt = await tokenOf(options);
    await checkWritable(identityFile, options.replace === true);
    const { name, ca, timeoutMs, signal } = options;
    const outward = outwardOf(options.proxy);
    const { identity, id } = await enrollIdentity({ jwt, name, ca, timeoutMs, signal, outward });
    await saveIdentityFile(identityFile, identity);
    return { id, apiUrl: identity.apiUrl, identityFile };
  });
}

async function tokenOf({ token, tokenFile }: EnrollmentOptions): Promise<string> {
  if ((token === undefined) === (tokenFile === undefined))
    throw new FrontdoorError('invalid', 'enrollment-token-missing', 'give either "token" or "tokenFile"');
  if (token !== undefined) return token;
  try {
    return await readFile(tokenFile!, 'utf8');
  } catch (cause) {
    throw new FrontdoorError(
      'invalid',
      'enrollment-token-missing',
      `the token file ${tokenFile} cannot be read`,
      { cause },
    );
  }
}

async function checkWritable(path: string, mayReplace: boolean): Promise<void> {
  const exists = await lstat(path).then(
    () => true,
    () => false,
  );
  if (exists && !mayReplace)
    throw new FrontdoorError('conflict', 'identity-file-exists', `the identity file ${path} exists`);
  try {
    await access(dirname(path), constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new FrontdoorError(
      'invalid',
      'identity-file-unwritable',
      `the identity file ${path} cannot be written`,
      { cause },
    );
  }
}
