/**
 * Repeats a recorded request to its share for the owner: over a circuit of its own, without access control, and
 * not counted as traffic. The result is recorded like an inspected request, whether it is a response or a
 * failure.
 */
import { performance } from 'node:perf_hooks';
import type { CircuitError } from '#sdk';
import { messageOf, newNumber } from '#base';
import { REDACTED, type GatewayReplay, type InspectedRequest } from '#domain/gateway-shapes';
import { readAnswerHead } from '../answers/answer-head.ts';
import type { BodyDecoder, BodySink } from '../http/body-decoder.ts';
import { failureOfCircuit } from '../circuits/circuit-failure.ts';
import type { RequestCircuits } from '../services/request-circuits.ts';
import {
  FAILURES,
  failureOfAnswer,
  failureOfRequest,
  serviceFailure,
  type Failure,
} from '../answers/failure-table.ts';
import { encodeUpstreamHead } from '../http/forward-head-codec.ts';
import type { HeadChanges } from '../http/head-changes.ts';
import { routeOfPath } from '../exchange/path-decision.ts';
import type { GatewayLimits } from '../limits/gateway-limits.ts';
import { RequestHead, readRequestHead } from '../http/request-head-policy.ts';
import { answerBody, ResponseHead } from '../http/response-head-policy.ts';
import type { CircuitWaiter, GatewayRoute, Upstream, UpstreamOwner } from '../circuits/upstream.ts';
import { InspectionTap } from './inspection-tap.ts';
import { redactedTarget, type SecretNames } from './redaction.ts';
import { unixMsOf } from './request-facts.ts';

export interface ReplayParts {
  readonly pool: RequestCircuits;
  readonly limits: GatewayLimits;
  /** Time limit for the whole replay. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;
const MAX_RUNNING = 16;
/** A longer response is cut here. Less than this is kept of it. */
const MAX_ANSWER_BYTES = 4 * 1_048_576;
const NO_SECRETS: SecretNames = { headers: [], parameters: [] };

export class Replayer {
  readonly #parts: ReplayParts;
  #running = 0;

  constructor(parts: ReplayParts) {
    this.#parts = parts;
  }

  /** Always resolves, in bounded time. A request beyond the limit is not sent. */
  async replay(route: GatewayRoute, command: GatewayReplay): Promise<InspectedRequest> {
    const { pool, limits, timeoutMs } = this.#parts;
    const { promise, resolve } = Promise.withResolvers<InspectedRequest>();
    const replay = new Replay(pool, limits, route, command, resolve);
    this.#running += 1;
    if (this.#running > MAX_RUNNING) replay.refuse();
    else replay.start(timeoutMs ?? TIMEOUT_MS);
    const inspected = await promise;
    this.#running -= 1;
    return inspected;
  }
}

class Replay implements CircuitWaiter, UpstreamOwner, BodySink {
  readonly number = newNumber();
  readonly freshOnly = true;
  readonly party = 'replay';
  readonly client = undefined;
  readonly sinceMs = Infinity;
  readonly #pool: RequestCircuits;
  readonly #limits: GatewayLimits;
  /** That of the path, once the head is read. */
  #route: GatewayRoute;
  readonly #command: GatewayReplay;
  readonly #done: (inspected: InspectedRequest) => void;
  readonly #head = new RequestHead();
  readonly #body: Buffer;
  readonly #startedMs = performance.now();
  #tap: InspectionTap | undefined;
  #timer: NodeJS.Timeout | undefined;
  #upstream: Upstream | undefined;
  #answer: BodyDecoder | undefined;
  #status = 0;
  #circuitMs: number | null = null;
  #firstByteMs: number | null = null;
  #isOver = false;

  constructor(
    pool: RequestCircuits,
    limits: GatewayLimits,
    route: GatewayRoute,
    command: GatewayReplay,
    done: (inspected: InspectedRequest) => void,
  ) {
    this.#pool = pool;
    this.#limits = limits;
    this.#route = route;
    this.#command = command;
    this.#done = done;
    this.#body = Buffer.from(command.body, 'base64');
  }

  start(timeoutMs: number): void {
    const refusal = this.#readHead();
    if (refusal !== undefined) {
      this.#end(refusal);
      return;
    }
    this.#tap = new InspectionTap({
      maxBodyBytes: this.#route.share.inspection?.maxBodyBytes ?? 0,
      fields: this.#head.fields,
      omitted: [],
      secrets: NO_SECRETS,
      allow: (bytes) => bytes,
      onHeld: () => {},
    });
    this.#tap.requestBytes(this.#body);
    this.#timer = setTimeout(() => {
      this.#end(this.#upstream === undefined ? FAILURES.dialTimeout : FAILURES.answerTimeout);
    }, timeoutMs);
    if (!this.#pool.wait(this.#route, this)) this.#end(FAILURES.tooManyWaiting);
  }

  refuse(): void {
    this.#end(FAILURES.tooManyWaiting);
  }

  circuitReady(upstream: Upstream): void {
    if (this.#isOver) {
      this.#pool.release(upstream, -1);
      return;
    }
    this.#circuitMs = this.#sinceStart();
    this.#upstream = upstream;
    upstream.owner = this;
    const { id, replayOf } = this.#command;
    const lines = `Frontdoor-Request-Id: ${id}\r\nFrontdoor-Replay: ${replayOf}\r\n`;
    upstream.circuit.write(Buffer.from(encodeUpstreamHead(this.#head, lines, this.#changes()), 'latin1'));
    if (this.#body.length > 0 && !this.#isOver) upstream.circuit.write(this.#body);
  }

  circuitFailed(error: CircuitError): void {
    this.#end(failureOfCircuit(error));
  }

  upstreamData(bytes: Buffer): void {
    this.#firstByteMs ??= this.#sinceStart();
    let rest: Buffer | undefined = bytes;
    while (rest !== undefined && this.#answer === undefined && !this.#isOver)
      rest = this.#readAnswerHead(rest);
    if (this.#answer === undefined || this.#isOver) return;
    if (rest !== undefined) this.#answer.decode(rest, 0, this);
    if (this.#answer.malformed) this.#end(failureOfAnswer('malformed-chunk'));
    else if (this.#answer.done || this.#answer.dataBytes > MAX_ANSWER_BYTES) this.#end(null);
  }

  upstreamEnded(): void {
    if (this.#answer?.end() === true) this.#end(null);
    else this.#lost('the service closed the connection before its response was complete');
  }

  upstreamClosed(error: CircuitError | undefined): void {
    if (error === undefined) this.#lost('the circuit closed before the response was complete');
    else this.#end(failureOfCircuit(error));
  }

  upstreamDrained(): void {}

  upstreamFault(error: unknown): void {
    this.#end({ ...FAILURES.internal, cause: messageOf(error) });
  }

  bodyRun(bytes: Uint8Array, start: number, end: number): void {
    this.#tap!.answerBytes(bytes.subarray(start, end));
  }

  /** Those of the share's upstream settings, as for a request of a client. */
  #changes(): HeadChanges | undefined {
    const { hostValue } = this.#head;
    return this.#route.heads?.begin({ hostValue, isSecure: false }).requestChanges(this.#head, undefined);
  }

  /** Returns the bytes that follow the head. */
  #readAnswerHead(bytes: Buffer): Buffer | undefined {
    const { heads } = this.#upstream!;
    const head = new ResponseHead();
    if (!heads.push(bytes)) return undefined;
    const failure = readAnswerHead(heads, this.#limits.maxResponseFields, head);
    if (failure !== undefined) {
      this.#end(failure);
      return undefined;
    }
    if (head.status >= 200) {
      this.#status = head.status;
      this.#tap!.answerHead(head.status, head.fields);
      this.#answer = answerBody(this.#head.method, head);
      return heads.rest ?? Buffer.alloc(0);
    }
    if (head.status === 101) this.#lost('the service did not respond to the request itself');
    return heads.rest;
  }

  /** Uses the same strict reader as other requests, so that ambiguous ones are refused. */
  #readHead(): Failure | undefined {
    const { method, target, headers } = this.#command;
    let text = `${method} ${target} HTTP/1.1\r\n`;
    let hasHost = false;
    for (const [name, value] of headers) {
      const folded = name.toLowerCase();
      if (value === REDACTED || FRAMING.test(folded)) continue;
      if (/[^\t -~\u0080-\u00FF]/.test(name + value)) return failureOfRequest('control-byte');
      hasHost ||= folded === 'host';
      text += `${name}: ${value}\r\n`;
    }
    if (!hasHost) text += `Host: ${this.#route.share.hosts[0] ?? 'localhost'}\r\n`;
    if (this.#body.length > 0) text += `Content-Length: ${this.#body.length}\r\n`;
    if (/[^!-~]/.test(method + target)) return failureOfRequest('malformed-request-line');
    const refusal = readRequestHead(`${text}\r\n`, this.#limits.maxFields, this.#head);
    if (refusal !== undefined) return failureOfRequest(refusal);
    const found = routeOfPath(this.#route, this.#head.target);
    if ('cause' in found) return found;
    this.#route = found;
    return undefined;
  }

  #lost(cause: string): void {
    this.#end(serviceFailure(502, 'no-answer', cause));
  }

  #end(failure: Failure | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (this.#upstream === undefined) this.#pool.cancel(this.#route, this);
    else this.#pool.discard(this.#upstream, 'replayed');
    const { id, replayOf, method, target } = this.#command;
    const { share } = this.#route;
    const nothing = { headers: [], body: '', bodyBytes: 0, isTruncated: false };
    this.#done({
      id,
      replayOf,
      at: unixMsOf(this.#startedMs),
      shareId: share.id,
      frontdoorId: share.frontdoorId,
      method,
      host: this.#head.host,
      target: redactedTarget(target, NO_SECRETS),
      client: '',
      identity: null,
      decision: 'replay',
      status: this.#status,
      failure: failure === null ? null : { code: failure.code, hop: failure.hop, cause: failure.cause },
      traceId: null,
      timings: {
        decidedMs: 0,
        circuitMs: this.#circuitMs,
        firstByteMs: this.#firstByteMs,
        doneMs: this.#sinceStart(),
      },
      ...(this.#tap?.messages() ?? { request: nothing, answer: nothing }),
    });
  }

  #sinceStart(): number {
    return Math.round((performance.now() - this.#startedMs) * 1_000) / 1_000;
  }
}

/** Written again for the request that is sent now. */
const FRAMING = /^(?:content-length|transfer-encoding|connection|upgrade|keep-alive|expect)$/;
