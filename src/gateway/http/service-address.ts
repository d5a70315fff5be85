/**
 * Two addresses of one service: clients reach it by the host of its share, and it may know itself by another, or be below a
 * path of its host. Addresses in a request's head that name the first are rewritten to the second, and those in a
 * response's head back. Bodies stay as they are. Addresses of other hosts are never touched. ADR 0087, 0092.
 */
import { pathReadings } from '#domain';
import type { GatewayUpstream } from '#domain/upstream';
import { OTHER } from './field-name-table.ts';
import type { HeadChanges } from './head-changes.ts';
import type { FieldLines } from './head-decoder.ts';
import { sameAuthority } from './host-policy.ts';
import type { PathMapping } from './path-mapping.ts';
import type { RequestHead } from './request-head-policy.ts';
import type { LineChanges } from './set-cookie-policy.ts';

/** Undefined: the line is removed. */
type Rewrite = (value: string) => string | undefined;

const ABSOLUTE = /^(https?):\/\/([^/?#]*)(.*)$/is;
/** Also without a scheme. */
const OF_SERVICE = /^(?:(https?):)?\/\/([^/?#]*)(.*)$/is;
const LINK_TARGET = /<([^<>]*)>/g;
const REFRESH_TARGET = /^(\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?["']?)(.*)$/is;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' };
const NO_LINES: readonly number[] = [];

/** Headers of requests with an address of the share. WebDAV has Destination. */
const REQUEST_NAMES: ReadonlySet<string> = new Set(['origin', 'referer', 'destination']);
const ANSWER_NAMES: ReadonlyMap<string, 'url' | 'origin' | 'link' | 'refresh'> = new Map([
  ['location', 'url'],
  ['content-location', 'url'],
  ['access-control-allow-origin', 'origin'],
  ['link', 'link'],
  ['refresh', 'refresh'],
]);
const LENGTHS: ReadonlySet<number> = new Set(
  [...REQUEST_NAMES, ...ANSWER_NAMES.keys()].map(({ length }) => length),
);

type Service = NonNullable<GatewayUpstream['host']>;

/** What a request and its response have of the client's side. */
export interface ClientSide {
  /** The Host header as received. */
  readonly hostValue: string;
  readonly isSecure: boolean;
}

/** One exchange with a service whose address is not that of its share. */
export class AddressRewriting {
  readonly #service: Service | undefined;
  readonly #paths: PathMapping | undefined;
  readonly #hostValue: string;
  readonly #isSecure: boolean;

  /** `service`: the host by which it knows itself; undefined: that of the share. `paths`: undefined if they are the same. */
  constructor(
    service: Service | undefined,
    paths: PathMapping | undefined,
    { hostValue, isSecure }: ClientSide,
  ) {
    this.#service = service;
    this.#paths = paths;
    this.#hostValue = hostValue;
    this.#isSecure = isSecure;
  }

  /** Rewrites the path of a cookie. One with a slash at its end would not count for the path itself. */
  cookiePath(path: string): string {
    const own = this.#paths?.toShare(path) ?? path;
    return path === '/' ? own.replace(/(?<=.)\/$/, '') : own;
  }

  get changesCookies(): boolean {
    return this.#paths !== undefined;
  }

  requestChanges(head: RequestHead, before: HeadChanges | undefined): HeadChanges {
    const { omitted, lines } = changedLines(head.fields, before?.omitted ?? NO_LINES, (name) => {
      if (name === 'destination' && this.#paths !== undefined) return (value) => this.#destination(value);
      if (!REQUEST_NAMES.has(name)) return undefined;
      return (value) => this.#towardsService(value) ?? value;
    });
    const target = before?.target ?? head.target;
    return {
      host: this.#service?.authority,
      target: this.#paths === undefined ? before?.target : this.#paths.toService(target),
      omitted: [...(before?.omitted ?? NO_LINES), ...omitted],
      lines: lines + (before?.lines ?? ''),
    };
  }

  answerChanges(fields: FieldLines, before: LineChanges): LineChanges {
    const url = (value: string): string => this.#towardsClient(value);
    const rewrites: Readonly<Record<string, Rewrite>> = {
      url,
      origin: (value) => (this.#afterService(value) === '' ? this.#shareOrigin : value),
      link: (value) => value.replaceAll(LINK_TARGET, (_, target: string) => `<${url(target)}>`),
      refresh: (value) =>
        value.replace(REFRESH_TARGET, (_, begin: string, target: string) => begin + url(target)),
    };
    const { omitted, lines } = changedLines(fields, before.omitted, (name) => {
      const kind = ANSWER_NAMES.get(name);
      return kind === undefined ? undefined : rewrites[kind];
    });
    if (omitted.length === 0) return before;
    return { omitted: [...before.omitted, ...omitted], lines: before.lines + lines };
  }

  /** Returns undefined for an address that is not the share's. */
  #towardsService(value: string): string | undefined {
    const rest = this.#afterShare(value);
    if (rest === undefined) return undefined;
    const path = this.#paths === undefined || !rest.startsWith('/') ? rest : this.#paths.toService(rest);
    const { scheme, authority } = this.#service ?? {};
    return scheme === undefined
      ? value.slice(0, value.length - rest.length) + path
      : `${scheme}://${authority}${path}`;
  }

  /** A service writes to the Destination of COPY and MOVE (RFC 4918 §10.3), so that one outside the path is removed. */
  #destination(value: string): string | undefined {
    const isPath = value.startsWith('/') && !value.startsWith('//');
    const rest = isPath ? value : this.#afterShare(value);
    if (rest?.startsWith('/') !== true || pathReadings(rest) === undefined) return undefined;
    return isPath ? this.#paths?.toService(rest) : this.#towardsService(value);
  }

  #towardsClient(value: string): string {
    const paths = this.#paths;
    const own = this.#afterService(value);
    if (paths === undefined) return own === undefined ? value : this.#shareOrigin + own;
    const isPath = value.startsWith('/') && !/^\/[/\\]/.test(value);
    const absolute = value.startsWith('//') ? this.#scheme + value : value;
    const rest = own ?? (isPath ? value : this.#afterShare(absolute));
    if (rest === undefined) return value;
    const path = paths.toShare(rest);
    if (path === undefined) return own === undefined ? value : this.#shareOrigin + own;
    // A path that begins like an authority would lead to another host.
    return isPath && !/^\/[/\\]/.test(path) ? path : this.#shareOrigin + path;
  }

  get #scheme(): string {
    return this.#isSecure ? 'https:' : 'http:';
  }

  get #shareOrigin(): string {
    return `${this.#scheme}//${this.#hostValue}`;
  }

  /** Returns what follows the share's own origin, or undefined for another address. */
  #afterShare(value: string): string | undefined {
    const [, scheme = '', authority = '', rest = ''] = ABSOLUTE.exec(value) ?? [];
    const port = DEFAULT_PORTS[scheme.toLowerCase()];
    // The page may have come over TLS that ends before this gateway, but never without TLS when this request has it.
    if (port === undefined || (port === '80' && this.#isSecure)) return undefined;
    return sameAuthority(authority, this.#hostValue, port) ? rest : undefined;
  }

  /** Returns what follows the service's own origin, of either scheme. */
  #afterService(value: string): string | undefined {
    const found = OF_SERVICE.exec(value);
    if (found === null || this.#service === undefined) return undefined;
    const { scheme: own, authority: name, aliases } = this.#service;
    const [, scheme = own, authority = '', rest = ''] = found;
    const port = DEFAULT_PORTS[scheme.toLowerCase()] ?? '';
    const isOwn = [name, ...aliases].some((each) => sameAuthority(authority, each, port));
    return isOwn ? rest : undefined;
  }
}

/** Rewrites the lines whose value changes. They are written again at the end, in their order. */
function changedLines(
  fields: FieldLines,
  before: readonly number[],
  rewriteOf: (name: string) => Rewrite | undefined,
): LineChanges {
  const omitted: number[] = [];
  let lines = '';
  for (let i = 0; i < fields.count; i += 1) {
    if (fields.code[i] !== OTHER || !LENGTHS.has(fields.nameEnd[i]! - fields.lineStart[i]!)) continue;
    const name = fields.name(i);
    const rewrite = rewriteOf(name.toLowerCase());
    if (rewrite === undefined || before.includes(i)) continue;
    const value = fields.value(i);
    const changed = rewrite(value);
    if (changed === value) continue;
    omitted.push(i);
    if (changed !== undefined) lines += `${name}: ${changed}\r\n`;
  }
  return { omitted, lines };
}
