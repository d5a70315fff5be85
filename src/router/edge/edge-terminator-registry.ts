/**
 * The services that SDKs host at this router: one terminator per Bind, which is removed when the Bind ends. A terminator
 * is established once any controller has accepted it. It fails when no controller is left that could accept it.
 *
 * A Bind that replaces another one has a key of its own, which a controller gives to dialers from when it accepts the
 * Bind. Until then its circuits go to the process of the earlier Bind, which also takes the terminator back if the later
 * one ends first.
 */
import { randomUUID } from 'node:crypto';
import { base62, type Log, type WorkerPool } from '#base';
import type { Channel } from '#net/channel';
import { headerId, type Frame } from '#wire';
import { peerDataEntries, RetryHint } from '#wire/circuits';
import { CreateTerminatorResult, ctrlMessages, type CtrlBody, type TerminatorPrecedence } from '#wire/ctrl';
import type { KnownApiSession } from '../ctrl/api-session-registry.ts';
import type { Controller, Controllers } from '../ctrl/controllers.ts';
import {
  CREATION_RETRY_MS,
  TerminatorCreations,
  type CreationAnswer,
} from '../terminators/terminator-creations.ts';
import { terminatorRow } from '../terminators/terminator-inspection.ts';
import { TerminatorRemovals } from '../terminators/terminator-removals.ts';

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
  readonly supportsInspect: boolean;
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

interface Entry {
  readonly terminator: EdgeTerminator;
  isEstablished: boolean;
  /** The last values that the host set. Controllers forget them when they restart. */
  isHealthy: boolean | undefined;
  /** Ids of the controllers that have accepted this Bind. */
  readonly acceptedBy: Set<string>;
  /** The Bind that this one replaces, while its process is there. */
  predecessor: Entry | undefined;
}

const MAX_FAILURES = 3;

export class EdgeTerminatorRegistry {
  readonly #options: TerminatorRegistryOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #creations: TerminatorCreations<EdgeTerminator>;
  readonly #removals: TerminatorRemovals;

  constructor(options: TerminatorRegistryOptions) {
    this.#options = options;
    this.#removals = new TerminatorRemovals({ ...options, isHosted: (id) => this.#entries.has(id) });
    this.#creations = new TerminatorCreations({
      ...options,
      frameOf: createFrame,
      retryMs,
      onAccepted: (terminator, from) => this.#onAccepted(terminator, from),
      onRefused: (terminator, reason) => {
        const predecessor = this.#entries.get(terminator.id)?.predecessor;
        this.#entries.delete(terminator.id);
        if (predecessor !== undefined) this.#restore(predecessor);
        options.onFailed(terminator, reason);
      },
    });
  }

  static newId(): string {
    return base62(Buffer.from(randomUUID().replaceAll('-', ''), 'hex'));
  }

  byId(id: string): EdgeTerminator | undefined {
    return this.#entries.get(id)?.terminator;
  }

  /** Returns the Bind whose key the dialers of this controller have. */
  hostFor(id: string, controllerId: string): EdgeTerminator | undefined {
    const entry = this.#entries.get(id);
    if (entry?.predecessor === undefined || entry.acceptedBy.has(controllerId)) return entry?.terminator;
    return entry.predecessor.terminator;
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
    const { id } = terminator;
    const predecessor = this.#entries.get(id);
    // Only one is kept. The processes of earlier ones have no circuits to expect.
    if (predecessor !== undefined) predecessor.predecessor = undefined;
    this.#entries.set(id, {
      terminator,
      isEstablished: false,
      isHealthy: undefined,
      acceptedBy: new Set(),
      predecessor,
    });
    this.#creations.add(terminator);
  }

  /** Removes a Bind that its host has closed. If it was the last of its terminator, controllers are notified in batches. */
  remove(terminator: EdgeTerminator): void {
    const { id } = terminator;
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    const { predecessor } = entry;
    if (predecessor?.terminator === terminator) {
      entry.predecessor = undefined;
    } else if (entry.terminator === terminator && predecessor !== undefined) {
      this.#restore(predecessor);
    } else if (entry.terminator === terminator) {
      this.#entries.delete(id);
      this.#creations.forget(id);
      this.#removals.add(id);
    }
  }

  /** Forwards the result of the host's own check of its service. */
  setHealth(terminator: EdgeTerminator, isHealthy: boolean): void {
    const entry = this.#entries.get(terminator.id);
    if (entry?.terminator !== terminator) return;
    entry.isHealthy = isHealthy;
    this.#options.controllers.broadcast(healthEvent(terminator, isHealthy));
  }

  onCreateResponse(body: CtrlBody<'createTerminatorV2Response'>, from: Controller): void {
    this.#creations.onAnswer(body, from);
  }

  inspect(name: string): unknown {
    if (name !== 'sdk-terminators') return undefined;
    const entries = [...this.#entries.values()].map(({ terminator, isEstablished }) => ({
      ...terminatorRow(
        { ...terminator, key: terminator.id },
        { ...this.#creations.progressOf(terminator.id), isEstablished },
      ),
      listenerId: terminator.listenerId ?? '',
      assignIds: terminator.takesConnId,
      useSdkXgress: terminator.takesXgress,
      v2: true,
      supportsInspect: terminator.supportsInspect,
    }));
    return { entries, errors: [] };
  }

  close(): void {
    this.#entries.clear();
    this.#creations.close();
    this.#removals.close();
  }

  #onAccepted(terminator: EdgeTerminator, from: Controller): void {
    const entry = this.#entries.get(terminator.id);
    if (entry === undefined) return;
    entry.acceptedBy.add(from.id);
    if (entry.isHealthy !== undefined) from.channel.send(healthEvent(terminator, entry.isHealthy));
    if (entry.isEstablished) return;
    entry.isEstablished = true;
    this.#options.onEstablished(terminator);
  }

  /** Controllers get its values again, such as the key. */
  #restore(entry: Entry): void {
    this.#entries.set(entry.terminator.id, entry);
    this.#creations.add(entry.terminator);
  }
}

/** A session that is over stays over. Other refusals may be temporary, such as a policy that has not arrived yet. */
function retryMs(failures: number, { result, retryHint }: CreationAnswer): number | undefined {
  const isFinal =
    result === CreateTerminatorResult.FAILED_INVALID_SESSION ||
    retryHint === RetryHint.startOver ||
    retryHint === RetryHint.notRetriable;
  return isFinal || failures > MAX_FAILURES ? undefined : CREATION_RETRY_MS;
}

function createFrame(terminator: EdgeTerminator): Frame {
  return ctrlMessages.createTerminatorV2.frame({
    address: terminator.id,
    sessionToken: terminator.tokenText,
    fingerprints: [terminator.channel.peer.fingerprint],
    peerData: peerDataEntries(terminator.peerData),
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
    supportsInspect: headers.bool(edge.supportsInspect),
    peerData: new Map(publicKey === undefined ? [] : [[edge.publicKey, publicKey]]),
    cost: cost === undefined || cost.length < 2 ? 0 : cost[0]! | (cost[1]! << 8),
    precedence: Math.min(headers.u8(edge.precedence) ?? 0, 2) as TerminatorPrecedence,
    instanceId: headers.text(edge.terminatorIdentity) ?? '',
    instanceSecret: headers.bytes(edge.terminatorIdentitySecret) ?? new Uint8Array(0),
  };
}
