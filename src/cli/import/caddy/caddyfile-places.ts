/** Places of a Caddyfile for paths of the JSON that Caddy made of it. Caddy does not report lines, so they are found by hosts and directives. */
import { isJsonObject } from '#base';
import { FILE_START, type FilePosition, type ValuePath } from '#base/shapes';
import { keyText } from '../import-notes.ts';

/** Directives that make a handler. */
const DIRECTIVES: Readonly<Record<string, readonly string[]>> = {
  reverse_proxy: ['reverse_proxy', 'forward_auth', 'php_fastcgi'],
  static_response: ['respond', 'redir', 'abort', 'php_fastcgi'],
  headers: ['header', 'request_header'],
  authentication: ['basic_auth', 'basicauth'],
  rewrite: ['handle_path', 'rewrite', 'uri', 'try_files', 'php_fastcgi', 'method'],
  vars: ['root', 'vars'],
};
/** More than any list above has, so that texts count before the order of directives. */
const MAX_DIRECTIVES = 10;

/** Keys outside of routes, and the directives that they come of. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  logging: ['log'],
  errors: ['handle_errors'],
  listen: ['bind'],
  tls: ['tls', 'acme_ca', 'acme_dns', 'local_certs', 'on_demand_tls', 'email'],
};

interface Block {
  /** Addresses without scheme. */
  readonly addresses: readonly string[];
  readonly start: number;
  end: number;
}

export interface CaddyfilePlaces {
  readonly positionOf: (path: ValuePath) => FilePosition;
  /** As the user of a Caddyfile knows it: `app.example.com reverse_proxy`. */
  readonly labelOf: (path: ValuePath) => string;
}

export function caddyfilePlaces(text: string, value: unknown): CaddyfilePlaces {
  const lines = text.split('\n').map((line) => line.replace(/(?:^|\s)#.*$/, '').trim());
  const blocks = blocksOf(lines);
  return {
    positionOf: (path) => ({
      line: foundIn(placeOf(value, path), lines, blocks).line,
      column: FILE_START.column,
    }),
    labelOf: (path) => {
      const place = placeOf(value, path);
      const parts = [place.site, foundIn(place, lines, blocks).directive, keyText(place.rest)];
      return parts.filter((part) => part !== '').join(' ');
    },
  };
}

interface Place {
  /** Host, or `:8080`. */
  readonly site: string;
  /** The likely one first. */
  readonly directives: readonly string[];
  /** Texts that the line of the directive may have. */
  readonly texts: readonly string[];
  readonly rest: ValuePath;
}

function placeOf(value: unknown, path: ValuePath): Place {
  let node = value;
  let [site, listen] = ['', ''];
  let directives: readonly string[] = [];
  let rest: ValuePath = path;
  const texts: string[] = [];
  for (const [at, part] of path.entries()) {
    node = childOf(node, part);
    if (!isJsonObject(node)) continue;
    listen ||= firstText(node['listen']).replace(/^.*(?=:)/, '');
    if (path[at - 1] === 'routes') {
      const sets = listOf(node['match']).filter(isJsonObject);
      site ||= sets.map((set) => firstText(set['host'])).find((host) => host !== '') ?? listen;
      for (const set of sets)
        texts.push(...listOf(set['path']).filter(isText), ...listOf(set['host']).filter(isText));
      const first = listOf(node['handle'])[0];
      if (isJsonObject(first) && first['handler'] !== 'subroute') directives = directivesOf(first);
      rest = path.slice(at + 1);
    }
    if (path[at - 1] !== 'handle') continue;
    rest = path.slice(at + 1);
    if (node['handler'] !== 'subroute') directives = directivesOf(node);
    for (const upstream of listOf(node['upstreams']).filter(isJsonObject))
      texts.push(firstText(upstream['dial']));
  }
  if (site !== '') return { site, directives, texts, rest };
  const known = path.find((part) => Object.hasOwn(OTHERS, part));
  if (known === undefined) return { site, directives, texts, rest: path };
  return { site, directives: OTHERS[known]!, texts, rest: [] };
}

function directivesOf(handler: Readonly<Record<string, unknown>>): readonly string[] {
  const type = firstText(handler['handler']);
  const all = DIRECTIVES[type] ?? [type];
  const likely =
    (isJsonObject(handler['headers']) && Object.hasOwn(handler['headers'], 'Location') && 'redir') ||
    (handler['handle_response'] !== undefined && 'forward_auth') ||
    (handler['abort'] === true && 'abort') ||
    (handler['uri'] !== undefined && 'rewrite') ||
    (handler['request'] !== undefined && 'request_header') ||
    all[0]!;
  return all.includes(likely) ? [likely, ...all.filter((each) => each !== likely)] : all;
}

interface FoundDirective {
  readonly line: number;
  readonly directive: string;
}

/** The line of the directive that has most of the texts, or that of its site. */
function foundIn(
  { site, directives, texts }: Place,
  lines: readonly string[],
  blocks: readonly Block[],
): FoundDirective {
  const block =
    site === '' ? undefined : blocks.find(({ addresses }) => addresses.some((each) => isOf(each, site)));
  const [from, to] = block === undefined ? [0, lines.length] : [block.start, block.end];
  let found = {
    line: block === undefined ? FILE_START.line : block.start + 1,
    directive: directives[0] ?? '',
  };
  let most = 0;
  for (let at = from; at < to; at += 1) {
    const directive = lines[at]!.split(/\s/, 1)[0]!;
    const rank = directives.indexOf(directive);
    if (rank < 0) continue;
    const matches = texts.filter((each) => each !== '' && lines[at]!.includes(each)).length;
    const weight = 1 + matches * MAX_DIRECTIVES + (directives.length - rank);
    if (weight <= most) continue;
    most = weight;
    found = { line: at + 1, directive };
  }
  return found;
}

function isOf(address: string, site: string): boolean {
  return site.startsWith(':') ? address.endsWith(site) : address.replace(/:[0-9]+$/, '') === site;
}

/** Blocks of sites. A file without blocks is one site, with its addresses in the first line. */
function blocksOf(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  let [depth, pending] = [0, [] as string[]];
  for (const [at, line] of lines.entries()) {
    if (line === '}') {
      depth -= 1;
      if (depth === 0 && blocks.length > 0) blocks.at(-1)!.end = at;
    } else {
      if (depth === 0) pending.push(...addressesOf(line));
      if (!/(?:^|\s)\{$/.test(line)) continue;
      if (depth === 0) {
        blocks.push({ addresses: pending, start: at, end: lines.length });
        pending = [];
      }
      depth += 1;
    }
  }
  if (blocks.length > 0) return blocks;
  return [{ addresses: pending, start: 0, end: lines.length }];
}

function addressesOf(line: string): readonly string[] {
  return line
    .replace(/\{$/, '')
    .split(/[\s,]+/)
    .map((each) =>
      each
        .toLowerCase()
        .replace(/^https?:\/\//, '')
        .replace(/\/.*$/, ''),
    )
    .filter((each) => each !== '');
}

function childOf(node: unknown, part: string): unknown {
  if (typeof node !== 'object' || node === null || !Object.hasOwn(node, part)) return undefined;
  return (node as Readonly<Record<string, unknown>>)[part];
}

const isText = (value: unknown): value is string => typeof value === 'string';
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function firstText(value: unknown): string {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return isText(first) ? first : '';
}
