/** The mesh for the Management API, as this control plane sees it now. */
import { definedFields } from '#base';
import type { FabricDiagnostics, ToggledTraces } from './model/fabric-diagnostics.ts';
import type { FabricValidation } from './model/fabric-validation.ts';
import type { OverlayModel } from './model/overlay-model.ts';
import type { CircuitParts } from './circuit-parts.ts';
import type { EstablishedCircuit } from './circuits/circuit-registry.ts';
import type {
  FabricCircuitView,
  FabricLinkView,
  FabricRouterView,
  FabricTerminatorView,
  FabricView,
  InspectionView,
  LinkCounts,
  RouteView,
} from './model/fabric-view.ts';
import type { FabricLink } from './mesh/link-registry.ts';
import type { MeshParts } from './mesh-parts.ts';
import { ownDiagnostic, type OwnDiagnosticsParts } from './routers/own-diagnostics.ts';
import type { Terminator } from './terminators/terminator-registry.ts';
import { precedenceName } from './terminators/precedence-name.ts';

export interface MeshViewParts {
  readonly model: OverlayModel;
  readonly mesh: MeshParts;
  readonly circuits: Pick<CircuitParts, 'selector' | 'validation'>;
  readonly dataModel: OwnDiagnosticsParts['dataModel'];
  readonly comparisons: FabricValidation;
  readonly controllerId: string;
}

const NS_PER_MS = 1_000_000;

export class MeshView implements FabricView, FabricDiagnostics {
  readonly validation: FabricValidation;
  readonly #parts: MeshViewParts;
  readonly #mesh: MeshParts;

  constructor(parts: MeshViewParts) {
    this.#parts = parts;
    this.#mesh = parts.mesh;
    this.validation = parts.comparisons;
  }

  routers(): FabricRouterView[] {
    const { model } = this.#parts;
    const { routers } = this.#mesh;
    const found: FabricRouterView[] = [];
    for (const { id, name } of model.routers()) {
      const router = routers.get(id);
      const edge = routers.edgeAddress(id);
      found.push({
        id,
        name,
        isOnline: router !== undefined,
        // Our routers announce a release of OpenZiti, and their own release in addition.
        version: router?.release || router?.version,
        connectedAtMs: router?.connectedAtMs,
        linkListeners: (router?.listeners ?? []).map(({ address }) => address),
        edgeAddress: edge === undefined ? undefined : `${edge.hostname}:${String(edge.port)}`,
      });
    }
    return found;
  }

  links(): FabricLinkView[] {
    return [...this.#mesh.links.all()].map((link) => this.#linkView(link));
  }

  get linkCounts(): LinkCounts {
    const counts = { total: 0, usable: 0 };
    for (const link of this.#mesh.links.all()) {
      counts.total += 1;
      if (this.#isUsable(link)) counts.usable += 1;
    }
    return counts;
  }

  get circuitCount(): number {
    return this.#mesh.circuits.size;
  }

  get terminatorCount(): number {
    return this.#mesh.terminators.size;
  }

  circuits(): FabricCircuitView[] {
    return [...this.#mesh.circuits.all()].map((circuit) => this.#circuitView(circuit));
  }

  dynamicCost(terminatorId: string): number {
    return this.#mesh.costs.dynamicCost(terminatorId);
  }

  terminators(): FabricTerminatorView[] {
    return Array.from(this.#mesh.terminators.all(), (each) => this.#terminatorView(each));
  }

  route(ingressId: string, serviceId: string, instanceId: string): RouteView | undefined {
    const { model, circuits } = this.#parts;
    const service = model.fabricService(serviceId) ?? model.service(serviceId);
    const name = model.serviceName(serviceId);
    if (service === undefined || name === undefined) return undefined;
    const terminatorStrategy = model.fabricService(serviceId)?.terminatorStrategy;
    const { candidates, chosen, problem } = circuits.selector.explain({
      service: definedFields({ id: service.id, name, terminatorStrategy }),
      ingressId,
      instanceId,
    });
    return {
      serviceName: name,
      strategy: terminatorStrategy ?? 'smartrouting',
      candidates: candidates.map(({ terminator, choice }) => ({
        terminator: this.#terminatorView(terminator),
        path: choice?.path,
        precedence: precedenceName(choice?.precedence ?? terminator.precedence),
        cost: choice?.cost,
      })),
      chosenId: chosen?.terminator.id,
      problem,
    };
  }

  inspect(names: readonly string[], routerId?: string): Promise<InspectionView[]> {
    return this.#mesh.inspection.inspect(names, routerId);
  }

  async inspectSelected(
    names: readonly string[],
    selects: (text: string) => boolean,
  ): Promise<InspectionView[]> {
    const { controllerId, model, dataModel, circuits } = this.#parts;
    const { inspection, routers, costs } = this.#mesh;
    const diagnosed = { model, routers, costs, dataModel, validation: circuits.validation };
    const own = selects(controllerId) ? names : [];
    const values = own.flatMap((name) => {
      const value = ownDiagnostic(diagnosed, name.toLowerCase());
      return value === undefined ? [] : [{ routerId: controllerId, name, value }];
    });
    const isSelected = ({ id }: { readonly id: string }): boolean =>
      selects(id) || selects(model.identity(id)?.name ?? id);
    return [...values, ...(await inspection.inspectSelected(names, isSelected))];
  }

  toggleTraces(wish: Uint8Array): Promise<ToggledTraces> {
    return this.#mesh.traces.toggle(wish);
  }

  endCircuit(id: string): boolean {
    const { circuits } = this.#mesh;
    const circuit = circuits.get(id);
    if (circuit !== undefined) circuits.end(circuit, true);
    return circuit !== undefined;
  }

  #linkView(link: FabricLink): FabricLinkView {
    const { id, sourceId, destinationId, protocol, dialAddress, iteration, staticCost, cost } = link;
    return {
      id,
      sourceRouterId: sourceId,
      destinationRouterId: destinationId,
      protocol,
      dialAddress,
      iteration,
      staticCost,
      sourceLatencyMs: inMs(link.sourceLatencyNs),
      destinationLatencyMs: inMs(link.destinationLatencyNs),
      cost,
      isUsable: this.#isUsable(link),
      connections: link.connections,
    };
  }

  #isUsable({ sourceId, destinationId }: FabricLink): boolean {
    const { routers } = this.#mesh;
    return routers.get(sourceId) !== undefined && routers.get(destinationId) !== undefined;
  }

  #circuitView(circuit: EstablishedCircuit): FabricCircuitView {
    const { id, serviceId, identityId, terminatorId, path, createdAtMs } = circuit;
    return {
      id,
      serviceId,
      serviceName: this.#parts.model.serviceName(serviceId) ?? '',
      identityId,
      terminatorId,
      routerIds: path.routerIds,
      linkIds: path.linkIds,
      cost: this.#mesh.paths.costOf(path) ?? path.cost,
      createdAtMs,
    };
  }

  #terminatorView(terminator: Terminator): FabricTerminatorView {
    const { id, serviceId, routerId, binding, address, instanceId, cost, precedence, isHealthy } = terminator;
    return {
      id,
      serviceId,
      serviceName: this.#parts.model.serviceName(serviceId) ?? '',
      kind: this.#kindOf(serviceId),
      routerId,
      binding,
      address,
      instanceId,
      cost,
      dynamicCost: this.#mesh.costs.dynamicCost(id),
      precedence: precedenceName(precedence),
      isHealthy,
    };
  }

  #kindOf(serviceId: string): FabricTerminatorView['kind'] {
    const { model } = this.#parts;
    if (model.fabricService(serviceId) !== undefined) return 'fabric';
    return model.edge.service(serviceId) === undefined ? 'share' : 'edge';
  }
}

function inMs(latencyNs: number | undefined): number | undefined {
  return latencyNs === undefined ? undefined : latencyNs / NS_PER_MS;
}
