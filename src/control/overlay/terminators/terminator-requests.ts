/**
 * Requests of routers to create, change and remove terminators, and what they report of the health of hosted ones. All kinds
 * take one path: the kind says on whose behalf the request is, and then it is checked, stored, registered and answered once.
 * A router changes no terminators but its own.
 */
import { FrontdoorError, type Clock, type Log } from '#base';
import { headerId, type Frame } from '#wire';
import { EdgeErrorCode } from '#wire/circuits';
import { ctrlMessages } from '#wire/ctrl';
import type { RefusalTrail } from '../permits/refusal-trail.ts';
import type { ConnectedRouter } from '../mesh/connected-router.ts';
import { copyPeerData } from '../mesh/peer-data.ts';
import {
  busy,
  faultOf,
  faultOfChange,
  final,
  type TerminatorRefusal,
  type WantedTerminator,
} from './terminator-refusal.ts';
import { isHosted, type Terminator, type TerminatorRegistry } from './terminator-registry.ts';
import {
  judgeSdk,
  removalOfSeveral,
  type AnswerTerminator,
  type RemovalRequest,
  type RequestJudges,
  type TerminatorHost,
  type TerminatorOwner,
  type TerminatorRequestKind,
} from './terminator-request-kinds.ts';
import { MAX_TERMINATORS_PER_SERVICE } from '../records/terminator-store.ts';

/** Terminators that a router dials, or hosts by its tunnel listener. */
const MAX_PER_ROUTER = 10_000;
/** Requests of one router that are being stored at the same time. */
const MAX_PENDING_PER_ROUTER = 4_096;

export interface TerminatorRequestsOptions extends RequestJudges {
  readonly terminators: TerminatorRegistry;
  readonly refusals: Pick<RefusalTrail, 'request'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Resolves with the id of the terminator, or why it was refused. */
type Work = () => Promise<string | TerminatorRefusal>;

export class TerminatorRequests {
  readonly #options: TerminatorRequestsOptions;
  readonly #pending = new WeakMap<ConnectedRouter, number>();

  constructor(options: TerminatorRequestsOptions) {
    this.#options = options;
  }

  /** Rejects only for a malformed body. */
  async create(kind: TerminatorRequestKind, router: ConnectedRouter, frame: Frame): Promise<void> {
    const { wanted, host, answer } = kind.creation(this.#options, router, frame);
    await this.#answered(router, answer, async () =>
      'code' in host ? host : this.#create(router, wanted, host),
    );
  }

  /** Rejects only for a malformed body. */
  async change(kind: TerminatorRequestKind, router: ConnectedRouter, frame: Frame): Promise<void> {
    const { change: request, owner, answer } = kind.change(this.#options, router, frame);
    const { terminatorId: id, updateCost, cost, updatePrecedence, precedence } = request;
    const change = { ...(updateCost ? { cost } : {}), ...(updatePrecedence ? { precedence } : {}) };
    await this.#answered(router, answer, async () => {
      const terminator = this.#ownedBy(router, owner, id);
      if ('code' in terminator) return terminator;
      const fault = faultOfChange(change);
      if (fault !== undefined) return fault;
      return (await this.#options.terminators.update(terminator, change)) ? id : missing();
    });
  }

  /** Rejects only for a malformed body. */
  remove(kind: TerminatorRequestKind, router: ConnectedRouter, frame: Frame): Promise<void> {
    return this.#remove(router, kind.removal(router, frame));
  }

  /** Removes terminators of all kinds. Rejects only for a malformed body. */
  removeSeveral(router: ConnectedRouter, frame: Frame): Promise<void> {
    return this.#remove(router, removalOfSeveral(router, frame));
  }

  async #remove(router: ConnectedRouter, { ids, answer }: RemovalRequest): Promise<void> {
    await this.#answered(router, answer, async () => {
      await this.#options.terminators.removeOf(router.id, ids);
      return '';
    });
  }

  /** An SDK checked what it hosts. */
  health(router: ConnectedRouter, frame: Frame): void {
    const request = ctrlMessages.healthEvent.decode(frame.body);
    const terminator = this.#ownedBy(router, judgeSdk(this.#options, router, request), request.terminatorId);
    if ('code' in terminator) this.#record(router, terminator);
    else this.#options.terminators.setHealth(terminator, request.checkPassed);
  }

  /** The router itself lowers the precedence of what fails its checks, so that the result is only logged. */
  tunnelHealth(router: ConnectedRouter, frame: Frame): void {
    const { terminatorId, checkPassed } = headerId.edgeCtrl;
    const id = frame.headers.text(terminatorId) ?? '';
    const terminator = this.#ownedBy(router, { identityId: router.id }, id);
    if ('code' in terminator) return;
    const fields = { terminator: id, service: terminator.serviceId, router: router.id };
    const isPassed = frame.headers.bool(checkPassed);
    this.#options.log.info({ ...fields, isPassed }, 'a router checked what it hosts');
  }

  async #create(
    router: ConnectedRouter,
    wanted: WantedTerminator,
    host: TerminatorHost,
  ): Promise<string | TerminatorRefusal> {
    const { terminators, clock, log } = this.#options;
    const { serviceId, isEdge, identityId, binding } = host;
    const fault = faultOf(wanted, binding, identityId !== undefined);
    if (fault !== undefined) return fault;
    const { address, instanceId, cost, precedence } = wanted;
    const peerData = copyPeerData(wanted.peerData);
    const known = identityId === undefined ? undefined : terminators.get(address);
    if (known !== undefined) {
      const { serviceId: at, routerId, identityId: of } = known;
      if (!isHosted(known) || at !== serviceId || routerId !== router.id || of !== identityId)
        return refused('this terminator id is taken', host, 'terminator-of-another');
      // A later process of the same host takes over, with a key of its own.
      if (await terminators.bindAgain(known, { peerData, cost, precedence })) return address;
    }
    const full = this.#fullOf(router, host);
    if (full !== undefined) return full;
    const routerId = router.id;
    const place = { serviceId, routerId, binding, address, instanceId, cost, precedence, peerData };
    const nowMs = clock.nowMs();
    let id = address;
    if (identityId === undefined) id = await terminators.addDialed(place, nowMs);
    else await terminators.add({ ...place, id, isEdge, identityId, createdAtMs: nowMs });
    log.info({ terminator: id, service: serviceId, router: routerId, binding }, 'terminator created');
    return id;
  }

  #fullOf(router: ConnectedRouter, host: TerminatorHost): TerminatorRefusal | undefined {
    const { terminators } = this.#options;
    const { serviceId, identityId } = host;
    if (terminators.ofService(serviceId).size >= MAX_TERMINATORS_PER_SERVICE)
      return refused('the service has too many terminators', host, 'too-many-terminators');
    const isRouters = identityId === undefined || identityId === router.id;
    const count = terminators.countAt(router.id, identityId) + this.#pendingOf(router);
    return isRouters && count > MAX_PER_ROUTER ? busy('this router has too many terminators') : undefined;
  }

  #ownedBy(
    router: ConnectedRouter,
    owner: TerminatorOwner | TerminatorRefusal,
    id: string,
  ): Terminator | TerminatorRefusal {
    if ('code' in owner) return owner;
    const terminator = this.#options.terminators.ofRouter(router.id).get(id);
    if (terminator === undefined) return missing();
    if (terminator.identityId === owner.identityId) return terminator;
    return refused(missing().text, owner, 'terminator-of-another');
  }

  async #answered(router: ConnectedRouter, answer: AnswerTerminator, work: Work): Promise<void> {
    const pending = this.#pendingOf(router);
    const send = (refusal: TerminatorRefusal | undefined, id = ''): void => {
      if (refusal !== undefined) this.#record(router, refusal);
      answer(refusal, id);
    };
    if (pending >= MAX_PENDING_PER_ROUTER) {
      send(busy('too many terminators are being changed'));
      return;
    }
    this.#pending.set(router, pending + 1);
    try {
      const outcome = await work();
      if (typeof outcome === 'string') send(undefined, outcome);
      else send(outcome);
    } catch (error) {
      // It was removed while it was stored, which its router asked for.
      if (error instanceof FrontdoorError && error.code === 'terminator-removed') return;
      this.#options.log.warn({ err: error, router: router.id }, 'a terminator could not be stored');
      send(busy(error instanceof FrontdoorError ? error.message : 'the terminator could not be stored'));
    } finally {
      this.#pending.set(router, this.#pendingOf(router) - 1);
    }
  }

  #pendingOf(router: ConnectedRouter): number {
    return this.#pending.get(router) ?? 0;
  }

  #record(router: ConnectedRouter, { text, audit }: TerminatorRefusal): void {
    const { refusals, log } = this.#options;
    log.info({ router: router.id, reason: text }, 'terminator refused');
    if (audit !== undefined) refusals.request({ action: 'bind', routerId: router.id, ...audit });
  }
}

/** In the audit trail, unless the router asked for itself. */
function refused(text: string, { identityId, share }: TerminatorOwner, reason: string): TerminatorRefusal {
  const audit = identityId === undefined ? undefined : { identityId, reason, share };
  return final(EdgeErrorCode.invalidTerminator, text, audit);
}

function missing(): TerminatorRefusal {
  return final(EdgeErrorCode.invalidTerminator, 'no such terminator of this router');
}
