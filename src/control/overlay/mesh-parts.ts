/** What this control plane knows of the mesh: routers, links, terminators and circuits. */
import type { Clock, LeaseClock } from '#base';
import type { FabricEvents } from './model/fabric-events.ts';
import { CircuitRegistry } from './circuits/circuit-registry.ts';
import { CircuitTrail } from './circuits/circuit-trail.ts';
import { ClusterAnnouncer } from './routers/cluster-announcer.ts';
import { RouterRegistry } from './mesh/connected-router.ts';
import { LinkRegistry } from './mesh/link-registry.ts';
import { followMesh } from './routers/mesh-trail.ts';
import { MeshTraces } from './routers/mesh-traces.ts';
import type { OverlayControllerOptions } from './overlay-options.ts';
import { PathFinder } from './mesh/path-finder.ts';
import { PeerFeed } from './routers/peer-feed.ts';
import { RouterInspection } from './routers/router-inspection.ts';
import { TerminatorCosts } from './terminators/terminator-costs.ts';
import { TerminatorRegistry } from './terminators/terminator-registry.ts';

/** The clocks of the overlay: `leases` is for durations, so that setting the machine's clock ends no wait early or late. */
export interface OverlayClocks {
  readonly clock: Clock;
  readonly leases: LeaseClock;
}

export interface MeshParts {
  readonly routers: RouterRegistry;
  readonly links: LinkRegistry;
  readonly paths: PathFinder;
  readonly costs: TerminatorCosts;
  readonly terminators: TerminatorRegistry;
  readonly circuits: CircuitRegistry;
  readonly trail: CircuitTrail;
  readonly peers: PeerFeed;
  readonly membership: ClusterAnnouncer;
  readonly inspection: RouterInspection;
  readonly traces: MeshTraces;
}

export function makeMeshParts(
  options: OverlayControllerOptions,
  events: FabricEvents,
  { clock, leases }: OverlayClocks,
): MeshParts {
  const { model, store, log } = options;
  const { controllerId } = options.listener;
  const routers = new RouterRegistry();
  const links = new LinkRegistry();
  const paths = new PathFinder(routers, links, model.edge);
  const costs = new TerminatorCosts();
  const terminators = new TerminatorRegistry(store, model);
  const circuits = new CircuitRegistry(routers, costs, options.tuning?.circuitLimits);
  const trail = new CircuitTrail({ events, paths, clock: leases });
  circuits.onEnded((circuit) => trail.ended(circuit));
  followMesh({ events, links, terminators, routers, costs });
  return {
    routers,
    links,
    paths,
    costs,
    terminators,
    circuits,
    trail,
    peers: new PeerFeed(routers),
    membership: new ClusterAnnouncer(routers, options.replicas?.cluster, events, log),
    inspection: new RouterInspection({ routers, links, circuits }),
    traces: new MeshTraces({ controllerId, routers, events, clock, log }),
  };
}
