/**
 * The file of an enrolled identity (key, certificate, trust bundle) in OpenZiti's format, so that our clients and
 * OpenZiti's can read each other's files. It contains a private key: a file that other users may read or write is
 * refused.
 */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { FrontdoorError } from '#base';
import { writeFileDurably } from './durable-file.ts';
import { readPrivateFile } from './private-file.ts';

/** An identity in memory. All parts are PEM texts. */
export interface IdentityFile {
  /** `https://host:port` of the edge API. */
  readonly apiUrl: string;
  /** PKCS#8 or SEC 1. */
  readonly keyPem: string;
  /** Leaf first. */
  readonly certPem: string;
  /** Trust anchors for the control plane and the routers. */
  readonly caPem: string;
}

/**
 * Reads `pem:` values and `file:` or bare paths (relative to the file). Throws `FrontdoorError`s: `notFound` if
 * there is no such file, `invalid` with a remedy for everything else.
 */
export async function loadIdentityFile(path: string): Promise<IdentityFile> {
  const text = await readPrivate(path);
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    throw broken(path, 'it is not JSON');
  }
  const { ztAPI, id } = (file ?? {}) as { ztAPI?: unknown; id?: Record<string, unknown> };
  if (typeof ztAPI !== 'string' || !URL.canParse(ztAPI)) throw broken(path, 'ztAPI is not a URL');
  const { origin, protocol } = new URL(ztAPI);
  if (protocol !== 'https:') throw broken(path, 'ztAPI is not an https URL');
  const part = async (name: 'key' | 'cert' | 'ca'): Promise<string> => {
    const value = id?.[name];
    if (typeof value !== 'string' || value === '') throw broken(path, `id.${name} is missing`);
    if (value.startsWith('pem:')) return value.slice('pem:'.length);
    const file = resolve(
      dirname(path),
      value.startsWith('file:') ? value.replace(/^file:(?:\/\/)?/, '') : value,
    );
    return name === 'key' ? await readPrivate(file) : await readFile(file, 'utf8');
  };
  const identity = {
    apiUrl: origin,
    keyPem: await part('key'),
    certPem: await part('cert'),
    caPem: await part('ca'),
  };
  if (!identity.keyPem.includes('PRIVATE KEY-----')) throw broken(path, 'id.key is not a PEM private key');
  if (!identity.certPem.includes('-----BEGIN CERTIFICATE-----'))
    throw broken(path, 'id.cert is not a PEM certificate');
  if (!identity.caPem.includes('-----BEGIN CERTIFICATE-----'))
    throw broken(path, 'id.ca is not a PEM certificate');
  return identity;
}

/** Replaces the file atomically. Only its owner can read it. */
export async function saveIdentityFile(path: string, identity: IdentityFile): Promise<void> {
  const file = {
    ztAPI: identity.apiUrl,
    ztAPIs: [identity.apiUrl],
    id: { key: `pem:${identity.keyPem}`, cert: `pem:${identity.certPem}`, ca: `pem:${identity.caPem}` },
  };
  await writeFileDurably(path, `${JSON.stringify(file, null, 2)}\n`, 0o600);
}

async function readPrivate(path: string): Promise<string> {
  const read = await readPrivateFile(path);
  if ('text' in read) return read.text;
  if (!read.isMissing) throw broken(path, read.problem, read.cause);
  throw new FrontdoorError('notFound', 'identity-file-missing', `there is no identity file ${path}`, {
    cause: read.cause,
  });
}

function broken(path: string, why: string, cause?: unknown): FrontdoorError {
  return new FrontdoorError('invalid', 'identity-file-refused', `identity file ${path} is refused: ${why}`, {
    cause,
  });
}
