/**
 * The services that SDKs host at this router: one terminator per Bind, told to the controllers and kept true there:
 * created with retries, created again after a controller comes back, removed when the Bind goes.
 */
import { randomUUID } from 'node:crypto';
import { base62, type Log } from '#base';
import type { Channel } from '#net';
import { headerId, peerDataRecord, RetryHint, type Frame } from '#wire';
import {
  CreateTerminatorResult,
  ctrlMessages,
  TerminatorInvalidReason,
  type CtrlBody,
  type TerminatorPrecedence,
} from '#wire/ctrl';

const { edge } = headerId;

export interface Terminator {
  /** Base62; also its address on the overlay. */
  readonly id: string;
  /** Body of the Bind: goes back to the host byte for byte with every Dial. */
  readonly token: Uint8Array;
  readonly tokenText: string;
  readonly connId: number;
  readonly channel: Channel;
  readonly identityId: string;
  readonly apiSessionToken: string;
  /** Header 1021: a Bind with the id of a standing one of the same identity replaces it. */
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
  /** How long a controller may take to answer before it is asked again. */
  readonly requestTimeoutMs: number;
  /** Sends to every connected controller; false when there is none. */
  sendToControllers(frame: Frame): boolean;
  onEstablished(terminator: Terminator): void;
  onFailed(terminator: Terminator, reason: string): void;
}

export interface TerminatorState {
  readonly valid: boolean;
  /** Counts when it is not valid. */
  readonly reason: TerminatorInvalidReason;
  readonly detail: string;
  readonly marker: bigint;
}

interface Entry {
  readonly terminator: Terminator;
  isEstablished: boolean;
  /** The host's last word on its service; controllers forget it when they restart. */
  isHealthy: boolean | undefined;
  failures: number;
  timer: NodeJS.Timeout | undefined;
}

const RETRY_MS = 5_000;
const MAX_FAILURES = 3;
const REMOVE_BATCH = 50;

export class TerminatorRegistry {
  readonly #options: TerminatorRegistryOptions;
  readonly #entries = new Map<string, Entry>();
  #toRemove: string[] = [];

  constructor(options: TerminatorRegistryOptions) {
    this.#options = options;
  }

  static newId(): string {
    return base62(Buffer.from(randomUUID().replaceAll('-', ''), 'hex'));
  }

  byId(id: string): Terminator | undefined {
    return this.#entries.get(id)?.terminator;
  }

  /** Standing terminator of the same identity with the same listener id, which a new Bind replaces. */
  byListener(identityId: string, listenerId: string): Terminator | undefined {
    for (const { terminator } of this.#entries.values()) {
      if (terminator.listenerId === listenerId && terminator.identityId === identityId) return terminator;
    }
    return undefined;
  }

  of(channel: Channel): Terminator[] {
    return [...this.#entries.values()]
      .map((entry) => entry.terminator)
      .filter((it) => it.channel === channel);
  }

  add(terminator: Terminator): void {
    this.#forget(terminator.id);
    const entry: Entry = {
      terminator,
      isEstablished: false,
      isHealthy: undefined,
      failures: 0,
      timer: undefined,
    };
    this.#entries.set(terminator.id, entry);
    this.#create(entry);
  }

  /** Gone at the host: the controllers are told, several at once. */
  remove(terminator: Terminator): void {
    if (this.#entries.get(terminator.id)?.terminator !== terminator) return;
    this.#forget(terminator.id);
    if (this.#toRemove.push(terminator.id) === 1) setImmediate(() => this.#flushRemovals());
  }

  /** The host's own check of its service. */
  setHealth(terminator: Terminator, isHealthy: boolean): void {
    const entry = this.#entries.get(terminator.id);
    if (entry?.terminator !== terminator) return;
    entry.isHealthy = isHealthy;
    this.#tellHealth(entry);
  }

  /** A controller is connected (again): it may have missed anything. */
  onControllerConnected(): void {
    for (const entry of this.#entries.values()) this.#create(entry);
  }

  onCreateResponse(body: CtrlBody<'createTerminatorV2Response'>): void {
    const entry = this.#entries.get(body.terminatorId);
    if (entry === undefined) return;
    clearTimeout(entry.timer);
    if (body.result === CreateTerminatorResult.SUCCESS) {
      const wasEstablished = entry.isEstablished;
      entry.isEstablished = true;
      entry.failures = 0;
      this.#tellHealth(entry);
      if (!wasEstablished) this.#options.onEstablished(entry.terminator);
      return;
    }
    const isFinal =
      body.result === CreateTerminatorResult.FAILED_INVALID_SESSION ||
      body.retryHint === RetryHint.startOver ||
      body.retryHint === RetryHint.notRetriable;
    if (body.result !== CreateTerminatorResult.FAILED_BUSY) entry.failures += 1;
    if (isFinal || entry.failures > MAX_FAILURES) {
      this.#options.log.warn(
        { terminator: body.terminatorId, reason: body.msg },
        'controller refused a terminator',
      );
      this.#forget(body.terminatorId);
      this.#options.onFailed(entry.terminator, body.msg || 'refused by the controller');
      return;
    }
    entry.timer = setTimeout(() => this.#create(entry), RETRY_MS);
  }

  /** The state that a controller asks for by ValidateTerminatorsV2. */
  states(asked: CtrlBody<'validateTerminatorsV2'>['terminators']): Record<string, TerminatorState> {
    const states: Record<string, TerminatorState> = {};
    for (const { id, binding, marker } of asked) {
      const isEdge = binding === 'edge';
      const valid = isEdge && this.#entries.has(id);
      const reason = isEdge
        ? TerminatorInvalidReason.UNKNOWN_TERMINATOR
        : TerminatorInvalidReason.UNKNOWN_BINDING;
      states[id] = { valid, reason, detail: valid ? '' : 'unknown here', marker };
    }
    return states;
  }

  close(): void {
    for (const entry of this.#entries.values()) clearTimeout(entry.timer);
    this.#entries.clear();
  }

  #create(entry: Entry): void {
    const { terminator } = entry;
    clearTimeout(entry.timer);
    const frame = ctrlMessages.createTerminatorV2.frame({
      address: terminator.id,
      sessionToken: terminator.tokenText,
      fingerprints: [terminator.channel.peer.fingerprint],
      peerData: peerDataRecord(terminator.peerData),
      cost: terminator.cost,
      precedence: terminator.precedence,
      instanceId: terminator.instanceId,
      instanceSecret: terminator.instanceSecret,
      apiSessionToken: terminator.apiSessionToken,
    });
    if (!this.#options.sendToControllers(frame)) return;
    entry.timer = setTimeout(() => this.#create(entry), this.#options.requestTimeoutMs);
  }

  #tellHealth({ terminator, isHealthy }: Entry): void {
    if (isHealthy === undefined) return;
    const event = ctrlMessages.healthEvent.frame({
      sessionToken: terminator.tokenText,
      fingerprints: [terminator.channel.peer.fingerprint],
      terminatorId: terminator.id,
      checkPassed: isHealthy,
      apiSessionToken: terminator.apiSessionToken,
    });
    this.#options.sendToControllers(event);
  }

  #forget(id: string): void {
    clearTimeout(this.#entries.get(id)?.timer);
    this.#entries.delete(id);
  }

  #flushRemovals(): void {
    const ids = this.#toRemove.filter((id) => !this.#entries.has(id));
    this.#toRemove = [];
    for (let at = 0; at < ids.length; at += REMOVE_BATCH) {
      const batch = ids.slice(at, at + REMOVE_BATCH);
      this.#options.sendToControllers(ctrlMessages.removeTerminators.frame({ terminatorIds: batch }));
    }
  }
}

/** Reads a Bind's headers. */
export function terminatorOfBind(
  bind: Frame,
  channel: Channel,
  identityId: string,
  apiSessionToken: string,
  id: string,
): Terminator {
  const { headers } = bind;
  const publicKey = headers.bytes(edge.publicKey);
  // The C SDK sends cost and precedence as 4 bytes: the low ones count.
  const cost = headers.bytes(edge.cost);
  return {
    id,
    token: bind.body,
    tokenText: Buffer.from(bind.body).toString('utf8'),
    connId: headers.u32(edge.connId) ?? 0,
    channel,
    identityId,
    apiSessionToken,
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
