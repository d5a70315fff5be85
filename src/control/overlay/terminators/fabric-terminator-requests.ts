/**
 * Requests of routers to create, change and remove terminators of fabric services. A router cannot change another
 * router's terminators. A new terminator is stored before the response is sent.
 */
import { messageOf, type Log } from '#base';
import type { Frame } from '#wire';
import { ctrlMessages, type CtrlBody } from '#wire/ctrl';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { ConnectedRouter } from '../routers/connected-router.ts';
import type { FabricTerminatorIndex } from './fabric-terminator-index.ts';
import type { FabricTerminatorPersistence } from './fabric-terminator-persistence.ts';
import { copyPeerData, isTooMuchPeerData } from '../routers/peer-data.ts';
import { isPrecedence, MAX_TERMINATOR_COST } from './terminator-creation.ts';

export interface FabricTerminatorRequestsOptions {
  readonly model: OverlayModel;
  readonly terminators: FabricTerminatorIndex;
  readonly writer: FabricTerminatorPersistence;
  readonly log: Log;
}

const MAX_TERMINATORS_PER_SERVICE = 128;
const MAX_TERMINATORS_PER_ROUTER = 10_000;
const MAX_PENDING_PER_ROUTER = 256;
const MAX_TEXT_CHARACTERS = 512;
/** Terminators that SDKs host are created with their host's session, never by a router alone. */
const SDK_BINDINGS: ReadonlySet<string> = new Set(['edge', 'tunnel']);

export class FabricTerminatorRequests {
  readonly #options: FabricTerminatorRequestsOptions;
  readonly #pending = new WeakMap<ConnectedRouter, number>();

  constructor(options: FabricTerminatorRequestsOptions) {
    this.#options = options;
  }

  /** Rejects only for a malformed body. */
  create(router: ConnectedRouter, frame: Frame): Promise<void> {
    const request = ctrlMessages.createTerminator.decode(frame.body);
    return this.#answered(router, frame, async () => {
      const fault = this.#faultOf(router, request);
      if (fault !== undefined) return { isDone: false, text: fault };
      const { serviceId, binding, address, instanceId, cost, precedence } = request;
      const peerData = copyPeerData(request.peerData);
      const terminator = {
        serviceId,
        routerId: router.id,
        binding,
        address,
        instanceId,
        cost,
        precedence,
        peerData,
      };
      const id = await this.#options.writer.create(terminator);
      this.#options.log.info({ terminator: id, service: serviceId, router: router.id }, 'terminator created');
      return { isDone: true, text: id };
    });
  }

  update(router: ConnectedRouter, frame: Frame): Promise<void> {
    const request = ctrlMessages.updateTerminator.decode(frame.body);
    return this.#answered(router, frame, async () => {
      const { terminatorId, updateCost, cost, updatePrecedence, precedence } = request;
      if (this.#options.terminators.ofRouter(router.id).get(terminatorId) === undefined)
        return { isDone: false, text: 'no such terminator of this router' };
      if (updateCost && cost > MAX_TERMINATOR_COST) return { isDone: false, text: 'cost above 65535' };
      if (updatePrecedence && !isPrecedence(precedence)) return { isDone: false, text: 'unknown precedence' };
      const change = { ...(updateCost ? { cost } : {}), ...(updatePrecedence ? { precedence } : {}) };
      const isThere = await this.#options.writer.update(terminatorId, change);
      return isThere ? { isDone: true, text: '' } : { isDone: false, text: 'no such terminator' };
    });
  }

  remove(router: ConnectedRouter, frame: Frame): Promise<void> {
    const { terminatorId } = ctrlMessages.removeTerminator.decode(frame.body);
    return this.#answered(router, frame, async () => {
      await this.removeOwn(router, [terminatorId]);
      return { isDone: true, text: '' };
    });
  }

  /** Removes those of the ids that belong to this router. */
  async removeOwn(router: ConnectedRouter, ids: readonly string[]): Promise<void> {
    const own = this.#options.terminators.ofRouter(router.id);
    const found = ids.filter((id) => own.has(id));
    if (found.length > 0) await this.#options.writer.remove(found);
  }

  async #answered(
    router: ConnectedRouter,
    frame: Frame,
    work: () => Promise<{ isDone: boolean; text: string }>,
  ): Promise<void> {
    const pending = this.#pending.get(router) ?? 0;
    if (pending >= MAX_PENDING_PER_ROUTER) {
      router.result(frame, false, 'too many terminators are being changed');
      return;
    }
    this.#pending.set(router, pending + 1);
    try {
      const { isDone, text } = await work();
      router.result(frame, isDone, text);
    } catch (error) {
      this.#options.log.warn({ err: error, router: router.id }, 'fabric terminator could not be stored');
      router.result(frame, false, messageOf(error));
    } finally {
      this.#pending.set(router, (this.#pending.get(router) ?? 1) - 1);
    }
  }

  #faultOf(router: ConnectedRouter, request: CtrlBody<'createTerminator'>): string | undefined {
    const { model, terminators } = this.#options;
    const { serviceId, binding, address, instanceId, cost, precedence, peerData } = request;
    if (model.fabricService(serviceId) === undefined) return 'there is no such service of the fabric';
    if (binding === '' || address === '') return 'a terminator needs binding and address';
    if (SDK_BINDINGS.has(binding)) return `binding ${binding} belongs to hosting SDKs`;
    for (const text of [binding, address, instanceId])
      if (text.length > MAX_TEXT_CHARACTERS) return 'binding, address or instance id too long';
    if (cost > MAX_TERMINATOR_COST) return 'cost above 65535';
    if (!isPrecedence(precedence)) return 'unknown precedence';
    if (isTooMuchPeerData(peerData)) return 'too much peer data';
    if (terminators.ofService(serviceId).size >= MAX_TERMINATORS_PER_SERVICE)
      return 'the service has too many terminators';
    return terminators.ofRouter(router.id).size >= MAX_TERMINATORS_PER_ROUTER
      ? 'this router has too many terminators'
      : undefined;
  }
}
