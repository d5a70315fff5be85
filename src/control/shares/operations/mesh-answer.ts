/** The mesh as of one moment: everything is read in one turn, so that links, circuits and terminators fit together. */
import type { MeshAnswer } from '#contract/schemas';
import type { FabricTerminatorView, FabricView } from '../../overlay/mod.ts';
import { isoTime } from './call.ts';

const MAX_SERVICES = 1_000;

export function meshAnswer(
  fabric: Pick<FabricView, 'routers' | 'links' | 'circuits' | 'terminators'>,
  nowMs: number,
): MeshAnswer {
  const circuits = new Map<string, number>();
  for (const { linkIds } of fabric.circuits())
    for (const id of linkIds) circuits.set(id, (circuits.get(id) ?? 0) + 1);
  const byService = Map.groupBy(fabric.terminators(), ({ serviceId }) => serviceId);
  const services = [...byService]
    .map(([id, terminators]) => ({ id, name: terminators[0]!.serviceName, terminators }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1));
  return {
    at: isoTime(nowMs),
    routers: fabric.routers().map(({ id, name, isOnline, version }) => ({
      id,
      name,
      online: isOnline,
      version: version ?? null,
    })),
    links: fabric.links().map((link) => ({
      id: link.id,
      sourceRouterId: link.sourceRouterId,
      destinationRouterId: link.destinationRouterId,
      protocol: link.protocol,
      cost: link.cost,
      sourceLatencyMs: link.sourceLatencyMs ?? null,
      destinationLatencyMs: link.destinationLatencyMs ?? null,
      usable: link.isUsable,
      circuits: circuits.get(link.id) ?? 0,
    })),
    services: services.slice(0, MAX_SERVICES).map(({ id, name, terminators }) => ({
      id,
      name,
      kind: terminators[0]!.kind,
      terminators: terminators.map(terminatorAnswer),
    })),
    serviceCount: services.length,
  };
}

function terminatorAnswer(terminator: FabricTerminatorView) {
  const { id, routerId, instanceId, precedence, cost, dynamicCost, isHealthy } = terminator;
  return { id, routerId, instanceId, precedence, cost: cost + dynamicCost, healthy: isHealthy };
}
