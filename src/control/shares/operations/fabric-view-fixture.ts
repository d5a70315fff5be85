/** A mesh for tests of the Management API: links and circuits that tests set, and terminators of the model. */
import type { OverlayModel } from '../../overlay/model/mod.ts';
import type {
  FabricCircuitView,
  FabricLinkView,
  FabricTerminatorView,
  FabricView,
  RouteView,
} from '../../overlay/mod.ts';
import type { FabricRouterView, InspectionView, LinkCounts } from '../../overlay/model/fabric-view.ts';

const PRECEDENCES = ['default', 'required', 'failed'] as const;

export class FabricFixture implements FabricView {
  /** Connected routers by id. */
  readonly connected = new Map<string, Partial<FabricRouterView>>();
  readonly linkList: FabricLinkView[] = [];
  readonly circuitList: FabricCircuitView[] = [];
  readonly shareTerminators: FabricTerminatorView[] = [];
  readonly inspected: { readonly names: readonly string[]; readonly routerId: string | undefined }[] = [];
  /** The results of inspections. */
  answers: InspectionView[] = [];
  /** The way of every circuit. */
  routeAnswer: RouteView | undefined;
  readonly #model: OverlayModel;

  constructor(model: OverlayModel) {
    this.#model = model;
  }

  routers(): FabricRouterView[] {
    return Array.from(this.#model.routers(), ({ id, name }) => ({
      id,
      name,
      isOnline: this.connected.has(id),
      version: undefined,
      connectedAtMs: undefined,
      linkListeners: [],
      edgeAddress: undefined,
      ...this.connected.get(id),
    }));
  }

  links(): FabricLinkView[] {
    return [...this.linkList];
  }

  get linkCounts(): LinkCounts {
    return { total: this.linkList.length, usable: this.linkList.filter(({ isUsable }) => isUsable).length };
  }

  get circuitCount(): number {
    return this.circuitList.length;
  }

  get terminatorCount(): number {
    return this.terminators().length;
  }

  circuits(): FabricCircuitView[] {
    return [...this.circuitList];
  }

  dynamicCost(): number {
    return 0;
  }

  terminators(): FabricTerminatorView[] {
    const own = [...this.#model.fabricTerminators()].map(({ peerData: _, precedence, ...rest }) => ({
      ...rest,
      kind: 'fabric' as const,
      serviceName: this.#model.fabricService(rest.serviceId)?.name ?? '',
      precedence: PRECEDENCES[precedence]!,
      dynamicCost: 3,
      isHealthy: true,
    }));
    return [...this.shareTerminators, ...own];
  }

  route(): RouteView | undefined {
    return this.routeAnswer;
  }

  async inspect(names: readonly string[], routerId?: string): Promise<InspectionView[]> {
    this.inspected.push({ names, routerId });
    return this.answers;
  }

  endCircuit(id: string): boolean {
    const at = this.circuitList.findIndex((circuit) => circuit.id === id);
    if (at >= 0) this.circuitList.splice(at, 1);
    return at >= 0;
  }
}

export function linkView(id: string, more: Partial<FabricLinkView> = {}): FabricLinkView {
  return {
    id,
    sourceRouterId: 'r1',
    destinationRouterId: 'r2',
    protocol: 'tls',
    dialAddress: 'tls:127.0.0.1:10080',
    iteration: 1,
    staticCost: 1,
    sourceLatencyMs: undefined,
    destinationLatencyMs: undefined,
    cost: 1,
    isUsable: true,
    connections: [],
    ...more,
  };
}

export function circuitView(id: string, more: Partial<FabricCircuitView> = {}): FabricCircuitView {
  return {
    id,
    serviceId: 's1',
    serviceName: 'database',
    identityId: undefined,
    terminatorId: 't1',
    routerIds: ['r1', 'r2'],
    linkIds: ['l1'],
    cost: 11,
    createdAtMs: 1_000,
    ...more,
  };
}

export function shareTerminatorView(
  id: string,
  more: Partial<FabricTerminatorView> = {},
): FabricTerminatorView {
  return {
    id,
    serviceId: 's1',
    serviceName: 'app',
    kind: 'share',
    routerId: 'r1',
    binding: 'edge',
    address: id,
    instanceId: '',
    cost: 0,
    dynamicCost: 0,
    precedence: 'default',
    isHealthy: true,
    ...more,
  };
}
