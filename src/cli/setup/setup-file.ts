/** The configuration file that `frontdoor setup` writes: what it changes, and its text. Other keys and comments stay. */
import { chown, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FrontdoorError, isJsonObject, messageOf } from '#base';
import { invalidFile } from '#domain/invalid-file';
import { writeFileDurably } from '#net/files';
import { changedYaml, readYaml } from '#net/yaml-file';
import { readConfigText } from '../config-file/config-file.ts';
import type { ConfigKey } from '../config-file/config-key.ts';
import { CONFIG_SECTIONS } from '../config-file/config-section-table.ts';
import type { FormerAnswers, SetupAnswers } from './setup-answers.ts';

export interface FormerFile {
  /** '' without a file. */
  readonly text: string;
  readonly up: FormerAnswers;
  readonly exists: boolean;
}

export interface FileChange {
  readonly key: string;
  readonly before: unknown;
  readonly after: unknown;
}

const MAX_BYTES = 1_048_576;
const SECTION = 'up';
/** Members may read the file, and services run as the user of that name. */
const GROUP = 'frontdoor';
const GROUPS_FILE = '/etc/group';

export async function readFormerFile(path: string): Promise<FormerFile> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { text: '', up: {}, exists: false };
    throw new FrontdoorError('invalid', 'config-unreadable', `cannot read ${path}: ${messageOf(error)}`);
  }
  const read = readYaml(text, MAX_BYTES);
  if ('problems' in read) throw invalidFile(path, read.problems);
  const { value } = read;
  const up = isJsonObject(value) ? value[SECTION] : undefined;
  if ((value !== null && !isJsonObject(value)) || (up !== undefined && up !== null && !isJsonObject(up)))
    throw new FrontdoorError('invalid', 'config-invalid', `${path} is no configuration file of Frontdoor`);
  return { text, up: isJsonObject(up) ? up : {}, exists: true };
}

export function changesOf({ up }: FormerFile, answers: SetupAnswers): readonly FileChange[] {
  return Object.entries(answers).flatMap(([key, after]: [string, unknown]) => {
    const before = up[key];
    const isSame = after === undefined || JSON.stringify(before) === JSON.stringify(after);
    return isSame ? [] : [{ key, before, after }];
  });
}

export function changeLine({ key, before, after }: FileChange): string {
  const text = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value));
  const former =
    before === undefined ? '' : `${typeof before === 'object' ? JSON.stringify(before) : text(before)} -> `;
  return `  ${before === undefined ? '+' : '~'} ${SECTION}.${key}: ${former}${text(after)}\n`;
}

/** The text with the changes. Throws if "frontdoor up", whose keys these are, would refuse it. */
export function setupText(
  path: string,
  former: FormerFile,
  changes: readonly FileChange[],
  keys: readonly ConfigKey[],
): string {
  const text = changedYaml(
    former.text,
    changes.map(({ key, after }) => [[SECTION, key], after] as const),
  );
  const place = { section: CONFIG_SECTIONS.up, keys, folder: dirname(path), isOpen: false };
  const read = readConfigText(text, place);
  if ('values' in read) return text;
  const { kind, code, message } = invalidFile(path, read.problems);
  throw new FrontdoorError(kind, code, `nothing was changed: ${message}`);
}

/** Replaces the file in one step. A new one is for its owner, and for the group of the service where there is one. */
export async function writeSetupFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  const info = await stat(path).catch(() => undefined);
  const gid = info?.gid ?? (process.getuid?.() === 0 ? await groupOfService() : undefined);
  await writeFileDurably(
    path,
    text,
    info === undefined ? (gid === undefined ? 0o600 : 0o640) : info.mode & 0o777,
  );
  if (gid !== undefined && process.getuid?.() === 0) await chown(path, info?.uid ?? 0, gid);
}

async function groupOfService(): Promise<number | undefined> {
  const groups = await readFile(GROUPS_FILE, 'utf8').catch(() => '');
  const id = new RegExp(`^${GROUP}:[^:]*:(\\d+):`, 'm').exec(groups)?.[1];
  return id === undefined ? undefined : Number(id);
}
