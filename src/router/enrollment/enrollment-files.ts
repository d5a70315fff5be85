/**
 * The files that an enrollment writes. They are checked before the token is spent: each must be writable, and none may
 * belong to another router. A key that is there is used again, as OpenZiti's routers do.
 */
import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { FrontdoorError, messageOf } from '#base';
import type { RouterConfig } from '../config/router-config.ts';
import { isInlinePem } from '../config/text-kinds.ts';

export interface EnrollmentKeys {
  /** PEM of an existing key to enroll with; undefined for a new one. */
  readonly keyPem: string | undefined;
  readonly serverKeyPem: string | undefined;
}

/**
 * Checks the files of the `identity` section for the router with this id, creates their folders, and returns the keys
 * that exist. With `force`, files of other routers may be replaced, and no key is used again.
 * @throws FrontdoorError `invalid` (`identity-inline`, `identity-unwritable`) or `conflict` (`identity-exists`).
 */
export function checkEnrollmentFiles(config: RouterConfig, routerId: string, force: boolean): EnrollmentKeys {
  const { key, serverKey, ca, serverCert, cert } = config.identity;
  const [keyFile, serverKeyFile] = [key.reveal(), serverKey?.reveal()];
  const named = { key: keyFile, server_key: serverKeyFile, ca, server_cert: serverCert, cert };
  const files = Object.entries(named).flatMap(([name, path]) =>
    path === undefined ? [] : [{ name: `identity.${name}`, path }],
  );
  for (const { name, path } of files) {
    if (!isInlinePem(path)) continue;
    const message = `${name} holds inline PEM: enrolling needs a file to write to`;
    throw new FrontdoorError('invalid', 'identity-inline', message);
  }
  checkDistinct(files.filter(({ name }) => name !== 'identity.server_key' || serverKeyFile !== keyFile));
  const { endpoints, endpointsFile } = config.ctrl;
  const written =
    endpoints.length > 0 ? files : [...files, { name: 'ctrl.endpointsFile', path: endpointsFile }];
  const problems = written.flatMap(({ name, path }) => {
    const problem = writeProblem(path);
    return problem === undefined ? [] : [`${name}: ${problem}`];
  });
  if (problems.length > 0) {
    const message = `enrolling cannot write its files, so the token is not used: ${problems.join('; ')}`;
    throw new FrontdoorError('invalid', 'identity-unwritable', message);
  }
  if (force) return { keyPem: undefined, serverKeyPem: undefined };
  checkOwner('identity.cert', cert, routerId);
  if (serverCert !== undefined) checkOwner('identity.server_cert', serverCert, routerId);
  return {
    keyPem: existingKey('identity.key', keyFile),
    serverKeyPem: serverKeyFile === undefined ? undefined : existingKey('identity.server_key', serverKeyFile),
  };
}

interface NamedFile {
  readonly name: string;
  readonly path: string;
}

function checkDistinct(files: readonly NamedFile[]): void {
  const names = new Map<string, string>();
  for (const { name, path } of files) {
    const other = names.get(resolve(path));
    if (other !== undefined) {
      const message = `${other} and ${name} name the same file, and one would overwrite the other`;
      throw new FrontdoorError('invalid', 'identity-unwritable', message);
    }
    names.set(resolve(path), name);
  }
}

/** Files are replaced by renaming, so the folder must take a new file. */
function writeProblem(path: string): string | undefined {
  const probe = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return 'it is a folder';
    closeSync(openSync(probe, 'wx', 0o600));
    rmSync(probe);
    return undefined;
  } catch (error) {
    // Its message contains the path, and a key that was given in another form than PEM looks like one.
    return (error as NodeJS.ErrnoException).code ?? 'unknown error';
  }
}

function checkOwner(name: string, path: string, routerId: string): void {
  const pem = existing(path);
  if (pem === undefined) return;
  let owner: string | undefined;
  try {
    owner = /^CN=(.+)$/m.exec(new X509Certificate(pem).subject)?.[1];
  } catch {
    // The message below names the file.
  }
  if (owner === routerId) return;
  const holder = owner === undefined ? 'holds something else' : `is the certificate of ${owner}`;
  const message = `${name}: ${path} ${holder}, and this token is for router ${routerId}; name another file, or replace it with --force`;
  throw new FrontdoorError('conflict', 'identity-exists', message);
}

function existingKey(name: string, path: string): string | undefined {
  const pem = existing(path);
  if (pem === undefined) return undefined;
  try {
    createPrivateKey(pem);
    return pem;
  } catch (cause) {
    const message = `${name}: ${path} holds no private key that can be used; name another file, or replace it with --force`;
    throw new FrontdoorError('conflict', 'identity-exists', message, { cause });
  }
}

/** Returns undefined when there is no such file. */
function existing(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new FrontdoorError('invalid', 'identity-unwritable', `cannot read ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
