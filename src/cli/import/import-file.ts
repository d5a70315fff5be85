/** Reads a file of another program as an agent's file. Pure but for the programs that a format asks. */
import { isJsonObject } from '#base';
import type { FileProblem } from '#base/shapes';
import { invalidFile } from '#domain/invalid-file';
import { readYaml, type LocatedValues } from '#net/yaml-file';
import { agentFileText, type AgentFileText } from './agent-file-text.ts';
import { caddyImport } from './caddy/caddy-import.ts';
import { isCaddyfile, readCaddyfile } from './caddy/caddyfile-source.ts';
import { cloudflaredImport } from './cloudflared-import.ts';
import type { ImportFormat } from './import-format.ts';
import { frpcImport } from './frpc-import.ts';
import { isFrpcIni, readFrpcIni } from './frpc-ini-source.ts';
import { ImportNotes, type ImportPlaces, type ImportRemark } from './import-notes.ts';
import { ngrokImport } from './ngrok-import.ts';
import { SourceTable } from './source-table.ts';
import { readToml } from './toml-source.ts';
import { zrokImport } from './zrok-import.ts';
import { isZrokEnv, readZrokEnv } from './zrok-share-source.ts';

export const MAX_IMPORT_LENGTH = 4 * 1024 * 1024;

export const IMPORT_FORMATS = {
  cloudflared: cloudflaredImport,
  ngrok: ngrokImport,
  frpc: frpcImport,
  caddy: caddyImport,
  zrok: zrokImport,
} as const satisfies Readonly<Record<string, ImportFormat>>;
export type ImportFormatName = keyof typeof IMPORT_FORMATS;

export interface ImportedFile extends AgentFileText {
  readonly remarks: readonly ImportRemark[];
}

export interface ImportOptions {
  readonly from: ImportFormatName | undefined;
  /** Folders with programs, as the variable PATH has them. */
  readonly path: string | undefined;
}

/** `file` is its name in messages. Throws a `FrontdoorError` with all problems of a file that cannot be read. */
export function importFile(file: string, text: string, { from, path }: ImportOptions): ImportedFile {
  const values = readValues(file, text, { from, path });
  const { value } = values;
  if (!isJsonObject(value)) throw invalidFile(file, [whole('must have keys and values')]);
  const format = formatOf(file, new Set(Object.keys(value)), from);
  const notes = new ImportNotes(values);
  const draft = format.draftOf(new SourceTable(value, [], notes));
  if (notes.problems.length > 0) throw invalidFile(file, notes.problems);
  const { text: written, shares, accesses } = agentFileText(draft, format.product, file);
  return { text: written, shares, accesses, remarks: notes.remarks };
}

function readValues(file: string, text: string, { from, path }: ImportOptions): LocatedValues & ImportPlaces {
  if ((from ?? 'caddy') === 'caddy' && isCaddyfile(file, text)) return readCaddyfile(file, text, path);
  if ((from ?? 'frpc') === 'frpc' && text.length <= MAX_IMPORT_LENGTH && isFrpcIni(text))
    return readFrpcIni(text);
  if ((from ?? 'zrok') === 'zrok' && text.length <= MAX_IMPORT_LENGTH && isZrokEnv(text))
    return readZrokEnv(text);
  const read = readYaml(text, MAX_IMPORT_LENGTH);
  if ('value' in read && isJsonObject(read.value)) return read;
  // A text of TOML is no table in YAML.
  const isToml = file.endsWith('.toml') || (from === 'frpc' && !/\.(?:ya?ml|json)$/.test(file));
  const toml = text.length > MAX_IMPORT_LENGTH ? read : readToml(text);
  const isEmpty = 'value' in read && read.value === null;
  if ('value' in toml && !isEmpty) return toml;
  const chosen = isToml ? toml : read;
  if ('problems' in chosen) throw invalidFile(file, chosen.problems.map(withoutText));
  return chosen;
}

function formatOf(file: string, keys: ReadonlySet<string>, from: ImportFormatName | undefined): ImportFormat {
  if (from !== undefined) return IMPORT_FORMATS[from];
  const names = Object.keys(IMPORT_FORMATS) as ImportFormatName[];
  const name = names.find((each) => IMPORT_FORMATS[each].isOf(keys));
  if (name !== undefined) return IMPORT_FORMATS[name];
  const message = `no key shows which program has written the file: add --from ${names.join(', --from ')}`;
  throw invalidFile(file, [whole(message.replace(/, (--from \w+)$/, ' or $1'))]);
}

function whole(message: string): FileProblem {
  return { severity: 'error', path: '', line: 1, column: 1, message };
}

/** A syntax error may quote a token of the file, which may be a secret. */
function withoutText(problem: FileProblem): FileProblem {
  const { severity, path, line, column, message } = problem;
  return { severity, path, line, column, message: message.replace(/(["'`]).*\1/gs, '…') };
}
