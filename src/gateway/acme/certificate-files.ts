/**
 * The obtained certificates on disk: `NAME/fullchain.pem` and `NAME/privkey.pem`, `_.ZONE` for a wildcard, in the form in
 * which `--tls-dir` takes them. A pair is replaced as a folder: after a crash either the old pair or the new one is there.
 */
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, type Log } from '#base';
import { writeFileDurably } from '#net/files';
import { findCertificates } from '../certificates/certificate-folder.ts';
import type { KeptCertificate } from '../certificates/certificate-store.ts';
import { loadServedPair, type KeyPair } from '../certificates/served-pair.ts';

const KEPT_EXPIRED_MS = 30 * 86_400_000;
const FOLDER_MODE = 0o700;
const CERTIFICATE_MODE = 0o644;
/** The name of a folder that is being written, or replaced, ends with one of these and begins with a dot. */
const NEXT = '.next';
const FORMER = '.former';

/** The name of the folder for a host or a wildcard. No share has the name `_`. */
function folderNameOf(name: string): string {
  return name.startsWith('*.') ? `_${name.slice(1)}` : name;
}

function nameOf(folderName: string): string {
  return folderName.startsWith('_.') ? `*${folderName.slice(1)}` : folderName;
}

/**
 * Creates the folder if it is missing. A pair that cannot be used is logged and left out: it is obtained again. A pair that
 * expired long ago belongs to a name that is no longer served, and is removed.
 */
export async function loadObtained(folder: string, nowMs: number, log: Log): Promise<KeptCertificate[]> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  await finishReplacements(folder);
  const { pairs, problems } = await findCertificates(folder);
  const unusable = problems.map(({ problem }) => problem);
  const kept: KeptCertificate[] = [];
  for (const files of pairs) {
    const outcome = await loadServedPair(files);
    if ('problem' in outcome) unusable.push(outcome.problem);
    else if (outcome.loaded.notAfterMs + KEPT_EXPIRED_MS < nowMs)
      await rm(join(folder, files.name), { recursive: true, force: true });
    else kept.push({ name: nameOf(files.name), ...outcome.loaded.pair, isAutomatic: true });
  }
  for (const cause of unusable)
    log.error({ hop: 'gateway', cause }, 'an obtained certificate cannot be used: it is obtained again');
  return kept;
}

/** Rejects with the error of the disk. */
export async function writeObtained(folder: string, name: string, { cert, key }: KeyPair): Promise<void> {
  const place = join(folder, folderNameOf(name));
  const next = join(folder, `.${folderNameOf(name)}${NEXT}`);
  const former = join(folder, `.${folderNameOf(name)}${FORMER}`);
  await rm(next, { recursive: true, force: true });
  try {
    await mkdir(next, { recursive: true, mode: FOLDER_MODE });
    await writeFileDurably(join(next, 'privkey.pem'), key);
    await writeFileDurably(join(next, 'fullchain.pem'), cert, CERTIFICATE_MODE);
  } catch (error) {
    await rm(next, { recursive: true, force: true });
    throw error;
  }
  await rm(former, { recursive: true, force: true });
  await rename(place, former).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  });
  await rename(next, place);
  await rm(former, { recursive: true, force: true });
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Completes what a crash left. A former pair is set apart only once the new one is complete. */
async function finishReplacements(folder: string): Promise<void> {
  const names = new Set(await readdir(folder));
  for (const name of names) {
    if (!name.startsWith('.') || !name.endsWith(FORMER)) continue;
    const place = name.slice(1, -FORMER.length);
    const next = `.${place}${NEXT}`;
    if (!names.has(place)) await rename(join(folder, names.has(next) ? next : name), join(folder, place));
  }
  for (const name of names) {
    if (!name.startsWith('.') || ![NEXT, FORMER].some((suffix) => name.endsWith(suffix))) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** For the log of a pair that is not on disk. */
export function diskProblem(error: unknown): string {
  return `${messageOf(error)}: make room on the disk, or correct the permissions of the folder`;
}
