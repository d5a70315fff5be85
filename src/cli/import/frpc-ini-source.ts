/**
 * The INI file that older versions of frpc read, as the tables of the newer formats. frp has no conversion of its own. As in frp,
 * a value ends with its line, so that it has no comment behind it.
 */
import { isJsonObject } from '#base';
import { FILE_START, type ValuePath } from '#base/shapes';
import type { LocatedValues } from '#net/yaml-file';
import type { ImportPlaces } from './import-notes.ts';

const SECTION = /^\[([^\]]+)\]$/;
const ENTRY = /^([^=:]+?)\s*[=:]\s*(.*)$/;
const COMMON = /^[ \t]*\[common\][ \t\r]*$/m;
/** Names that only the older format has. */
const OLD_NAMES = /^[ \t]*(?:local_ip|local_port|custom_domains|server_addr|server_name|bind_port)[ \t]*=/m;

/** Places in the tables of the newer formats. Others are written alike: `remote_port` is remotePort. */
const PLACES: Readonly<Record<string, string>> = {
  token: 'auth.token',
  local_ip: 'localIP',
  http_pwd: 'httpPassword',
  route_by_http_user: 'routeByHTTPUser',
  sk: 'secretKey',
  plugin: 'plugin.type',
  plugin_http_passwd: 'plugin.httpPassword',
  use_encryption: 'transport.useEncryption',
  use_compression: 'transport.useCompression',
  bandwidth_limit: 'transport.bandwidthLimit',
  bandwidth_limit_mode: 'transport.bandwidthLimitMode',
  proxy_protocol_version: 'transport.proxyProtocolVersion',
  group: 'loadBalancer.group',
  group_key: 'loadBalancer.groupKey',
};
const LISTS = ['custom_domains', 'locations', 'allow_users', 'start', 'includes'];
const PORTS = ['local_port', 'remote_port', 'bind_port', 'server_port'];

export function isFrpcIni(text: string): boolean {
  return (
    COMMON.test(text) || (OLD_NAMES.test(text) && text.split('\n').some((line) => SECTION.test(line.trim())))
  );
}

interface Place {
  readonly line: number;
  /** As the file has it: `[web] local_port`. */
  readonly label: string;
}

interface IniTable {
  [key: string]: unknown;
}

export function readFrpcIni(text: string): LocatedValues & ImportPlaces {
  const places = new Map<string, Place>();
  const root = { proxies: [] as IniTable[], visitors: [] as IniTable[] };
  for (const { name, line, entries } of sectionsOf(text)) {
    const isVisitor = entries.some(([key, value]) => key === 'role' && value === 'visitor');
    const list = isVisitor ? 'visitors' : 'proxies';
    const table: IniTable = name === 'common' ? root : { name: name.replace(/^range:/, '') };
    const path = name === 'common' ? [] : [list, String(root[list].length)];
    if (name !== 'common') {
      root[list].push(table);
      places.set(path.join('\0'), { line, label: `[${name}]` });
    }
    for (const [key, value, at] of entries) {
      if (key === 'role') continue;
      const place = placeOf(key, value);
      put(table, place, valueOf(key, value));
      for (let length = 1; length <= place.length; length += 1) {
        const inside = [...path, ...place.slice(0, length)].join('\0');
        if (!places.has(inside)) places.set(inside, { line: at, label: `[${name}] ${key}` });
      }
    }
  }
  const nearest = (path: ValuePath): Place | undefined => {
    for (let length = path.length; length > 0; length -= 1) {
      const place = places.get(path.slice(0, length).join('\0'));
      if (place !== undefined) return place;
    }
    return undefined;
  };
  return {
    value: root,
    positionOf: (path) => ({ line: nearest(path)?.line ?? FILE_START.line, column: FILE_START.column }),
    labelOf: (path) => nearest(path)?.label ?? '',
  };
}

type IniEntry = readonly [key: string, value: string, line: number];

interface IniSection {
  readonly name: string;
  readonly line: number;
  readonly entries: IniEntry[];
}

function sectionsOf(text: string): readonly IniSection[] {
  const sections: IniSection[] = [];
  for (const [at, whole] of text.split('\n').entries()) {
    const line = whole.trim();
    if (line === '' || /^[#;]/.test(line)) continue;
    const name = SECTION.exec(line)?.[1]?.trim();
    if (name !== undefined) sections.push({ name, line: at + 1, entries: [] });
    else {
      const [, key = line, value = 'true'] = ENTRY.exec(line) ?? [];
      sections.at(-1)?.entries.push([key, value.replace(/^(["'`])(.*)\1$/, '$2'), at + 1]);
    }
  }
  return sections;
}

function placeOf(key: string, value: string): ValuePath {
  const known = Object.hasOwn(PLACES, key) ? PLACES[key] : undefined;
  if (known !== undefined) return known.split('.');
  const [, prefix, rest = ''] = /^(header_|meta_|plugin_header_|plugin_|health_check_)(.+)$/.exec(key) ?? [];
  if (prefix === 'header_') return ['requestHeaders', 'set', rest];
  if (prefix === 'meta_') return ['metadatas', rest];
  if (prefix === 'plugin_header_') return ['plugin', 'requestHeaders', rest];
  if (prefix === 'plugin_') return ['plugin', camelCase(rest)];
  if (prefix === 'health_check_') return ['healthCheck', camelCase(rest)];
  // A section of the form [range:…] has several ports, which the newer formats have no key for.
  return [PORTS.includes(key) && !isPort(value) ? `${camelCase(key)}s` : camelCase(key)];
}

function valueOf(key: string, value: string): unknown {
  if (LISTS.includes(key)) return value.split(',').map((part) => part.trim());
  return PORTS.includes(key) && isPort(value) ? Number(value) : value;
}

function put(table: IniTable, [key = '', ...rest]: ValuePath, value: unknown): void {
  const before = Object.hasOwn(table, key) ? table[key] : undefined;
  if (rest.length === 0) table[key] = value;
  else {
    const inner: IniTable = isJsonObject(before) ? Object.assign({}, before) : {};
    put(inner, rest, value);
    table[key] = inner;
  }
}

function isPort(value: string): boolean {
  return /^[0-9]{1,5}$/.test(value);
}

function camelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
