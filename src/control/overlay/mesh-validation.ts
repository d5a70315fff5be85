/** Compares this controller with its routers, as `ziti fabric validate` asks for it. router-comparison-policy.ts compares. */
import { messageOf, type Log } from '#base';
import { contentType, makeFrame, type Frame } from '#wire';
import { ctrlMessages, mgmtMessages, TerminatorInvalidReason, TerminatorState } from '#wire/ctrl';
import type { ComparedRouter, FabricValidation, RouterComparison } from './model/fabric-validation.ts';
import type { OverlayModel } from './model/overlay-model.ts';
import { isOnPath, type CircuitRegistry } from './circuits/circuit-registry.ts';
import type { ConnectedRouter, RouterRegistry } from './mesh/connected-router.ts';
import type { DataModelFeed } from './data-model/data-model-feed.ts';
import type { LinkRegistry } from './mesh/link-registry.ts';
import {
  compareCircuits,
  compareConnections,
  compareLinks,
  compareTerminators,
  readConnections,
  readHeld,
  readLinks,
  readRouted,
  readTerminators,
} from './routers/router-comparison-policy.ts';
import type { RouterInspection } from './routers/router-inspection.ts';
import { isHosted, type Terminator, type TerminatorRegistry } from './terminators/terminator-registry.ts';

export interface MeshValidationParts {
  readonly controllerId: string;
  readonly model: OverlayModel;
  readonly routers: RouterRegistry;
  readonly links: LinkRegistry;
  readonly circuits: CircuitRegistry;
  readonly terminators: TerminatorRegistry;
  readonly dataModel: Pick<DataModelFeed, 'state'>;
  readonly inspection: RouterInspection;
  readonly log: Log;
}

const ANSWER_MS = 8_000;
const TERMINATORS_PER_REQUEST = 50;
/** In one message to a router, which channels carry up to 64 MiB. */
const MAX_STATE_BYTES = 32 * 1024 * 1024;
const INVALID_STATES: ReadonlyMap<number, TerminatorState> = new Map([
  [TerminatorInvalidReason.UNKNOWN_BINDING, TerminatorState.InvalidUnknownBinding],
  [TerminatorInvalidReason.UNKNOWN_TERMINATOR, TerminatorState.InvalidUnknownTerminator],
  [TerminatorInvalidReason.BAD_STATE, TerminatorState.InvalidBadState],
]);

interface Verdict {
  readonly state: TerminatorState;
  readonly detail: string;
}

export class MeshValidation implements FabricValidation {
  readonly #parts: MeshValidationParts;
  readonly #stateBodies = new Map<boolean, Promise<Uint8Array>>();

  constructor(parts: MeshValidationParts) {
    this.#parts = parts;
  }

  async compareRouter(comparison: RouterComparison, router: ComparedRouter): Promise<Frame> {
    try {
      switch (comparison) {
        case 'links':
          return await this.#links(router);
        case 'circuits':
          return await this.#circuits(router);
        case 'connections':
          return await this.#connections(router);
        default:
          return await this.#terminatorsOf(comparison, router);
      }
    } catch (error) {
      const message = messageOf(error);
      if (comparison === 'connections')
        return mgmtMessages.validateConnectionsResult.frame(component(router, [message]));
      const result = {
        links: mgmtMessages.validateRouterLinksResult,
        circuits: mgmtMessages.validateCircuitsResult,
        sdkTerminators: mgmtMessages.validateSdkTerminatorsResult,
        tunnelTerminators: mgmtMessages.validateTunnelTerminatorsResult,
      }[comparison];
      return result.frame({ routerId: router.id, routerName: router.name, message });
    }
  }

  async compareDataModel(router: ComparedRouter, fix: boolean): Promise<Frame> {
    try {
      const { channel } = this.#connected(router);
      const body = await this.#stateBody(fix);
      const request = makeFrame(contentType.validateDataState, { body });
      const answer = await channel.request(request, ANSWER_MS);
      if (answer.contentType !== contentType.validateDataStateResponse)
        throw refusal('the router does not know how to answer');
      const { diffs } = ctrlMessages.validateDataStateResponse.decode(answer.body);
      const errors = diffs.map(
        ({ entityType, entityId, diffType, detail }) =>
          `${entityType} id: ${entityId} ${diffType}: ${detail}`,
      );
      return mgmtMessages.validateDataModelResult.frame(component(router, errors));
    } catch (error) {
      return mgmtMessages.validateDataModelResult.frame(component(router, [messageOf(error)]));
    }
  }

  ownDataModel(): Frame {
    const id = this.#parts.controllerId;
    return mgmtMessages.validateDataModelResult.frame({
      ...component({ id, name: id }, []),
      componentType: 'controller',
    });
  }

  /** Routers that are compared at the same time share it. */
  #stateBody(fix: boolean): Promise<Uint8Array> {
    let body = this.#stateBodies.get(fix);
    if (body === undefined) {
      body = this.#makeStateBody(fix).finally(() => this.#stateBodies.delete(fix));
      this.#stateBodies.set(fix, body);
    }
    return body;
  }

  async #makeStateBody(fix: boolean): Promise<Uint8Array> {
    const body = ctrlMessages.validateDataState.encode({ state: await this.#parts.dataModel.state(), fix });
    if (body.length > MAX_STATE_BYTES)
      throw refusal(`the data model has ${body.length} bytes, more than one message to a router`);
    return body;
  }

  async *validateTerminators(ids: readonly string[], fix: boolean): AsyncGenerator<Frame, void> {
    const { terminators } = this.#parts;
    const found = ids.map((id) => terminators.get(id) ?? { id, routerId: '' });
    for (const [routerId, all] of Map.groupBy(found, (each) => each.routerId)) {
      for (let at = 0; at < all.length; at += TERMINATORS_PER_REQUEST) {
        const some = all.slice(at, at + TERMINATORS_PER_REQUEST);
        const asked = some.filter((each) => 'binding' in each);
        const verdicts = await this.#verdicts(routerId, asked, fix);
        const fixed = fix ? await this.#removed(asked, verdicts) : new Set<string>();
        for (const terminator of some) {
          const verdict =
            verdicts.get(terminator.id) ?? unknown('the terminator was deleted in the meantime');
          yield this.#terminatorFrame(terminator, verdict, fixed.has(terminator.id));
        }
      }
    }
  }

  async #verdicts(
    routerId: string,
    asked: readonly Terminator[],
    fixInvalid: boolean,
  ): Promise<ReadonlyMap<string, Verdict>> {
    const router = this.#parts.routers.get(routerId);
    const all = (detail: string) => new Map(asked.map(({ id }) => [id, unknown(detail)]));
    if (router === undefined) return all('router off-line');
    const terminators = asked.map(({ id, binding, address, marker }) => ({ id, binding, address, marker }));
    try {
      const request = ctrlMessages.validateTerminatorsV2.frame({ terminators, fixInvalid });
      const answer = await router.channel.request(request, ANSWER_MS);
      if (answer.contentType !== contentType.validateTerminatorsV2Response)
        return all('the router does not know how to answer');
      const { states } = ctrlMessages.validateTerminatorsV2Response.decode(answer.body);
      return new Map(
        asked.map(({ id, marker }) => {
          const state = states[id];
          if (state === undefined) return [id, unknown('the router does not report it')];
          if (state.marker !== marker) return [id, unknown('its host bound it again in the meantime')];
          const { valid, reason, detail } = state;
          const invalid = INVALID_STATES.get(reason) ?? TerminatorState.Unknown;
          return [id, { state: valid ? TerminatorState.Valid : invalid, detail }];
        }),
      );
    } catch (error) {
      return all(messageOf(error));
    }
  }

  /** Deletes those of hosts that are invalid. Those that an operator created stay. */
  async #removed(
    asked: readonly Terminator[],
    verdicts: ReadonlyMap<string, Verdict>,
  ): Promise<ReadonlySet<string>> {
    const { terminators } = this.#parts;
    const gone: Terminator[] = [];
    for (const terminator of asked) {
      const { state } = verdicts.get(terminator.id)!;
      const isCurrent = terminators.get(terminator.id) === terminator;
      const isInvalid = state !== TerminatorState.Valid && state !== TerminatorState.Unknown;
      if (isInvalid && isCurrent && isHosted(terminator)) gone.push(terminator);
    }
    await terminators.remove(gone);
    if (gone.length > 0)
      this.#parts.log.info({ count: gone.length }, 'removed invalid terminators, as an administrator asked');
    return new Set(gone.map(({ id }) => id));
  }

  #terminatorFrame(
    terminator: Terminator | { readonly id: string; readonly routerId: string },
    { state, detail }: Verdict,
    fixed: boolean,
  ): Frame {
    const { model } = this.#parts;
    const { id: terminatorId, routerId } = terminator;
    const routerName = model.identity(routerId)?.name ?? '';
    const common = { terminatorId, routerId, routerName, state, detail, fixed };
    if (!('binding' in terminator)) return mgmtMessages.validateTerminatorsResult.frame(common);
    const { serviceId, binding, address, identityId: hostId = '', createdAtMs } = terminator;
    return mgmtMessages.validateTerminatorsResult.frame({
      ...common,
      serviceId,
      binding,
      address,
      hostId,
      serviceName: model.serviceName(serviceId) ?? '',
      createDate: createdAtMs === undefined ? '' : new Date(createdAtMs).toISOString(),
    });
  }

  async #links(router: ComparedRouter): Promise<Frame> {
    const { links, routers } = this.#parts;
    const [value] = await this.#ask(router, ['links']);
    const reported = readable(readLinks(value));
    const isConnected = (id: string): boolean => routers.get(id) !== undefined;
    const linkDetails = compareLinks(router.id, reported, links.of(router.id), isConnected);
    return mgmtMessages.validateRouterLinksResult.frame({ ...validated(router), linkDetails });
  }

  async #terminatorsOf(
    comparison: 'sdkTerminators' | 'tunnelTerminators',
    router: ComparedRouter,
  ): Promise<Frame> {
    const isSdk = comparison === 'sdkTerminators';
    const [value] = await this.#ask(router, [isSdk ? 'sdk-terminators' : 'ert-terminators']);
    const reported = readable(readTerminators(value));
    const binding = isSdk ? 'edge' : 'tunnel';
    const known = [...this.#parts.terminators.ofRouter(router.id).values()]
      .filter((each) => isHosted(each) && each.binding === binding)
      .map(({ id }) => id);
    const result = isSdk
      ? mgmtMessages.validateSdkTerminatorsResult
      : mgmtMessages.validateTunnelTerminatorsResult;
    return result.frame({ ...validated(router), details: compareTerminators(reported, known) });
  }

  async #circuits(router: ComparedRouter): Promise<Frame> {
    const { circuits, controllerId } = this.#parts;
    const names = ['router-circuits', 'router-edge-circuits', 'router-sdk-circuits'];
    const [routed, edge, sdk] = await this.#ask(router, names);
    const known = [...circuits.all()].filter((each) => isOnPath(each, router.id)).map(({ id }) => id);
    const details = compareCircuits(
      controllerId,
      known,
      readable(readRouted(routed)),
      readHeld(edge),
      readHeld(sdk),
    );
    return mgmtMessages.validateCircuitsResult.frame({ ...validated(router), details });
  }

  async #connections(router: ComparedRouter): Promise<Frame> {
    const [value] = await this.#ask(router, ['identity-connection-statuses']);
    const { presentIdentities } = this.#connected(router);
    const errors = compareConnections(readable(readConnections(value)), presentIdentities);
    return mgmtMessages.validateConnectionsResult.frame(component(router, errors));
  }

  /** Returns a value for each name, undefined for what the router does not know. */
  async #ask(router: ComparedRouter, names: readonly string[]): Promise<unknown[]> {
    this.#connected(router);
    const answers = await this.#parts.inspection.inspectSelected(
      names,
      ({ id }) => id === router.id,
      ANSWER_MS,
    );
    const failed = answers.find(({ error }) => error !== undefined);
    if (failed?.error !== undefined && !answers.some(({ name }) => name === names[0]))
      throw refusal(failed.error);
    return names.map((name) => answers.find((each) => each.name === name)?.value);
  }

  #connected({ id }: ComparedRouter): ConnectedRouter {
    const router = this.#parts.routers.get(id);
    if (router === undefined) throw refusal('router not connected');
    return router;
  }
}

function validated({ id, name }: ComparedRouter) {
  return { routerId: id, routerName: name, validateSuccess: true };
}

function component({ id, name }: ComparedRouter, errors: readonly string[]) {
  return {
    componentType: 'router',
    componentId: id,
    componentName: name,
    validateSuccess: errors.length === 0,
    errors: [...errors],
  };
}

function unknown(detail: string): Verdict {
  return { state: TerminatorState.Unknown, detail };
}

function readable<T>(value: T | undefined): T {
  if (value === undefined) throw refusal('the router did not report it');
  return value;
}

/** Its text is in the result. */
function refusal(message: string): Error {
  return new Error(message);
}
