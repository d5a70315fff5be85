/**
 * The facts about one request, collected while it runs for access log, metrics and the owner's records. One small
 * object per request; times are monotonic milliseconds, 0 for stages that were not reached.
 */
import { performance } from 'node:perf_hooks';
import type { CallerIdentity } from '#domain/access';
import type { AccessAdmission } from '../access/access.ts';
import type { PolicyHeaders } from '../answers/policy-headers.ts';
import type { Failure } from '../answers/failure-table.ts';
import type { FieldLines } from '../http/head-decoder.ts';
import type { ServiceRewriting } from '../http/service-rewriting.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { GatewayRoute } from '../circuits/upstream.ts';

/** The part of a head that a record keeps. */
export type RequestSubject = Pick<RequestHead, 'method' | 'target' | 'host' | 'http10'>;

/** The methods of a connection, and of a flow of datagrams, to a share that does not speak HTTP: each is one request. */
export const PORT_METHODS = { tcp: 'TCP', udp: 'UDP' } as const;

export class RequestRecord {
  /** Also the error id on a page. */
  readonly id: string;
  readonly client: ClientFacts;
  readonly method: string;
  readonly target: string;
  readonly host: string;
  readonly isHttp10: boolean;
  /** Its cookies if they are large, so that the answer of a service that refuses their size clears them. */
  cookies: Uint8Array | undefined;
  /** The received `traceparent` if it is well-formed, otherwise ''. */
  readonly traceParent: string;
  readonly startedMs = performance.now();
  route: GatewayRoute | undefined;
  /** What the policy of the share adds to the answer. */
  policyHeaders: PolicyHeaders | undefined;
  admission: AccessAdmission | undefined;
  /** The caller, whether admitted or not. */
  identity: CallerIdentity | undefined;
  /** Why the request was admitted or refused. */
  decision = '';
  decidedMs = 0;
  circuitMs = 0;
  firstByteMs = 0;
  doneMs = 0;
  /** The status that the client received; 0: none. */
  status = 0;
  /** Whether the response was cut after it had begun. */
  isBrokenOff = false;
  bytesIn = 0;
  bytesOut = 0;
  /** Set while the request is served, if its share has upstream settings that concern heads. */
  rewriting: ServiceRewriting | undefined;
  /** Receives the bytes of a request that its owner inspects. */
  tap: ExchangeTap | undefined;

  constructor(id: string, client: ClientFacts, what: RequestSubject, traceParent: string) {
    this.id = id;
    this.client = client;
    this.method = what.method;
    this.target = what.target;
    this.host = what.host;
    this.isHttp10 = what.http10;
    this.traceParent = traceParent;
  }
}

/** Views are valid only during the call. */
export interface ExchangeTap {
  requestBytes(view: Uint8Array): void;
  answerHead(status: number, fields: FieldLines): void;
  answerBytes(view: Uint8Array): void;
}

export interface RequestObserver {
  /** The request is admitted and about to be sent. May set `record.tap`. */
  began(record: RequestRecord, head: RequestHead): void;
  /** The request was refused; `failed` follows. */
  refused(record: RequestRecord, head: RequestHead): void;
  /** A complete response was sent, by the service or by the gateway. For an upgrade: it was granted. */
  served(record: RequestRecord): void;
  /** The request was refused, or ended without a complete response. */
  failed(record: RequestRecord, failure: Failure): void;
  /** The client disconnected before a complete response. Neither of the two methods above is called. */
  gone(record: RequestRecord): void;
  /** Called about four times a second. */
  flush(): void;
}
