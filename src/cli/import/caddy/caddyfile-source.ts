/** Reads a Caddyfile by the machine's own `caddy adapt`, which alone knows the directives of its version and plug-ins. */
import { spawnSync } from 'node:child_process';
import { basename, resolve } from 'node:path';
import { FrontdoorError } from '#base';
import { readYaml, type LocatedValues } from '#net/yaml-file';
import { caddyfilePlaces, type CaddyfilePlaces } from './caddyfile-places.ts';

const TIMEOUT_MS = 15_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const SHOWN_CHARS = 300;
const NAME = /^Caddyfile(?:\.|$)|\.caddyfile$/i;
const JSON_START = /^\s*\{\s*["}]/;
/** A line with addresses or a directive that opens a block, which neither YAML nor TOML has. */
const BLOCK_START = /^(?:\{|[^#\s"'=[][^"'=\n]*[^\s"'=:] \{)[ \t\r]*$/m;
const BLOCK_END = /^[ \t]*\}[ \t\r]*$/m;

export function isCaddyfile(file: string, text: string): boolean {
  if (JSON_START.test(text)) return false;
  return NAME.test(basename(file)) || (BLOCK_START.test(text) && BLOCK_END.test(text));
}

/** `path` is the PATH variable. Throws a `FrontdoorError` if Caddy is not there, or refuses the file. */
export function readCaddyfile(
  file: string,
  text: string,
  path: string | undefined,
): LocatedValues & CaddyfilePlaces {
  const ran = spawnSync('caddy', ['adapt', '--adapter', 'caddyfile', '--config', resolve(file)], {
    env: Object.assign({}, process.env, { PATH: path ?? '' }),
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (ran.error !== undefined || ran.status !== 0)
    throw new FrontdoorError('invalid', 'config-invalid', `${file}: ${failureOf(ran)}`);
  const read = readYaml(ran.stdout, MAX_OUTPUT_BYTES);
  if ('problems' in read)
    throw new FrontdoorError('invalid', 'config-invalid', `${file}: "caddy adapt" printed no JSON`);
  return Object.assign({ value: read.value }, caddyfilePlaces(text, read.value));
}

function failureOf({ error, stderr }: ReturnType<typeof spawnSync>): string {
  const code = error === undefined ? undefined : (error as NodeJS.ErrnoException).code;
  const elsewhere =
    'run "caddy adapt --config Caddyfile --pretty > caddy.json" on the machine of Caddy, and import caddy.json';
  if (code === 'ENOENT')
    return `a Caddyfile is read by the program caddy, which is not in PATH: ${elsewhere}`;
  if (code === 'ETIMEDOUT')
    return `"caddy adapt" did not end within ${TIMEOUT_MS / 1_000} seconds: ${elsewhere}`;
  if (code === 'ENOBUFS') return '"caddy adapt" printed too much: import the sites in several files';
  if (code !== undefined) return `"caddy adapt" cannot be run (${code}): ${elsewhere}`;
  const line = String(stderr).trim().split('\n').at(-1) ?? '';
  // Caddy quotes texts of the file, which may be secrets.
  const message = line
    .replace(/^Error: /, '')
    .replace(/(["'`]).*\1/gs, '…')
    .slice(0, SHOWN_CHARS);
  return `"caddy adapt" refuses the file: ${message}`;
}
