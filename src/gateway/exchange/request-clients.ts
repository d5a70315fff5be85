/**
 * The client of each request of a connection: the other end, or, if that is a trusted proxy, the client that its headers
 * name. Requests of one client through proxies are counted as connections of a direct client are. ADR 0088.
 */
import type { IpNetwork } from '#domain';
import { readForwarding } from '#domain/proxies';
import type { AccessRefusal } from '../access/access.ts';
import { FAILURES, failureOfRequest, type Failure } from '../answers/failure-table.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import { RESERVED } from '../http/field-name-table.ts';
import { forwardedLines } from '../http/forward-head-codec.ts';
import { canonicalHost } from '../http/host-policy.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { ConnectionAdmission } from './connection-admission.ts';

type ForwardingLines = Parameters<typeof readForwarding>[0];

export interface RequestClient {
  readonly facts: ClientFacts;
  /** The forwarding headers for the service, each with its line end. */
  readonly lines: string;
  /** Why the request cannot be served. */
  readonly refusal: AccessRefusal | undefined;
}

export interface RequestClients {
  /** The other end of the connection. */
  readonly connection: ClientFacts;
  /** Those of the last head. */
  readonly lines: string;
  /** Called once for each head. May replace the host of the head by that which a trusted proxy reports. */
  of(head: RequestHead): RequestClient;
  /** Whether the client of a head that was not parsed uses TLS, as far as its text shows. */
  isSecure(text: string): boolean;
  /** The request has ended. May be called more than once. */
  leave(): void;
}

/** The client of a connection of its own. */
class DirectClient implements RequestClients, RequestClient {
  readonly facts: ClientFacts;
  readonly lines: string;
  readonly refusal = undefined;

  constructor(facts: ClientFacts) {
    this.facts = facts;
    this.lines = forwardedLines(facts);
  }

  of(): RequestClient {
    return this;
  }

  get connection(): ClientFacts {
    return this.facts;
  }

  isSecure(): boolean {
    return this.facts.isSecure;
  }

  leave(): void {}
}

export function clientsOf(facts: ClientFacts, trust: ProxyTrust | undefined): RequestClients {
  return facts.isTrustedProxy && trust !== undefined
    ? new ProxiedClients(facts, trust)
    : new DirectClient(facts);
}

/** What the connections of trusted proxies share. */
export interface ProxyTrust {
  readonly proxies: readonly IpNetwork[];
  readonly admission: ConnectionAdmission;
  /** Whether the gateway answers for a canonical host. */
  readonly isServed: (host: string) => boolean;
  readonly nowMs: () => number;
}

const NAMES = {
  for: 'x-forwarded-for',
  proto: 'x-forwarded-proto',
  host: 'x-forwarded-host',
  forwarded: 'forwarded',
} as const;
const SECURE_LINE = /\r\nx-forwarded-proto:[ \t]*https\b/i;

interface ReadLines {
  readonly lines: ForwardingLines;
  readonly client: RequestClient;
  /** As received. */
  readonly host: string | undefined;
}

class ProxiedClients implements RequestClients {
  readonly connection: ClientFacts;
  readonly #trust: ProxyTrust;
  /** A connection often carries several requests of one client. */
  #last: ReadLines | undefined;
  /** The address that the current request is counted for. */
  #counted: string | undefined;

  constructor(connection: ClientFacts, trust: ProxyTrust) {
    this.connection = connection;
    this.#trust = trust;
  }

  get lines(): string {
    return this.#last?.client.lines ?? '';
  }

  of(head: RequestHead): RequestClient {
    const lines = linesOf(head);
    if (this.#last === undefined || !isSame(this.#last.lines, lines)) this.#last = this.#read(lines);
    const { client, host } = this.#last;
    if (client.refusal !== undefined) return client;
    if (host !== undefined) this.#restoreHost(head, host);
    return this.#enter(client);
  }

  isSecure(text: string): boolean {
    return this.connection.isSecure || SECURE_LINE.test(text);
  }

  leave(): void {
    if (this.#counted === undefined) return;
    this.#trust.admission.leaveClient(this.#counted);
    this.#counted = undefined;
  }

  #read(lines: ForwardingLines): ReadLines {
    const found = readForwarding(lines, this.#trust.proxies);
    if (typeof found === 'string')
      return { lines, host: undefined, client: refused(this.connection, failureOfRequest(found)) };
    const { address = this.connection.address, isSecure = this.connection.isSecure, host } = found;
    const facts: ClientFacts = { ...this.connection, address, isSecure };
    return { lines, host, client: { facts, lines: forwardedLines(facts), refusal: undefined } };
  }

  /**
   * A proxy that replaces `Host` by a name of its own reports the client's. Where the name of `Host` is served, the report
   * does not count: many proxies forward one that a client has sent, past their own rules about hosts.
   */
  #restoreHost(head: RequestHead, value: string): void {
    const host = canonicalHost(value);
    if (host === undefined || this.#trust.isServed(head.host)) return;
    head.host = host;
    head.hostValue = value;
  }

  #enter(client: RequestClient): RequestClient {
    const { address } = client.facts;
    if (address === this.connection.address) return client;
    const { admission, nowMs } = this.#trust;
    if (!admission.enterClient(address, nowMs())) return refused(client.facts, FAILURES.tooManyAtOnce);
    this.#counted = address;
    return client;
  }
}

function refused(facts: ClientFacts, failure: Failure): RequestClient {
  return { facts, lines: '', refusal: { type: 'refuse', decision: failure.code, failure } };
}

/** A spelling with `_` is not that of a proxy. */
function linesOf({ fields }: RequestHead): ForwardingLines {
  const found: Partial<Record<keyof typeof NAMES, string>> = {};
  for (let i = 0; i < fields.count; i += 1) {
    if (fields.code[i] !== RESERVED) continue;
    const name = fields.name(i).toLowerCase();
    for (const key of ['for', 'proto', 'host', 'forwarded'] as const) {
      if (name !== NAMES[key]) continue;
      const before = found[key];
      found[key] = before === undefined ? fields.value(i) : `${before},${fields.value(i)}`;
    }
  }
  return { for: found.for, proto: found.proto, host: found.host, forwarded: found.forwarded };
}

function isSame(one: ForwardingLines, other: ForwardingLines): boolean {
  return (
    one.for === other.for &&
    one.proto === other.proto &&
    one.host === other.host &&
    one.forwarded === other.forwarded
  );
}
