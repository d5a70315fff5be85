/**
 * The file of an enrolled identity (key, certificate, trust bundle) in OpenZiti's format, so that our clients and
 * OpenZiti's can read each other's files. It contains a private key: a file that other users may read or write is
 * refused.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { FrontdoorError, isJsonObject, Secret } from '#base';
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

type PartName = 'key' | 'cert' | 'ca';
const ENCRYPTED = /BEGIN ENCRYPTED PRIVATE KEY|^Proc-Type: .*ENCRYPTED/m;
const PARTS: readonly PartName[] = ['key', 'cert', 'ca'];

/**
 * Reads `pem:` values, bare PEM as the C SDK writes it, and `file:` or bare paths (relative to the file). Throws
 * `FrontdoorError`s: `notFound` if there is no such file, `invalid` with a remedy for everything else, among it
 * `identity-file-damaged` for content that no program writes. No message contains a
 * value of the file, because any of them may be a key in another form, unless it is the path of a file that exists.
 */
export async function loadIdentityFile(path: string): Promise<IdentityFile> {
  const { ztAPI, id } = await readFields(path);
  const parts = isJsonObject(id) ? id : {};
  if (typeof ztAPI !== 'string' || !URL.canParse(ztAPI)) throw broken(path, 'ztAPI is not a URL');
  const { origin, protocol } = new URL(ztAPI);
  if (protocol !== 'https:') throw broken(path, 'ztAPI is not an https URL');
  const [key, cert, ca] = (await Promise.all(PARTS.map((name) => readPart(path, name, parts[name])))) as [
    Secret,
    Secret,
    Secret,
  ];
  const keyPem = keyOf(path, key);
  const certPem = certificatesOf(path, 'cert', cert);
  const caPem = certificatesOf(path, 'ca', ca);
  if (!new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem)))
    throw damaged(path, 'id.key is not the key of id.cert');
  return { apiUrl: origin, keyPem, certPem, caPem };
}

async function readFields(path: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readPrivate(path);
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    // The parser's message quotes the text.
    throw damaged(path, text.trim() === '' ? 'it is empty' : 'it is not JSON, or only a part of it');
  }
}

async function readPart(path: string, name: PartName, value: unknown): Promise<Secret> {
  if (typeof value !== 'string' || value === '') throw broken(path, `id.${name} is missing`);
  if (value.startsWith('pem:')) return new Secret(value.slice('pem:'.length));
  if (value.trimStart().startsWith('-----BEGIN')) return new Secret(value);
  const file = resolve(dirname(path), value.replace(/^file:(?:\/\/)?/, ''));
  try {
    if (name !== 'key') return new Secret(await readFile(file, 'utf8'));
  } catch {
    throw broken(path, `the file that id.${name} names cannot be read`);
  }
  const read = await readPrivateFile(file);
  if ('text' in read) return new Secret(read.text);
  throw broken(path, `${existsSync(file) ? file : 'the file that id.key names'}: ${read.problem}`);
}

function keyOf(path: string, field: Secret): string {
  const pem = field.reveal();
  if (!pem.includes('PRIVATE KEY-----')) throw damaged(path, 'id.key is not a PEM private key');
  if (ENCRYPTED.test(pem)) throw broken(path, 'id.key is encrypted: remove its passphrase');
  try {
    createPrivateKey(pem);
    return pem;
  } catch {
    throw damaged(path, 'id.key is only a part of a key');
  }
}

function certificatesOf(path: string, name: PartName, field: Secret): string {
  const pem = field.reveal();
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    throw damaged(path, `id.${name} is not a PEM certificate`);
  try {
    new X509Certificate(pem);
    return pem;
  } catch {
    throw damaged(path, `id.${name} is only a part of a certificate`);
  }
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

/** A file that its program once wrote whole. */
function damaged(path: string, why: string): FrontdoorError {
  const message = `identity file ${path} is damaged: ${why}; restore it, or move it away and enroll again`;
  return new FrontdoorError('invalid', 'identity-file-damaged', message);
}

function broken(path: string, why: string, cause?: unknown): FrontdoorError {
  return new FrontdoorError('invalid', 'identity-file-refused', `identity file ${path} is refused: ${why}`, {
    cause,
  });
}
