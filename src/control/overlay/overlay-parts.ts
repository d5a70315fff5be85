/** Composes the parts of the overlay controller. Nothing here listens or acts; OverlayCore drives the parts. */
import type { Clock, LeaseClock } from '#base';
import { RefusalRecorder } from '../audit/mod.ts';
import { FabricEvents } from '../model/mod.ts';
import { AwayCircuits } from './away-circuits.ts';
import { CertificateExtension } from './certificate-extension.ts';
import { CircuitBuilder } from './circuit-builder.ts';
import { CircuitRegistry } from './circuit-registry.ts';
import { CircuitRequests } from './circuit-requests.ts';
import { CircuitRerouter } from './circuit-rerouter.ts';
import { CircuitTrail } from './circuit-trail.ts';
import { followClients } from './client-trail.ts';
import { ClusterAnnouncer } from './cluster-announcer.ts';
import { RouterRegistry } from './connected-router.ts';
import { RouterFrameDispatcher } from './router-frame-dispatcher.ts';
import { DataModelFeed } from './data-model-feed.ts';
import { DialCounts } from './dial-counts.ts';
import { FabricCircuitRequests } from './fabric-circuit-requests.ts';
import { FabricTerminatorIndex } from './fabric-terminator-index.ts';
import { FabricTerminatorRequests } from './fabric-terminator-requests.ts';
import { LeavingCircuits } from './leaving-circuits.ts';
import { LinkRegistry } from './link-registry.ts';
import { LinkReports } from './link-reports.ts';
import { followMesh } from './mesh-trail.ts';
import { TrustAnnouncer } from './trust-announcer.ts';
import { MeshTraces } from './mesh-traces.ts';
import { MeshValidation } from './mesh-validation.ts';
import { MeshView } from './mesh-view.ts';
import { ModelFollower } from './model-follower.ts';
import type { OverlayControllerOptions } from './overlay-options.ts';
import { PathFinder } from './path-finder.ts';
import { PeerFeed } from './peer-feed.ts';
import { RefusalTrail } from './refusal-trail.ts';
import { RemovedTerminators } from './removed-terminators.ts';
import { RouterAlerts } from './router-alerts.ts';
import { RouterInspection } from './router-inspection.ts';
import { ServiceSessionCheck } from './service-session-check.ts';
import { SessionFeed } from './session-feed.ts';
import { ShareProber } from './share-prober.ts';
import { TerminatorCosts } from './terminator-costs.ts';
import { TerminatorRegistry } from './terminator-registry.ts';
import { TerminatorCreation } from './terminator-creation.ts';
import { TerminatorRequests } from './terminator-requests.ts';
import { TerminatorSelector } from './terminator-selector.ts';
import { TerminatorValidation } from './terminator-validation.ts';
import { TunnelCircuitRequests } from './tunnel-circuit-requests.ts';
import { TunnelTerminatorRequests } from './tunnel-terminator-requests.ts';

export type OverlayParts = ReturnType<typeof makeOverlayParts>;

export function makeOverlayParts(options: OverlayControllerOptions, clock: Clock, leases: LeaseClock) {
  const { model, sessions, store, secrets, issuer, log } = options;
  const limits = options.pendingLimits === undefined ? {} : { limits: options.pendingLimits };
  const random = options.random === undefined ? {} : { random: options.random };
  const routers = new RouterRegistry();
  const links = new LinkRegistry();
  const paths = new PathFinder(routers, links, model.edge);
  const costs = new TerminatorCosts();
  const terminators = new TerminatorRegistry(store);
  const fabricTerminators = new FabricTerminatorIndex(model);
  const circuits = new CircuitRegistry(routers, costs, options.circuitLimits);
  const events = options.events ?? new FabricEvents();
  const trail = new CircuitTrail({ events, paths, clock: leases });
  const dialCounts = new DialCounts(events);
  circuits.onEnded((circuit) => trail.ended(circuit));
  followMesh({ events, links, terminators, fabricTerminators, routers, costs });
  const peers = new PeerFeed(routers);
  const membership = new ClusterAnnouncer(routers, options.cluster, events, log);
  const inspection = new RouterInspection({ routers, links, circuits });
  const { controllerId } = options;
  const traces = new MeshTraces({ controllerId, routers, events, clock, log });
  const { maxProbesPerSecond, isConnectedElsewhere } = options;
  const removed = new RemovedTerminators({ model, sessions, terminators, routers, clock, leases, log });
  const validation = new TerminatorValidation({
    terminators,
    fabricTerminators,
    routers,
    removed,
    clock: leases,
    log,
  });
  const prober = new ShareProber({
    model,
    terminators,
    routers,
    validation,
    clock: leases,
    log,
    maxProbesPerSecond,
    isConnectedElsewhere,
  });
  followClients(events, sessions, prober);
  const rerouter = new CircuitRerouter({
    routers,
    circuits,
    paths,
    onMoved: (circuit) => trail.moved(circuit),
    clock: leases,
    log,
  });
  const selector = new TerminatorSelector({
    terminators,
    fabricTerminators,
    routers,
    paths,
    costs,
    validation,
    log,
    ...random,
  });
  const builder = new CircuitBuilder({
    routers,
    selector,
    circuits,
    clock: leases,
    onTerminatorResult: (terminator, error) => prober.onCircuitResult(terminator, error),
    onEstablished(circuit, creationMs) {
      trail.created(circuit, creationMs);
      dialCounts.succeeded(circuit.serviceId, circuit.terminatorId);
      rerouter.onEstablished(circuit);
    },
    onFailed(circuitId, wish, failure, ms) {
      trail.failed(circuitId, wish, failure, ms);
      dialCounts.failed(wish.service.id, failure);
    },
  });
  const leaving = new LeavingCircuits({ routers, circuits, terminators });
  const sessionFeed = new SessionFeed(sessions, routers);
  const caughtUp = (): Promise<void> => store.caughtUp();
  const dataModel = new DataModelFeed(model, routers, options.serviceKeys, caughtUp, options.interceptDomain);
  sessions.onRemoved(({ id, isSigned }) => {
    if (isSigned) dataModel.onSessionEnded(id, clock.nowMs());
  });
  options.endedSessions?.follow(({ id, endedAtMs }) => dataModel.onSessionEnded(id, endedAtMs));
  const follower = new ModelFollower({
    model,
    sessions,
    terminators,
    circuits,
    builder,
    costs,
    prober,
    clock,
    log,
  });
  const sessionCheck = new ServiceSessionCheck(
    model,
    sessions,
    options.verifyServiceToken,
    (fingerprint) => issuer.isAuthority(fingerprint),
    clock,
  );
  const recorder = new RefusalRecorder({ store, secrets, clock, log });
  const proveLeaf = issuer.proveLeaf.bind(issuer);
  const refusals = new RefusalTrail({ model, proveLeaf, recorder, clock, log });
  const certificates = new CertificateExtension({ issuer, model, store, secrets, clock, log });
  const trust = new TrustAnnouncer({ issuer, routers, store, clock, log });
  const awayCircuits = new AwayCircuits({ routers, circuits, rerouter, inspection, clock: leases, log });
  const { fabricTerminators: writer } = options;
  const fabricTerminatorRequests =
    writer === undefined
      ? undefined
      : new FabricTerminatorRequests({ model, terminators: fabricTerminators, writer, log });
  const creation = new TerminatorCreation({ terminators, fabricTerminators, clock, log });
  const dispatcher = new RouterFrameDispatcher({
    certificates,
    model,
    routers,
    sessionFeed,
    dataModel,
    linkReports: new LinkReports({ routers, links, circuits, rerouter, events, clock, log }),
    circuits,
    builder,
    rerouter,
    peers,
    membership,
    inspection,
    traces,
    circuitRequests: new CircuitRequests({
      model,
      sessions: sessionCheck,
      builder,
      circuits,
      terminators,
      localEnds: options.localEnds ?? (() => undefined),
      clock,
      refusals,
      log,
      ...limits,
    }),
    fabricCircuitRequests: new FabricCircuitRequests({ model, builder, circuits, log, ...limits }),
    fabricTerminatorRequests,
    terminatorRequests: new TerminatorRequests({
      terminators,
      creation,
      fabricRequests: fabricTerminatorRequests,
      sessions: sessionCheck,
      refusals,
      log,
    }),
    tunnelCircuits: new TunnelCircuitRequests({ model, builder, circuits, refusals, log, ...limits }),
    tunnelTerminators: new TunnelTerminatorRequests({ model, terminators, creation, refusals, log }),
    alerts: new RouterAlerts({ refusals, events, clock, log }),
    validation,
    prober,
    leaving,
    clock: leases,
    log,
    sessionCheck,
    events,
  });
  const comparisons = new MeshValidation({
    controllerId,
    model,
    routers,
    links,
    circuits,
    terminators,
    fabricTerminators,
    dataModel,
    inspection,
    log,
  });
  const view = new MeshView({
    model,
    routers,
    links,
    circuits,
    paths,
    terminators,
    fabricTerminators,
    costs,
    selector,
    inspection,
    dataModel,
    validation,
    traces,
    comparisons,
    controllerId,
  });
  return {
    events,
    dialCounts,
    routers,
    links,
    terminators,
    costs,
    circuits,
    peers,
    membership,
    prober,
    rerouter,
    builder,
    sessionFeed,
    dataModel,
    validation,
    follower,
    certificates,
    awayCircuits,
    leaving,
    trust,
    dispatcher,
    recorder,
    refusals,
    view,
  };
}
