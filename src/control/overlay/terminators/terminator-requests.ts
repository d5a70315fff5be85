/**
 * Requests of edge routers about terminators on behalf of hosting SDKs: create, update, remove, health. Each is
 * checked against its session and router; a router cannot change another router's terminators.
 */
import { messageOf, type Log } from '#base';
import { contentType, makeFrame, type Frame } from '#wire';
import { EdgeErrorCode, encodeEdgeRefusal, RetryHint } from '#wire/circuits';
import { CreateTerminatorResult, ctrlMessages, type CtrlBody } from '#wire/ctrl';
import type { ConnectedRouter } from '../routers/connected-router.ts';
import type { FabricTerminatorRequests } from './fabric-terminator-requests.ts';
import { PendingTerminators } from './pending-terminators.ts';
import type { RefusalTrail } from '../circuits/refusal-trail.ts';
import type { ServiceSessionCheck } from '../permits/service-session-check.ts';
import {
  isPrecedence,
  MAX_TERMINATOR_COST,
  type TerminatorCreation,
  type TerminatorRefusal,
} from './terminator-creation.ts';
import type { Terminator, TerminatorRegistry } from './terminator-registry.ts';
import { serviceName } from '../model/overlay-model.ts';

const EDGE_BINDING = 'edge';

export interface TerminatorRequestsOptions {
  readonly terminators: TerminatorRegistry;
  readonly creation: TerminatorCreation;
  /** Undefined if routers cannot create terminators of fabric services. */
  readonly fabricRequests: FabricTerminatorRequests | undefined;
  readonly sessions: ServiceSessionCheck;
  readonly refusals: Pick<RefusalTrail, 'request'>;
  readonly log: Log;
}

export class TerminatorRequests {
  readonly #options: TerminatorRequestsOptions;
  readonly #pending: PendingTerminators;

  constructor(options: TerminatorRequestsOptions) {
    this.#options = options;
    this.#pending = new PendingTerminators(options.log);
  }

  /** Rejects only for a malformed body. */
  async create(router: ConnectedRouter, frame: Frame): Promise<void> {
    const request = ctrlMessages.createTerminatorV2.decode(frame.body);
    const answer = (refusal: TerminatorRefusal | undefined): void =>
      this.#answer(router, frame, request.address, refusal);
    const create = (): Promise<TerminatorRefusal | undefined> => this.#create(router, request);
    await this.#pending.run(router, { id: request.address, create, answer });
  }

  async #create(
    router: ConnectedRouter,
    request: CtrlBody<'createTerminatorV2'>,
  ): Promise<TerminatorRefusal | undefined> {
    const verdict = this.#options.sessions.judge(request, 'Bind', router.id);
    if (!verdict.isAllowed) {
      this.#record(router, verdict);
      return { ...verdict, result: CreateTerminatorResult.FAILED_OTHER };
    }
    const { service, session } = verdict;
    const { identityId } = session;
    return this.#options.creation.create(request, {
      routerId: router.id,
      identityId,
      service,
      binding: EDGE_BINDING,
      onRefused: (reason) => this.#record(router, { identityId, reason }, serviceName(service)),
    });
  }

  async update(router: ConnectedRouter, frame: Frame): Promise<void> {
    const request = ctrlMessages.updateEdgeTerminator.decode(frame.body);
    const terminator = this.#ownedBy(router, frame, request);
    if (terminator === undefined) return;
    const { updateCost, cost, updatePrecedence, precedence } = request;
    const retryHint = RetryHint.notRetriable;
    if (updateCost && cost > MAX_TERMINATOR_COST) {
      router.send(
        encodeEdgeRefusal(frame, { code: EdgeErrorCode.invalidCost, retryHint, text: 'cost above 65535' }),
      );
      return;
    }
    if (updatePrecedence && !isPrecedence(precedence)) {
      const code = EdgeErrorCode.invalidPrecedence;
      router.send(encodeEdgeRefusal(frame, { code, retryHint, text: 'unknown precedence' }));
      return;
    }
    await this.#options.terminators.update(terminator, {
      ...(updateCost ? { cost } : {}),
      ...(updatePrecedence ? { precedence } : {}),
    });
    router.channel.reply(frame, makeFrame(contentType.updateEdgeTerminatorResponse));
  }

  async removeOne(router: ConnectedRouter, frame: Frame): Promise<void> {
    const { terminatorId } = ctrlMessages.removeEdgeTerminator.decode(frame.body);
    await this.#options.terminators.removeOf(router.id, [terminatorId]);
    router.channel.reply(frame, makeFrame(contentType.removeEdgeTerminatorResponse));
  }

  async removeSeveral(router: ConnectedRouter, frame: Frame): Promise<void> {
    const { terminatorIds } = ctrlMessages.removeTerminators.decode(frame.body);
    try {
      await this.#options.terminators.removeOf(router.id, terminatorIds);
      await this.#options.fabricRequests?.removeOwn(router, terminatorIds);
      router.result(frame, true);
    } catch (error) {
      this.#options.log.warn(
        { err: error, router: router.id },
        'terminators could not be removed from the store',
      );
      router.result(frame, false, messageOf(error));
    }
  }

  health(router: ConnectedRouter, frame: Frame): void {
    const request = ctrlMessages.healthEvent.decode(frame.body);
    const terminator = this.#ownedBy(router, undefined, request);
    if (terminator !== undefined) this.#options.terminators.setHealth(terminator, request.checkPassed);
  }

  /**
   * Returns the terminator if it belongs to this router and the session's identity hosts it. Otherwise `frame` is
   * answered.
   */
  #ownedBy(
    router: ConnectedRouter,
    frame: Frame | undefined,
    request: { sessionToken: string; apiSessionToken: string; fingerprints: string[]; terminatorId: string },
  ): Terminator | undefined {
    const { sessions, terminators } = this.#options;
    const verdict = sessions.judge(request, 'Bind', router.id);
    if (!verdict.isAllowed) {
      this.#record(router, verdict);
      if (frame !== undefined) router.send(encodeEdgeRefusal(frame, verdict));
      return undefined;
    }
    const terminator = terminators.ofRouter(router.id).get(request.terminatorId);
    if (terminator?.identityId === verdict.session.identityId) return terminator;
    if (terminator !== undefined) {
      const { identityId } = verdict.session;
      this.#record(router, { identityId, reason: 'terminator-of-another' }, serviceName(verdict.service));
    }
    if (frame !== undefined) {
      const code = EdgeErrorCode.invalidTerminator;
      router.send(
        encodeEdgeRefusal(frame, { code, retryHint: RetryHint.notRetriable, text: 'no such terminator' }),
      );
    }
    return undefined;
  }

  #record(
    router: ConnectedRouter,
    refused: { readonly identityId: string | undefined; readonly reason: string },
    share?: string,
  ): void {
    const { identityId, reason } = refused;
    this.#options.refusals.request({ action: 'bind', identityId, reason, share, routerId: router.id });
  }

  #answer(
    router: ConnectedRouter,
    request: Frame,
    terminatorId: string,
    refusal: TerminatorRefusal | undefined,
  ): void {
    const body =
      refusal === undefined
        ? { terminatorId, result: CreateTerminatorResult.SUCCESS }
        : {
            terminatorId,
            result: refusal.result,
            msg: refusal.text,
            errorCode: refusal.code,
            retryHint: refusal.retryHint,
          };
    if (refusal !== undefined) {
      this.#options.log.info(
        { terminator: terminatorId, router: router.id, reason: refusal.text },
        'terminator refused',
      );
    }
    router.channel.reply(request, ctrlMessages.createTerminatorV2Response.frame(body));
  }
}
