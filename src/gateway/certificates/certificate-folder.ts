/**
 * Finds the certificates in a folder: `NAME.crt` or `NAME.pem` beside `NAME.key`, and sub-folders with
 * `fullchain.pem` and `privkey.pem`, as certbot writes them. Half a pair is reported as a problem with its
 * remedy. The files are not opened here.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** More than any installation has. The limit catches a folder that was given by mistake. */
const MAX_ENTRIES = 10_000;

export interface CertificateFiles {
  /** Name of the pair in the log: its path below the folder, without extensions. */
  readonly name: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export interface CertificateFolder {
  readonly pairs: readonly CertificateFiles[];
  /** One sentence each, with the file and the remedy. */
  readonly problems: readonly FolderProblem[];
}

export interface FolderProblem {
  /** Name of the incomplete pair, or the folder's path if the folder cannot be read. */
  readonly name: string;
  readonly problem: string;
}

interface Found {
  cert?: string;
  key?: string;
}

/** Never rejects: a folder that cannot be read is a problem. */
export async function findCertificates(folder: string): Promise<CertificateFolder> {
  let entries;
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isMissing ? 'does not exist' : 'cannot be read: check its permissions';
    return { pairs: [], problems: [{ name: folder, problem: `${folder} ${why}` }] };
  }
  if (entries.length > MAX_ENTRIES) {
    const problem = `${folder} has more than ${MAX_ENTRIES} entries: use a folder that contains only certificates`;
    return { pairs: [], problems: [{ name: folder, problem }] };
  }
  const found = new Map<string, Found>();
  const problems: FolderProblem[] = [];
  const foundFor = (name: string): Found => {
    const known = found.get(name) ?? {};
    found.set(name, known);
    return known;
  };
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    // Temporary files of editors and tools.
    if (entry.name.startsWith('.') || entry.name.endsWith('~')) continue;
    const path = join(folder, entry.name);
    const parts = /^(.+)\.(crt|pem|key)$/.exec(entry.name);
    if (parts !== null) {
      const pair = foundFor(parts[1]!);
      if (parts[2] === 'key') pair.key = path;
      else if (pair.cert === undefined) pair.cert = path;
      else
        problems.push({ name: parts[1]!, problem: `${pair.cert} and ${path} are the same pair: keep one` });
    } else if (!entry.isFile()) await lookInto(path, entry.name, foundFor);
  }
  const pairs: CertificateFiles[] = [];
  for (const [name, { cert, key }] of found) {
    if (cert !== undefined && key !== undefined) pairs.push({ name, certFile: cert, keyFile: key });
    else if (cert !== undefined)
      problems.push({
        name,
        problem: `${cert} has no key beside it: add ${keyNameFor(cert)}, or remove the certificate`,
      });
    else problems.push({ name, problem: `${key} has no certificate beside it: add one, or remove the key` });
  }
  return { pairs, problems };
}

async function lookInto(path: string, name: string, foundFor: (name: string) => Found): Promise<void> {
  // Not a readable folder, so its content is not meant for the gateway.
  const inside = new Set(await readdir(path).catch(() => []));
  if (inside.has('fullchain.pem')) foundFor(name).cert = join(path, 'fullchain.pem');
  if (inside.has('privkey.pem')) foundFor(name).key = join(path, 'privkey.pem');
}

function keyNameFor(cert: string): string {
  if (cert.endsWith('fullchain.pem')) return cert.replace(/fullchain\.pem$/, 'privkey.pem');
  return cert.replace(/\.(?:crt|pem)$/, '.key');
}
