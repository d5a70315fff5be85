/**
 * The interface of access control: a client's connection asks it before a request is sent to a share, and again
 * while the request continues. A decision is made from memory if possible; a promise means that something must be
 * computed or looked up.
 */
import type { CallerIdentity } from '#domain/access';
import type { Failure } from '../answers/failure-table.ts';
import type { HeadChanges } from '../http/head-changes.ts';
import type { PageHelp } from '../answers/page-help.ts';
import type { LocalAnswer } from '../answers/local-answer.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { GatewayHost } from '../circuits/upstream.ts';

/** An admitted request, with the facts that its admission depends on. */
export interface AccessAdmission {
  readonly type: 'admit';
  /** The decision for logs and records: `open`, `public-path`, `session`, `api-key reports`, … */
  readonly decision: string;
  readonly identity: CallerIdentity | undefined;
  /** Undefined if the request is forwarded unchanged. */
  readonly changes: HeadChanges | undefined;
  /**
   * Whether the admission depends on more than the existence of the share. It is then checked again while the
   * request continues.
   */
  readonly isGuarded: boolean;
}

export interface AccessRefusal {
  readonly type: 'refuse';
  readonly decision: string;
  readonly identity?: CallerIdentity | undefined;
  readonly failure: Failure;
  /** Header lines of the response, without line ends. */
  readonly lines?: readonly string[];
  readonly help?: PageHelp;
}

/** A response by the gateway itself. */
export interface OwnAnswer {
  readonly type: 'answer';
  readonly decision: string;
  readonly answer: LocalAnswer;
}

export type AccessVerdict = AccessAdmission | AccessRefusal | OwnAnswer;

export interface AccessControl {
  /** Incremented when anything changes that decisions depend on. */
  readonly generation: number;
  /**
   * `head` belongs to the connection: it is valid until this method returns or, if it returns a promise, until
   * that settles. The promise never rejects.
   */
  decide(host: GatewayHost, head: RequestHead, client: ClientFacts): AccessVerdict | Promise<AccessVerdict>;
  /** Whether the host is one of the gateway itself (`oauth.<zone>`). */
  isOwnHost(host: string): boolean;
  /** Decides about a request to a host of the gateway itself (`oauth.<zone>`). Returns undefined for other hosts. */
  decideOwn(head: RequestHead, client: ClientFacts): AccessVerdict | Promise<AccessVerdict> | undefined;
  /** Decides about a connection to the port of a share, whose bytes are not read. Returns why it is refused, or undefined. */
  decidePort(host: GatewayHost, client: ClientFacts): Failure | undefined;
  /**
   * Returns why an admitted request would be refused now, or undefined. `host` is the current entry, undefined if
   * it was removed.
   */
  endOf(host: GatewayHost | undefined, admission: AccessAdmission, client: ClientFacts): Failure | undefined;
}

/** The admission at a host without rules. */
export const OPEN_ADMISSION: AccessAdmission = {
  type: 'admit',
  decision: 'open',
  identity: undefined,
  changes: undefined,
  isGuarded: false,
};
