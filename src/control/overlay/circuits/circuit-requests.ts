/**
 * Requests of routers for circuits. All kinds take one path: the kind says who dials what, and then the number of pending
 * dials and of circuits is bounded, the circuit is built, and the request is answered once, on the channel that it came on.
 * What a dialer says about itself is replaced by the known facts.
 */
import { utf8, type Clock, type Log } from '#base';
import { SummedLog } from '#net';
import { headerId, makeFrame, type Frame } from '#wire';
import { EdgeErrorCode, RetryHint } from '#wire/circuits';
import type { ConnectedRouter } from '../mesh/connected-router.ts';
import type { Terminator } from '../terminators/terminator-registry.ts';
import type { CircuitBuilder, CircuitFailure, CircuitOutcome } from './circuit-builder.ts';
import type { CircuitRegistry } from './circuit-registry.ts';
import type { CircuitRequestKind, DialJudges, PermittedDial, RefusedDial } from './circuit-request-kinds.ts';
import { judgeKeyExchange, type KeyExchange, type LocalEnds } from './key-exchange-policy.ts';
import type { CircuitPath } from '../mesh/path-policy.ts';
import type { RefusalTrail } from '../permits/refusal-trail.ts';

export interface PendingLimits {
  readonly maxPendingPerRouter: number;
  readonly maxPendingPerIdentity: number;
}

const PENDING_LIMITS: PendingLimits = { maxPendingPerRouter: 4_096, maxPendingPerIdentity: 2_048 };

export interface CircuitRequestsOptions extends DialJudges {
  readonly builder: CircuitBuilder;
  readonly circuits: CircuitRegistry;
  readonly localEnds: () => LocalEnds | undefined;
  readonly clock: Clock;
  readonly refusals: Pick<RefusalTrail, 'request'>;
  readonly log: Log;
  readonly limits?: PendingLimits | undefined;
}

const { peerData: keys } = headerId;
/** What the controller says of the dialer. */
const IDENTITY_KEYS: ReadonlySet<number> = new Set([
  keys.callerId,
  keys.dialerIdentityId,
  keys.dialerIdentityName,
  keys.cryptoMethod,
]);

export class CircuitRequests {
  readonly #options: CircuitRequestsOptions;
  readonly #summedLog: SummedLog;
  readonly #limits: PendingLimits;
  readonly #pendingPerIdentity = new Map<string, number>();

  constructor(options: CircuitRequestsOptions) {
    this.#summedLog = new SummedLog(options.log);
    this.#options = options;
    this.#limits = options.limits ?? PENDING_LIMITS;
  }

  /** @throws FrontdoorError `protocol` */
  create(kind: CircuitRequestKind, router: ConnectedRouter, frame: Frame): void {
    // The pending request must not retain the socket's read buffer.
    const asked = makeFrame(frame.contentType, { sequence: frame.sequence });
    const dial = kind.read(this.#options, router, frame);
    if ('code' in dial) {
      this.#refuse(kind, router, asked, dial);
      return;
    }
    const full = this.#fullOf(router, dial);
    if (full !== undefined) {
      this.#refuse(kind, router, asked, full, dial);
      return;
    }
    const { service, identityId, sessionId, instanceId } = dial;
    const peerData = this.#peerDataOf(dial);
    const hasDialerKey = peerData.has(headerId.edge.publicKey);
    this.#count(router, identityId, 1);
    const wish = {
      service,
      identityId,
      sessionId,
      ingress: router,
      instanceId,
      peerData,
      ...(identityId === undefined
        ? {}
        : {
            judgeKeys: (terminator: Terminator, path: CircuitPath) =>
              this.#judgeKeys(identityId, service.id, hasDialerKey, terminator, path),
          }),
    };
    this.#options.builder.build(wish, (outcome) => {
      this.#count(router, identityId, -1);
      if (outcome.isMade) kind.grant(router, asked, outcome);
      else this.#refuse(kind, router, asked, this.#refusalOf(outcome, dial), dial);
    });
  }

  #fullOf(router: ConnectedRouter, { service, identityId }: PermittedDial): RefusedDial | undefined {
    const { maxPendingPerRouter, maxPendingPerIdentity } = this.#limits;
    const isOfRouter = identityId === undefined || identityId === router.id;
    let text: string | undefined;
    if (router.pendingCircuits >= maxPendingPerRouter) text = 'this router has too many dials in progress';
    else if (!isOfRouter && this.#pendingOf(identityId) >= maxPendingPerIdentity)
      text = 'this identity has too many dials in progress';
    else if (!this.#options.circuits.hasRoomFor(identityId ?? router.id))
      text = `this ${isOfRouter ? 'router' : 'identity'} has too many circuits`;
    if (text === undefined) return undefined;
    const failure = { text, code: EdgeErrorCode.internal, retryHint: RetryHint.tooBusy };
    if (isOfRouter) return failure;
    return { ...failure, audit: { identityId, reason: 'too-many-dials', share: service.name } };
  }

  #judgeKeys(
    dialerId: string,
    serviceId: string,
    hasDialerKey: boolean,
    terminator: Terminator,
    path: CircuitPath,
  ): KeyExchange {
    const { model, localEnds, clock } = this.#options;
    const ends = localEnds();
    const hostId = terminator.identityId;
    const dialerKind = model.identity(dialerId)?.kind;
    return judgeKeyExchange({
      hasDialerKey,
      hasHostKey: terminator.peerData.has(headerId.edge.publicKey),
      isGateway: dialerKind === 'gateway',
      isRequired: model.edge.service(serviceId)?.encryptionRequired,
      // A router reads from the data model that shares are encrypted, also of a host that has just come.
      hostedMs: dialerKind === 'router' ? Infinity : clock.nowMs() - (terminator.createdAtMs ?? 0),
      isInProcess:
        ends?.gatewayId === dialerId &&
        path.routerIds.length === 1 &&
        path.routerIds[0] === ends.routerId &&
        hostId !== undefined &&
        (model.identity(hostId)?.agentVersion ?? null) !== null,
    });
  }

  /** Copies the data, because the values are views of the socket's read buffer. */
  #peerDataOf({ identityId, peerData: given }: PermittedDial): Map<number, Uint8Array> {
    const peerData = new Map<number, Uint8Array>();
    for (const [key, value] of given) if (!IDENTITY_KEYS.has(key)) peerData.set(key, new Uint8Array(value));
    if (identityId === undefined) return peerData;
    const name = utf8(this.#options.model.identity(identityId)?.name ?? identityId);
    peerData.set(keys.callerId, name);
    peerData.set(keys.dialerIdentityId, utf8(identityId));
    peerData.set(keys.dialerIdentityName, name);
    return peerData;
  }

  #pendingOf(identityId: string): number {
    return this.#pendingPerIdentity.get(identityId) ?? 0;
  }

  #count(router: ConnectedRouter, identityId: string | undefined, change: 1 | -1): void {
    router.pendingCircuits += change;
    if (identityId === undefined) return;
    const count = this.#pendingOf(identityId) + change;
    if (count === 0) this.#pendingPerIdentity.delete(identityId);
    else this.#pendingPerIdentity.set(identityId, count);
  }

  #refusalOf(
    outcome: Extract<CircuitOutcome, { isMade: false }>,
    { identityId, service }: PermittedDial,
  ): RefusedDial {
    const isGateway =
      identityId !== undefined && this.#options.model.identity(identityId)?.kind === 'gateway';
    // Gateways record for the owner of a share why it was not reached.
    if (isGateway || identityId === undefined) return { ...outcome, text: outcome.detail ?? outcome.text };
    const reason = reasonOf(outcome);
    return reason === undefined
      ? outcome
      : { ...outcome, audit: { identityId, reason, share: service.name } };
  }

  #refuse(
    kind: CircuitRequestKind,
    router: ConnectedRouter,
    asked: Frame,
    refused: RefusedDial,
    dial?: PermittedDial,
  ): void {
    const { circuitId, code, text, detail, audit } = refused;
    const { refusals } = this.#options;
    const identity = audit?.identityId ?? dial?.identityId;
    this.#summedLog.info(
      `${audit?.share ?? dial?.service.name ?? ''} ${code} ${text}`,
      { router: router.id, identity, circuit: circuitId, code, reason: detail ?? text },
      'circuit refused',
    );
    if (audit !== undefined) refusals.request({ action: 'dial', routerId: router.id, ...audit });
    kind.refuse(router, asked, refused);
  }
}

/** Returns the reason for the audit trail, or undefined if it does not belong there. */
function reasonOf({ code }: CircuitFailure): string | undefined {
  if (code === EdgeErrorCode.invalidTerminator) return 'no-terminator';
  return code === EdgeErrorCode.invalidSession ? 'not-granted' : undefined;
}
