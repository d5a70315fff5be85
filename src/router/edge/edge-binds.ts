/** The services that one SDK hosts on its channel: handles its Bind messages and registers their terminators. */
import type { Channel } from '#net/channel';
import { contentType, HeaderWriter, headerId, makeFrame, textOfBody, type Frame } from '#wire';
import { ctrlMessages, type TerminatorPrecedence } from '#wire/ctrl';
import type { KnownApiSession } from '../ctrl/api-session-registry.ts';
import { stateClosed } from './edge-circuit.ts';
import type { EdgePeerContext } from './edge-peer-context.ts';
import { costOf, keptFrame, memoryFault, type IdentityMemory } from './identity-memory.ts';
import { EdgeTerminatorRegistry, terminatorOfBind, type EdgeTerminator } from './edge-terminator-registry.ts';
import { SESSION_ENDED, type GrantFault } from './forbidden-circuits.ts';
import type { ConnectionGrant } from './service-grants.ts';
import { TokenSession } from './token-session.ts';

const { edge } = headerId;

export interface EdgeBindsOptions {
  readonly channel: Channel;
  readonly session: KnownApiSession;
  readonly context: Pick<EdgePeerContext, 'log' | 'terminators' | 'sendToControllers' | 'grants'>;
  readonly memory: IdentityMemory;
  /** Returns the reason why a connection id cannot be used, or undefined. */
  connIdFault(connId: number): string | undefined;
}

export class EdgeBinds {
  readonly #options: EdgeBindsOptions;
  readonly #binds = new Map<number, EdgeTerminator>();
  readonly #bindCosts = new Map<EdgeTerminator, number>();
  /** By connection id, for sessions that tokens have proven. */
  readonly #grants = new Map<number, ConnectionGrant>();
  /** Connection ids of binds whose authorization is pending. */
  readonly #pending = new Set<number>();

  constructor(options: EdgeBindsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#binds.size + this.#pending.size;
  }

  has(connId: number): boolean {
    return this.#binds.has(connId) || this.#pending.has(connId);
  }

  grantOf(connId: number): ConnectionGrant | undefined {
    return this.#grants.get(connId);
  }

  /** Handles Bind, Unbind, UpdateBind and EdgeHealthEvent. */
  onFrame(frame: Frame): void {
    if (frame.contentType === contentType.bind) this.#onBind(frame);
    else if (frame.contentType === contentType.unbind) this.#onUnbind(frame);
    else if (frame.contentType === contentType.updateBind) this.#onUpdateBind(frame);
    else this.#onHealthEvent(frame);
  }

  onEstablished(terminator: EdgeTerminator): void {
    if (!terminator.wantsBindSuccess) return;
    const headers = new HeaderWriter().u32(edge.connId, terminator.connId);
    this.#options.channel.send(makeFrame(contentType.bindSuccess, { headers }));
  }

  onFailed(terminator: EdgeTerminator, reason: string): void {
    this.#forget(terminator);
    this.#options.channel.send(stateClosed(terminator.connId, reason));
  }

  /** Ends the binds for which `faultOf` returns a reason, which the SDK receives. */
  endForbidden(faultOf: GrantFault): void {
    const { context, session, channel } = this.#options;
    for (const [connId, grant] of this.#grants) {
      const reason = faultOf(grant);
      if (reason === undefined) continue;
      context.log.info({ identity: session.identityId, reason }, 'bind ended');
      this.remove(connId);
      channel.send(stateClosed(connId, reason));
    }
  }

  /** Ends the binds of service sessions, and notifies the SDK. */
  endSessions(tokens: ReadonlySet<string>): void {
    for (const { connId, tokenText } of [...this.#binds.values()]) {
      if (!tokens.has(tokenText)) continue;
      this.remove(connId);
      this.#options.channel.send(stateClosed(connId, SESSION_ENDED));
    }
  }

  close(): void {
    this.#pending.clear();
    for (const connId of [...this.#binds.keys()]) this.remove(connId);
  }

  #onBind(frame: Frame): void {
    const connId = frame.headers.u32(edge.connId);
    if (connId === undefined) return;
    const fault = this.#options.connIdFault(connId) ?? this.#memoryFault(frame);
    if (fault !== undefined) {
      this.#options.channel.reply(frame, stateClosed(connId, fault));
      return;
    }
    const { session } = this.#options;
    if (session instanceof TokenSession) void this.#authorize(keptFrame(frame), connId, session);
    else this.#establish(keptFrame(frame), connId);
  }

  async #authorize(frame: Frame, connId: number, session: TokenSession): Promise<void> {
    const { context, memory, channel } = this.#options;
    this.#pending.add(connId);
    const grant = await context.grants.grant(session, textOfBody(frame), 'Bind');
    // The SDK may have left, or ended the connection.
    const isWanted = this.#pending.delete(connId);
    if (isWanted && !('fault' in grant)) {
      this.#grants.set(connId, grant);
      this.#establish(frame, connId);
      return;
    }
    memory.giveBack(session.identityId, costOf(frame));
    if (!isWanted || !('fault' in grant)) return;
    context.log.info({ identity: session.identityId, reason: grant.fault }, 'bind refused');
    channel.reply(frame, stateClosed(connId, grant.fault));
  }

  /** The memory of `frame`, which is kept, is reserved. */
  #establish(frame: Frame, connId: number): void {
    const { context, session, channel } = this.#options;
    const { terminators } = context;
    const listenerId = frame.headers.text(edge.listenerId) ?? '';
    const standing = listenerId === '' ? undefined : terminators.byListener(session.identityId, listenerId);
    const id = standing?.id ?? EdgeTerminatorRegistry.newId();
    const terminator = terminatorOfBind(frame, channel, session, id);
    this.#binds.set(connId, terminator);
    this.#bindCosts.set(terminator, costOf(frame));
    const headers = new HeaderWriter().u32(edge.connId, connId);
    if (terminator.takesConnId) headers.bool(edge.routerProvidedConnId, true);
    channel.reply(frame, makeFrame(contentType.stateConnected, { headers }));
    terminators.add(terminator);
  }

  #onUnbind(frame: Frame): void {
    const connId = frame.headers.u32(edge.connId);
    if (connId === undefined) return;
    this.remove(connId);
    // The C SDK waits for an answer; the Go SDK ignores this one.
    this.#options.channel.reply(frame, stateClosed(connId, 'unbound'));
  }

  remove(connId: number): void {
    this.#pending.delete(connId);
    const terminator = this.#binds.get(connId);
    if (terminator === undefined) return;
    this.#forget(terminator);
    this.#options.context.terminators.remove(terminator);
  }

  #forget(terminator: EdgeTerminator): void {
    this.#binds.delete(terminator.connId);
    this.#grants.delete(terminator.connId);
    this.#options.memory.giveBack(this.#options.session.identityId, this.#bindCosts.get(terminator) ?? 0);
    this.#bindCosts.delete(terminator);
  }

  #onUpdateBind(frame: Frame): void {
    const terminator = this.#binds.get(frame.headers.u32(edge.connId) ?? -1);
    if (terminator === undefined) return;
    const cost = frame.headers.u16(edge.cost);
    const precedence = frame.headers.u8(edge.precedence);
    if (cost !== undefined) terminator.cost = cost;
    if (precedence !== undefined) terminator.precedence = Math.min(precedence, 2) as TerminatorPrecedence;
    // If a later process of the same host has taken over the terminator, reports of the earlier process are ignored.
    if (this.#options.context.terminators.byId(terminator.id) !== terminator) return;
    const update = ctrlMessages.updateEdgeTerminator.frame({
      sessionToken: terminator.tokenText,
      fingerprints: [this.#options.channel.peer.fingerprint],
      terminatorId: terminator.id,
      cost: terminator.cost,
      precedence: terminator.precedence,
      updateCost: cost !== undefined,
      updatePrecedence: precedence !== undefined,
      apiSessionToken: this.#options.session.token,
    });
    this.#options.context.sendToControllers(update);
  }

  #onHealthEvent(frame: Frame): void {
    const terminator = this.#binds.get(frame.headers.u32(edge.connId) ?? -1);
    if (terminator === undefined) return;
    this.#options.context.terminators.setHealth(terminator, frame.headers.bool(edge.healthStatus));
  }

  #memoryFault(frame: Frame): string | undefined {
    const { session, memory, context } = this.#options;
    return memoryFault(frame, session.identityId, memory, context.log);
  }
}
