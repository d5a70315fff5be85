/**
 * Requests of routers about the terminators of their own tunnel identity: create, update, remove, and results of health
 * checks. A router changes no terminators but its own.
 */
import { textOf, type Log } from '#base';
import { contentType, headerId, makeFrame, type Frame } from '#wire';
import { EdgeErrorCode, encodeEdgeRefusal, RetryHint } from '#wire/circuits';
import { CreateTerminatorResult, ctrlMessages, type CtrlBody } from '#wire/ctrl';
import { type OverlayModel, serviceName } from '../model/overlay-model.ts';
import type { ConnectedRouter } from '../routers/connected-router.ts';
import { PendingTerminators } from './pending-terminators.ts';
import type { RefusalTrail } from '../circuits/refusal-trail.ts';
import {
  busy,
  isPrecedence,
  MAX_TERMINATOR_COST,
  type TerminatorCreation,
  type TerminatorRefusal,
} from './terminator-creation.ts';
import type { Terminator, TerminatorRegistry } from './terminator-registry.ts';
import { judgeTunnel } from '../permits/tunnel-access.ts';

/** Terminators that one router hosts by its tunnel listener. */
const MAX_PER_ROUTER = 10_000;
const TUNNEL_BINDING = 'tunnel';

export interface TunnelTerminatorRequestsOptions {
  readonly model: OverlayModel;
  readonly terminators: TerminatorRegistry;
  readonly creation: TerminatorCreation;
  readonly refusals: Pick<RefusalTrail, 'request'>;
  readonly log: Log;
}

type Wanted = CtrlBody<'createTunnelTerminatorV2'>;

export class TunnelTerminatorRequests {
  readonly #options: TunnelTerminatorRequestsOptions;
  readonly #pending: PendingTerminators;

  constructor(options: TunnelTerminatorRequestsOptions) {
    this.#options = options;
    this.#pending = new PendingTerminators(options.log);
  }

  /** Rejects only for a malformed body. */
  async create(router: ConnectedRouter, frame: Frame): Promise<void> {
    const request = ctrlMessages.createTunnelTerminatorV2.decode(frame.body);
    const answer = (refusal: TerminatorRefusal | undefined): void =>
      this.#answer(router, frame, request, refusal);
    const count = this.#options.terminators.ofRouter(router.id).size + this.#pending.countOf(router);
    if (count >= MAX_PER_ROUTER) {
      answer(busy('this router has too many terminators'));
      return;
    }
    const create = (): Promise<TerminatorRefusal | undefined> => this.#create(router, request);
    await this.#pending.run(router, { id: request.address, create, answer });
  }

  async #create(router: ConnectedRouter, request: Wanted): Promise<TerminatorRefusal | undefined> {
    const { model, creation } = this.#options;
    const verdict = judgeTunnel(model, router.id, model.edge.service(request.serviceId), 'Bind');
    if (!verdict.isAllowed) {
      const { service, reason } = verdict;
      this.#record(router, reason, service && serviceName(service));
      return { ...verdict, result: CreateTerminatorResult.FAILED_OTHER };
    }
    const { service } = verdict;
    return creation.create(request, {
      routerId: router.id,
      identityId: router.id,
      service,
      binding: TUNNEL_BINDING,
      onRefused: (reason) => this.#record(router, reason, serviceName(service)),
    });
  }

  async update(router: ConnectedRouter, frame: Frame): Promise<void> {
    const request = ctrlMessages.updateTunnelTerminator.decode(frame.body);
    const { updateCost, cost, updatePrecedence, precedence } = request;
    const terminator = this.#own(router, request.terminatorId);
    const isFaulty =
      (updateCost && cost > MAX_TERMINATOR_COST) || (updatePrecedence && !isPrecedence(precedence));
    if (terminator === undefined || isFaulty) {
      const text = terminator === undefined ? 'no such terminator' : 'cost or precedence is not allowed';
      const { invalidTerminator: code } = EdgeErrorCode;
      router.send(encodeEdgeRefusal(frame, { code, retryHint: RetryHint.notRetriable, text }));
      return;
    }
    await this.#options.terminators.update(terminator, {
      ...(updateCost ? { cost } : {}),
      ...(updatePrecedence ? { precedence } : {}),
    });
    router.channel.reply(frame, makeFrame(contentType.updateTunnelTerminatorResponse));
  }

  /** The body is the id. */
  async remove(router: ConnectedRouter, frame: Frame): Promise<void> {
    const { terminators } = this.#options;
    const id = textOf(frame.body);
    const isOthers = terminators.get(id) !== undefined && this.#own(router, id) === undefined;
    if (!isOthers) await terminators.removeOf(router.id, [id]);
    router.channel.reply(frame, makeFrame(contentType.removeTunnelTerminatorResponse));
  }

  /** The router itself lowers the precedence of what fails its checks, so that the result is only logged. */
  health(router: ConnectedRouter, frame: Frame): void {
    const { terminatorId, checkPassed } = headerId.edgeCtrl;
    const terminator = this.#own(router, frame.headers.text(terminatorId) ?? '');
    if (terminator === undefined) return;
    const fields = { terminator: terminator.id, service: terminator.serviceId, router: router.id };
    const isPassed = frame.headers.bool(checkPassed);
    this.#options.log.info({ ...fields, isPassed }, 'a router checked what it hosts');
  }

  #own(router: ConnectedRouter, id: string): Terminator | undefined {
    const terminator = this.#options.terminators.ofRouter(router.id).get(id);
    return terminator?.identityId === router.id ? terminator : undefined;
  }

  #record(router: ConnectedRouter, reason: string, share: string | undefined): void {
    const { id } = router;
    this.#options.refusals.request({ action: 'bind', identityId: id, reason, share, routerId: id });
  }

  #answer(
    router: ConnectedRouter,
    frame: Frame,
    { address: terminatorId, startTime }: Wanted,
    refusal: TerminatorRefusal | undefined,
  ): void {
    if (refusal !== undefined) {
      const { code, text, retryHint, result } = refusal;
      this.#options.log.info(
        { terminator: terminatorId, router: router.id, reason: text },
        'terminator refused',
      );
      const refused = { terminatorId, startTime, result, msg: text, errorCode: code, retryHint };
      router.channel.reply(frame, ctrlMessages.createTunnelTerminatorV2Response.frame(refused));
      return;
    }
    const made = { terminatorId, startTime, result: CreateTerminatorResult.SUCCESS };
    router.channel.reply(frame, ctrlMessages.createTunnelTerminatorV2Response.frame(made));
  }
}
