/**
 * Who may have a request served: what a client's connection asks before anything goes to a share, and again while it
 * goes on. Decided from memory where that is possible; a promise means that something must be computed or asked first.
 */
import type { CallerIdentity } from '#domain';
import type { Failure } from '../answers/failure-table.ts';
import type { HeadChanges } from '../http/forward-head-codec.ts';
import type { PageHelp } from '../answers/page-help.ts';
import type { LocalAnswer } from '../answers/local-answer.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { GatewayHost } from '../circuits/upstream.ts';

/** Let in, with what that rests on. */
export interface AccessAdmission {
  readonly type: 'admit';
  /** For logs and the owner: `open`, `public-path`, `session`, `api-key reports`, … */
  readonly decision: string;
  readonly identity: CallerIdentity | undefined;
  /** Undefined: the request goes on as it came. */
  readonly changes: HeadChanges | undefined;
  /** It rests on more than the share being there: it is asked about again while the request goes on. */
  readonly isGuarded: boolean;
}

export interface AccessRefusal {
  readonly type: 'refuse';
  readonly decision: string;
  readonly identity?: CallerIdentity | undefined;
  readonly failure: Failure;
  /** Header lines of the answer, without line ends. */
  readonly lines?: readonly string[];
  readonly help?: PageHelp;
}

/** The gateway answers by itself. */
export interface OwnAnswer {
  readonly type: 'answer';
  readonly decision: string;
  readonly answer: LocalAnswer;
}

export type AccessVerdict = AccessAdmission | AccessRefusal | OwnAnswer;

export interface AccessControl {
  /** Moves when anything changed that verdicts rest on. */
  readonly generation: number;
  /**
   * `head` belongs to the connection: valid until this returns, or, when a promise comes back, until that settles.
   * It never rejects.
   */
  decide(host: GatewayHost, head: RequestHead, client: ClientFacts): AccessVerdict | Promise<AccessVerdict>;
  /** For a host of the gateway's own (`oauth.<zone>`); undefined: it is none. */
  decideOwn(head: RequestHead, client: ClientFacts): AccessVerdict | Promise<AccessVerdict> | undefined;
  /** Why what was admitted before would not be any more; `host` is the entry of now, undefined when it is gone. */
  endOf(host: GatewayHost | undefined, admission: AccessAdmission, client: ClientFacts): Failure | undefined;
}

/** Of a host without any rule. */
export const OPEN_ADMISSION: AccessAdmission = {
  type: 'admit',
  decision: 'open',
  identity: undefined,
  changes: undefined,
  isGuarded: false,
};
