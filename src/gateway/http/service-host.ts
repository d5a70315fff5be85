/**
 * Two names of one service: clients reach it by the host of its share, and it knows itself by another. Addresses in a
 * request's head that name the first are rewritten to the second, and those in a response's head back. Bodies stay as
 * they are. Addresses of other hosts are never touched. ADR 0087.
 */
import type { GatewayUpstream } from '#domain/upstream';
import { OTHER } from './field-name-table.ts';
import type { HeadChanges } from './head-changes.ts';
import type { FieldLines } from './head-decoder.ts';
import { sameAuthority } from './host-policy.ts';
import type { RequestHead } from './request-head-policy.ts';
import type { LineChanges } from './set-cookie-policy.ts';

type Rewrite = (value: string) => string;

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

/** One exchange with a service that knows itself by another host. */
export class HostRewriting {
  readonly #service: Service;
  readonly #hostValue: string;
  readonly #isSecure: boolean;

  constructor(service: Service, { hostValue, isSecure }: ClientSide) {
    this.#service = service;
    this.#hostValue = hostValue;
    this.#isSecure = isSecure;
  }

  requestChanges(head: RequestHead, before: HeadChanges | undefined): HeadChanges {
    const { scheme, authority } = this.#service;
    const rewrite: Rewrite = (value) => {
      const rest = this.#afterShare(value);
      return rest === undefined ? value : `${scheme}://${authority}${rest}`;
    };
    const { omitted, lines } = changedLines(head.fields, before?.omitted ?? NO_LINES, (name) =>
      REQUEST_NAMES.has(name) ? rewrite : undefined,
    );
    return {
      host: authority,
      target: before?.target,
      omitted: [...(before?.omitted ?? NO_LINES), ...omitted],
      lines: lines + (before?.lines ?? ''),
    };
  }

  answerChanges(fields: FieldLines, before: LineChanges): LineChanges {
    const url: Rewrite = (value) => {
      const rest = this.#afterService(value);
      return rest === undefined ? value : this.#shareOrigin + rest;
    };
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

  get #shareOrigin(): string {
    return `${this.#isSecure ? 'https' : 'http'}://${this.#hostValue}`;
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
    if (found === null) return undefined;
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
    lines += `${name}: ${changed}\r\n`;
  }
  return { omitted, lines };
}
