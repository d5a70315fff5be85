/** The current state of the mesh as this control plane sees it: links, circuits, and inspections of routers. */
import { FrontdoorError } from '#base';
import type { FabricCircuitAnswer, FabricLinkAnswer, InspectionAnswer } from '#contract/schemas';
import type { FabricCircuitView, FabricLinkView } from '../../overlay/mod.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  gone,
  isoTime,
  ok,
  unstored,
  type ApiParts,
  type ChangeParts,
  type Handlers,
} from './call.ts';
import { meshAnswer } from './mesh-answer.ts';
import { routeAnswer } from './route-answer.ts';
import { livePageAnswer, routerNameOf } from './live-page.ts';
import { parsePageRequest, textOf } from './page-query.ts';

/** Resources without an organization are recorded in the installation's audit trail. */
const INSTALLATION = { organizationId: '' };

type MeshParts = Pick<ApiParts, 'fabric' | 'model'>;

export const meshHandlers: Handlers<
  ChangeParts & MeshParts,
  'listLinks' | 'getMesh' | 'getRoute' | 'listCircuits' | 'endCircuit' | 'inspectRouters'
> = {
  async getMesh(parts) {
    return unstored(ok(meshAnswer(parts.fabric, parts.clock.nowMs())));
  },

  async getRoute(parts, call) {
    const routerId = textOf(call.query, 'routerId')!;
    const serviceId = textOf(call.query, 'serviceId')!;
    const instanceId = textOf(call.query, 'instanceId') ?? '';
    if (parts.model.identity(routerId)?.kind !== 'router') throw notFound('Router', routerId);
    const route = parts.fabric.route(routerId, serviceId, instanceId);
    if (route === undefined) throw notFound('Service', serviceId);
    const place = { routerId, serviceId };
    return unstored(ok(routeAnswer(place, route, (id) => routerNameOf(parts, id))));
  },

  async listLinks(parts, call) {
    const request = parsePageRequest(call.query);
    const routerId = textOf(call.query, 'routerId');
    const links = parts.fabric
      .links()
      .filter(
        (link) =>
          routerId === undefined || [link.sourceRouterId, link.destinationRouterId].includes(routerId),
      );
    return livePageAnswer(links, request, { cost: (link) => link.cost }, (link) => linkAnswer(parts, link));
  },

  async listCircuits(parts, call) {
    const request = parsePageRequest(call.query);
    const routerId = textOf(call.query, 'routerId');
    const serviceId = textOf(call.query, 'serviceId');
    const circuits = parts.fabric
      .circuits()
      .filter((circuit) => routerId === undefined || circuit.routerIds.includes(routerId))
      .filter((circuit) => serviceId === undefined || circuit.serviceId === serviceId);
    return livePageAnswer(circuits, request, { createdAt: (circuit) => circuit.createdAtMs }, (circuit) =>
      circuitAnswer(parts, circuit),
    );
  },

  async endCircuit(parts, call) {
    const { id } = call.parameters;
    const circuit = parts.fabric.circuits().find((each) => each.id === id);
    if (circuit === undefined) throw notFound('Circuit', id);
    // The audit event is written first; without it, the action does not happen.
    await change(parts, call, async () => ({
      result: undefined,
      ...INSTALLATION,
      target: { kind: 'circuit', id },
      before: circuitAnswer(parts, circuit),
    }));
    parts.fabric.endCircuit(id);
    return gone;
  },

  async inspectRouters(parts, call) {
    const { names, routerId } = call.body;
    if (routerId !== undefined) checkConnected(parts, routerId);
    await change(parts, call, async () => ({
      result: undefined,
      ...INSTALLATION,
      target: { kind: 'router', id: routerId ?? 'all' },
      after: { names },
    }));
    const found = await parts.fabric.inspect(names, routerId);
    const values = found.map(({ routerId: router, name, value, error }) => ({
      routerId: router,
      name,
      ...(error === undefined ? { value } : { error }),
    }));
    return unstored(ok({ values } satisfies InspectionAnswer));
  },
};

function checkConnected({ model, fabric }: MeshParts, routerId: string): void {
  if (model.identity(routerId)?.kind !== 'router') throw notFound('Router', routerId);
  if (fabric.routers().some(({ id, isOnline }) => id === routerId && isOnline)) return;
  const message = `Router ${routerId} is not connected to this control plane`;
  throw new FrontdoorError('conflict', 'router-away', message);
}

function linkAnswer(parts: MeshParts, link: FabricLinkView): FabricLinkAnswer {
  return {
    id: link.id,
    sourceRouterId: link.sourceRouterId,
    sourceRouterName: routerNameOf(parts, link.sourceRouterId),
    destinationRouterId: link.destinationRouterId,
    destinationRouterName: routerNameOf(parts, link.destinationRouterId),
    protocol: link.protocol,
    dialAddress: link.dialAddress,
    iteration: link.iteration,
    staticCost: link.staticCost,
    sourceLatencyMs: link.sourceLatencyMs ?? null,
    destinationLatencyMs: link.destinationLatencyMs ?? null,
    cost: link.cost,
    usable: link.isUsable,
    connections: link.connections.map(({ type, localAddress, remoteAddress }) => ({
      type,
      localAddress,
      remoteAddress,
    })),
  };
}

function circuitAnswer(parts: MeshParts, circuit: FabricCircuitView): FabricCircuitAnswer {
  return {
    id: circuit.id,
    serviceId: circuit.serviceId,
    serviceName: circuit.serviceName,
    identityId: circuit.identityId ?? null,
    terminatorId: circuit.terminatorId,
    routerIds: [...circuit.routerIds],
    routerNames: circuit.routerIds.map((id) => routerNameOf(parts, id)),
    linkIds: [...circuit.linkIds],
    cost: circuit.cost,
    createdAt: isoTime(circuit.createdAtMs),
  };
}
