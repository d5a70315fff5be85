/**
 * The target of a share: the address of a private service, such as `http://host[:port]`, `grpc://host[:port]`, `tcp://host:port`
 * or `udp://host:port`, or a folder, `file:///path`. One of HTTP may have a path, below which requests reach the service
 * (ADR 0092). It has no query and no credentials. The scheme decides the share's backend mode.
 */
import {
  BACKEND_MODE_TABLE,
  folderTarget,
  MAX_TARGET_LENGTH,
  modeOfScheme,
  type BackendMode,
} from './backend-mode-table.ts';
import { parsePathPrefix } from './request-path.ts';

/** The rule that a private share with a path breaks, after "must be" or "has a target". */
export const NO_PATH = 'without a path, because it is the gateway of a public share that adds it to requests';

interface AnyTarget {
  readonly mode: BackendMode;
  /** The port at which clients expect the service, which do not learn its own. */
  readonly clientPort: number;
  /** The normalised text. */
  readonly url: string;
}

export interface ServerTarget extends AnyTarget {
  readonly scheme: string;
  /** A DNS name (lower case), an IPv4 address, or an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** '' or `/app`, in canonical form. */
  readonly path: string;
}

export interface FolderTarget extends AnyTarget {
  /** An absolute path without `.`, `..` and control characters. */
  readonly folder: string;
  /** Options of the mode's row. */
  readonly options: readonly string[];
}

export type ShareTarget = ServerTarget | FolderTarget;

const SCHEME = /^([a-z][a-z0-9]*):\/\//i;
const SERVER = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?$/;
/** Names with their separators. Control characters, `/` and `.` are not encoded, so that a path has one reading. */
const FOLDER =
  /^(?:\/(?!\.{1,2}(?:\/|$))(?:[\w.~!$&'()*+,;=:@-]|%(?:2[0-9A-D]|[3-6][0-9A-F]|7[0-9A-E]|[89A-F][0-9A-F]))+)+\/?$/i;
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
const MAX_HOST_LENGTH = 253;

/** Returns undefined if the text is not a target. */
export function parseShareTarget(text: string): ShareTarget | undefined {
  if (text.length > MAX_TARGET_LENGTH) return undefined;
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase() ?? '';
  const mode = modeOfScheme(scheme);
  if (mode === undefined) return undefined;
  const { schemes, names } = BACKEND_MODE_TABLE[mode];
  const rest = text.slice(scheme.length + '://'.length);
  return names === 'folder'
    ? parseFolder(mode, rest, schemes[scheme]!)
    : parseServer(mode, scheme, rest, schemes[scheme]);
}

function parseServer(
  mode: BackendMode,
  scheme: string,
  text: string,
  usualPort: number | undefined,
): ServerTarget | undefined {
  const slash = text.indexOf('/');
  const path = parsePathPrefix(slash < 0 ? '' : text.slice(slash));
  if (path === undefined || (path !== '' && BACKEND_MODE_TABLE[mode].speaks !== 'http')) return undefined;
  const match = SERVER.exec((slash < 0 ? text : text.slice(0, slash)).toLowerCase());
  if (match === null) return undefined;
  const [, authority = '', portText] = match;
  const host = authority.startsWith('[') ? authority.slice(1, -1) : authority;
  if (authority.startsWith('[') ? !isIpv6(host) : !isHostName(host)) return undefined;
  const port = portText === undefined ? usualPort : Number(portText);
  if (port === undefined || port < 1 || port > 65_535) return undefined;
  const url = `${scheme}://${authority}${portText === undefined ? '' : `:${portText}`}${path}`;
  return { mode, scheme, host, port, path, clientPort: usualPort ?? port, url };
}

function parseFolder(mode: BackendMode, text: string, clientPort: number): FolderTarget | undefined {
  const at = text.indexOf('?');
  const path = at < 0 ? text : text.slice(0, at);
  const options = at < 0 ? [] : text.slice(at + 1).split('&');
  const folder = FOLDER.test(path) ? decoded(path.replace(/\/$/, '')) : undefined;
  if (folder === undefined) return undefined;
  const url = folderTarget(folder, options);
  const isKnown = url.endsWith(at < 0 ? '' : `?${options.join('&')}`);
  return isKnown ? { mode, folder, options, clientPort, url } : undefined;
}

/** Undefined for bytes that are not UTF-8. */
function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

function isHostName(host: string): boolean {
  if (host.length > MAX_HOST_LENGTH) return false;
  const labels = host.split('.');
  // A host that ends in a number must be a plain IPv4 address, because other spellings of one are misleading.
  if (/^([0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1)!)) return isIpv4(host);
  return labels.every((label) => LABEL.test(label));
}

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return (
    parts.length === 4 && parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255)
  );
}

function isIpv6(text: string): boolean {
  let rest = text;
  let groups = 0;
  const lastColon = rest.lastIndexOf(':');
  if (rest.includes('.')) {
    if (lastColon < 0 || !isIpv4(rest.slice(lastColon + 1))) return false;
    rest = `${rest.slice(0, lastColon)}:0`;
    groups = 1;
  }
  const halves = rest.split('::');
  if (halves.length > 2) return false;
  for (const half of halves) {
    if (half === '') continue;
    for (const group of half.split(':')) {
      if (!/^[0-9a-f]{1,4}$/.test(group)) return false;
      groups += 1;
    }
  }
  return halves.length === 2 ? groups <= 7 : groups === 8 && halves[0] !== '';
}
