/**
 * The services that SDKs host at this router. Registers one terminator per Bind with every controller and keeps it
 * registered: creation is retried, repeated after a controller reconnects, and undone when the Bind ends. A terminator
 * is established once any controller has accepted it. It fails when no controller is left that could accept it.
 */
import { randomUUID } from 'node:crypto';
import { base62, type Log } from '#base';
import type { Channel } from '#net';
import { headerId, peerDataRecord, RetryHint, type Frame } from '#wire';
import { CreateTerminatorResult, ctrlMessages, type CtrlBody, type TerminatorPrecedence } from '#wire/ctrl';
import type { KnownApiSession } from '../ctrl/api-session-registry.ts';
import type { Controller, Controllers } from '../ctrl/controllers.ts';
import type { WorkerPool } from '../pools/worker-pool.ts';
import { TerminatorRemovals } from './terminator-removals.ts';

const { edge } = headerId;

export interface EdgeTerminator {
  /** Base62 id, which is also its address on the overlay. */
  readonly id: string;
  /** The body of the Bind, which is returned to the host unchanged with every Dial. */
  readonly token: Uint8Array;
  readonly tokenText: string;
  readonly connId: number;
  readonly channel: Channel;
  readonly identityId: string;
  /** The session of its host. Its token can change. */
  readonly session: KnownApiSession;
  /** Header 1021. A Bind with the id of an established terminator of the same identity replaces it. */
  readonly listenerId: string | undefined;
  readonly takesConnId: boolean;
  readonly takesXgress: boolean;
  readonly wantsBindSuccess: boolean;
  readonly peerData: ReadonlyMap<number, Uint8Array>;
  cost: number;
  precedence: TerminatorPrecedence;
  readonly instanceId: string;
  readonly instanceSecret: Uint8Array;
}

export interface TerminatorRegistryOptions {
  readonly log: Log;
  /** Time limit for a controller's answer. After that, the request is repeated. */
  readonly requestTimeoutMs: number;
  readonly controllers: Controllers;
  /** The pool of `forwarder.rateLimited*`, which limits the creations with pending answers. */
  readonly pool: WorkerPool;
  onEstablished(terminator: EdgeTerminator): void;
  onFailed(terminator: EdgeTerminator, reason: string): void;
}

/** The state of one terminator at one controller. */
interface Attempt {
  state: 'asked' | 'accepted' | 'refused';
  failures: number;
  timer: NodeJS.Timeout | undefined;
  /** Returns the worker to the pool. */
  release: () => void;
}

interface Entry {
  readonly terminator: EdgeTerminator;
  isEstablished: boolean;
  /** The last values that the host set. Controllers forget them when they restart. */
  isHealthy: boolean | undefined;
  /** Registration attempts by the id of a connected controller. */
  readonly attempts: Map<string, Attempt>;
}

const RETRY_MS = 5_000;
const MAX_FAILURES = 3;

export class EdgeTerminatorRegistry {
  readonly #options: TerminatorRegistryOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #removals: TerminatorRemovals;

  constructor(options: TerminatorRegistryOptions) {
    this.#options = options;
    this.#removals = new TerminatorRemovals({ ...options, isHosted: (id) => this.#entries.has(id) });
    options.controllers.onConnected((controller) => this.#onConnected(controller));
    options.controllers.onDisconnected((controller) => this.#onDisconnected(controller));
  }

  static newId(): string {
    return base62(Buffer.from(randomUUID().replaceAll('-', ''), 'hex'));
  }

  byId(id: string): EdgeTerminator | undefined {
    return this.#entries.get(id)?.terminator;
  }

  /** Returns the established terminator of the same identity with the same listener id, which a new Bind replaces. */
  byListener(identityId: string, listenerId: string): EdgeTerminator | undefined {
    for (const { terminator } of this.#entries.values()) {
      if (terminator.listenerId === listenerId && terminator.identityId === identityId) return terminator;
    }
    return undefined;
  }

  of(channel: Channel): EdgeTerminator[] {
    return [...this.#entries.values()]
      .map((entry) => entry.terminator)
      .filter((it) => it.channel === channel);
  }

  add(terminator: EdgeTerminator): void {
    this.#forget(terminator.id);
    const entry: Entry = { terminator, isEstablished: false, isHealthy: undefined, attempts: new Map() };
    this.#entries.set(terminator.id, entry);
    for (const controller of this.#options.controllers.all()) this.#ask(entry, controller);
  }

  /** Removes a terminator that its host has closed, and reports removals to controllers in batches. */
  remove(terminator: EdgeTerminator): void {
    if (this.#entries.get(terminator.id)?.terminator !== terminator) return;
    this.#forget(terminator.id);
    this.#removals.add(terminator.id);
  }

  /** Forwards the result of the host's own check of its service. */
  setHealth(terminator: EdgeTerminator, isHealthy: boolean): void {
    const entry = this.#entries.get(terminator.id);
    if (entry?.terminator !== terminator) return;
    entry.isHealthy = isHealthy;
    this.#options.controllers.broadcast(healthEvent(terminator, isHealthy));
  }

  onCreateResponse(body: CtrlBody<'createTerminatorV2Response'>, from: Controller): void {
    const entry = this.#entries.get(body.terminatorId);
    const attempt = entry?.attempts.get(from.id);
    if (entry === undefined || attempt === undefined) return;
    clearTimeout(attempt.timer);
    attempt.release();
    if (body.result === CreateTerminatorResult.SUCCESS) {
      attempt.state = 'accepted';
      attempt.failures = 0;
      if (entry.isHealthy !== undefined) from.channel.send(healthEvent(entry.terminator, entry.isHealthy));
      if (entry.isEstablished) return;
      entry.isEstablished = true;
      this.#options.onEstablished(entry.terminator);
      return;
    }
    const isFinal =
      body.result === CreateTerminatorResult.FAILED_INVALID_SESSION ||
      body.retryHint === RetryHint.startOver ||
      body.retryHint === RetryHint.notRetriable;
    if (body.result !== CreateTerminatorResult.FAILED_BUSY) attempt.failures += 1;
    if (!isFinal && attempt.failures <= MAX_FAILURES) {
      attempt.timer = setTimeout(() => this.#ask(entry, from), RETRY_MS);
      return;
    }
    attempt.state = 'refused';
    const fields = { terminator: body.terminatorId, controllerId: from.id, reason: body.msg };
    this.#options.log.warn(fields, 'controller refused a terminator');
    this.#judge(entry, body.msg || 'refused by the controller');
  }

  inspect(name: string): unknown {
    if (name !== 'sdk-terminators') return undefined;
    const entries = [...this.#entries.values()].map(({ terminator, isEstablished, attempts }) => ({
      key: terminator.id,
      id: terminator.id,
      state: isEstablished ? 'established' : 'establishing',
      listenerId: terminator.listenerId ?? '',
      instance: terminator.instanceId,
      cost: terminator.cost,
      precedence: ['default', 'required', 'failed'][terminator.precedence] ?? 'default',
      assignIds: terminator.takesConnId,
      useSdkXgress: terminator.takesXgress,
      supportsInspect: false,
      operationActive: [...attempts.values()].some(({ state }) => state === 'asked'),
    }));
    return { entries, errors: [] };
  }

  close(): void {
    for (const id of [...this.#entries.keys()]) this.#forget(id);
    this.#removals.close();
  }

  #onConnected(controller: Controller): void {
    // The controller may have missed changes, so everything is sent again.
    for (const entry of this.#entries.values()) this.#ask(entry, controller);
  }

  #onDisconnected({ id }: Controller): void {
    for (const entry of this.#entries.values()) {
      const attempt = entry.attempts.get(id);
      if (attempt === undefined) continue;
      clearTimeout(attempt.timer);
      attempt.release();
      entry.attempts.delete(id);
    }
  }

  #ask(entry: Entry, controller: Controller): void {
    const former = entry.attempts.get(controller.id);
    clearTimeout(former?.timer);
    former?.release();
    const attempt: Attempt = {
      state: 'asked',
      failures: former?.failures ?? 0,
      timer: undefined,
      release: () => {},
    };
    entry.attempts.set(controller.id, attempt);
    const isCurrent = (): boolean =>
      this.#entries.get(entry.terminator.id) === entry && entry.attempts.get(controller.id) === attempt;
    const askAgain = (): void => {
      if (isCurrent()) this.#ask(entry, controller);
    };
    const create = (): Promise<void> | undefined => {
      if (!isCurrent() || controller.channel.isClosed) return undefined;
      controller.channel.send(createFrame(entry.terminator));
      attempt.timer = setTimeout(askAgain, this.#options.requestTimeoutMs);
      // Keeps the worker until the answer arrives or its time limit elapses.
      return new Promise((resolve) => {
        attempt.release = resolve;
      });
    };
    // A controller that does not answer must not occupy workers that other controllers need.
    if (controller.isResponsive && this.#options.pool.offer(create)) return;
    attempt.timer = setTimeout(askAgain, RETRY_MS);
  }

  #judge(entry: Entry, reason: string): void {
    const attempts = [...entry.attempts.values()];
    if (attempts.length === 0 || attempts.some(({ state }) => state !== 'refused')) return;
    this.#forget(entry.terminator.id);
    this.#options.onFailed(entry.terminator, reason);
  }

  #forget(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    for (const attempt of entry.attempts.values()) {
      clearTimeout(attempt.timer);
      attempt.release();
    }
  }
}

function createFrame(terminator: EdgeTerminator): Frame {
  return ctrlMessages.createTerminatorV2.frame({
    address: terminator.id,
    sessionToken: terminator.tokenText,
    fingerprints: [terminator.channel.peer.fingerprint],
    peerData: peerDataRecord(terminator.peerData),
    cost: terminator.cost,
    precedence: terminator.precedence,
    instanceId: terminator.instanceId,
    instanceSecret: terminator.instanceSecret,
    apiSessionToken: terminator.session.token,
  });
}

function healthEvent(terminator: EdgeTerminator, isHealthy: boolean): Frame {
  return ctrlMessages.healthEvent.frame({
    sessionToken: terminator.tokenText,
    fingerprints: [terminator.channel.peer.fingerprint],
    terminatorId: terminator.id,
    checkPassed: isHealthy,
    apiSessionToken: terminator.session.token,
  });
}

/** Reads a Bind's headers. */
export function terminatorOfBind(
  bind: Frame,
  channel: Channel,
  session: KnownApiSession,
  id: string,
): EdgeTerminator {
  const { headers } = bind;
  const publicKey = headers.bytes(edge.publicKey);
  // The C SDK sends cost and precedence as 4 bytes, of which the low ones are used.
  const cost = headers.bytes(edge.cost);
  return {
    id,
    token: bind.body,
    tokenText: Buffer.from(bind.body).toString('utf8'),
    connId: headers.u32(edge.connId) ?? 0,
    channel,
    identityId: session.identityId,
    session,
    listenerId: headers.text(edge.listenerId) || undefined,
    takesConnId: headers.bool(edge.routerProvidedConnId),
    takesXgress: headers.bool(edge.useXgressToSdk),
    wantsBindSuccess: headers.bool(edge.supportsBindSuccess),
    peerData: new Map(publicKey === undefined ? [] : [[edge.publicKey, publicKey]]),
    cost: cost === undefined || cost.length < 2 ? 0 : cost[0]! | (cost[1]! << 8),
    precedence: Math.min(headers.u8(edge.precedence) ?? 0, 2) as TerminatorPrecedence,
    instanceId: headers.text(edge.terminatorIdentity) ?? '',
    instanceSecret: headers.bytes(edge.terminatorIdentitySecret) ?? new Uint8Array(0),
  };
}
