/** A control plane whose parts are all open, as its program uses it. */
import { setApiTls } from '../shares/operations/mod.ts';
import { inviteOperator } from '../installation/mod.ts';
import { nextRotationStep } from '../pki/mod.ts';
import { closeAll } from './close-all.ts';
import { writeControlMetrics } from './control-metrics.ts';
import type { ControlPlane } from './control-plane-options.ts';
import { controlCertificates, controlReadiness } from './control-readiness.ts';
import { createFabricNode } from './fabric-node.ts';
import type { EdgeSide } from './open-edge-api.ts';
import type { ManagementSide } from './open-management-api.ts';
import type { ModelParts } from './open-model.ts';
import type { OverlaySide } from './open-overlay.ts';
import type { Storage } from './open-storage.ts';
import type { ApiOpening, Opening } from './opening.ts';

export interface ControlParts {
  readonly storage: Storage;
  readonly model: ModelParts;
  readonly overlay: OverlaySide;
  readonly edge: EdgeSide;
  readonly management: ManagementSide;
}

/** Time for routers to connect to another control plane or, if there is none, for pending circuits. */
const LEAVE_MS = 10_000;
const LEAVE_ALONE_MS = 1_000;

/** Announces this control plane to the others over the same database. */
export async function joinReplicas({ closers, addresses }: Opening, parts: ControlParts): Promise<void> {
  const { storage, overlay: side } = parts;
  const { replicas } = parts.model;
  if (replicas === undefined) return;
  closers.push(() => replicas.close());
  await replicas.start({
    apiUrl: addresses.baseUrl,
    ctrlAddress: side.ctrlAddress,
    controllerId: storage.controllerId,
    edgeApiUrls: addresses.edgeUrls,
    edgeCertificatePem: () => storage.pki.edgeServer.leafPem,
    measurements: side.overlay.status,
    routers: () => side.overlay.routers(),
  });
}

export async function runningControlPlane(opening: ApiOpening, parts: ControlParts): Promise<ControlPlane> {
  const { options, addresses, apis, notifications, eventExport, clock, log } = opening;
  const { storage, overlay: side, management, model: modelParts } = parts;
  const { store, secrets, pki, controllerId, firstStart } = storage;
  const { model, sessions } = modelParts;
  const { overlay, ctrlAddress, counts, edgeRouters } = side;
  const { api, app, mint } = management;
  const { apiUrl, baseUrl, edgeUrl: edgeApiUrl } = addresses;
  const consoleUrl = app && `${baseUrl}/console`;
  const email = options.firstOperatorEmail ?? null;
  const firstCode = app && firstStart && (await inviteOperator({ store, secrets, clock, email }));
  // The own one is that of the edge API.
  let apiCertPem = options.apiTls?.cert;
  log.info({ apiUrl, baseUrl, edgeApiUrl, ctrlAddress, controllerId }, 'control plane is up');
  return {
    apiUrl,
    baseUrl,
    edgeApiUrl,
    ctrlAddress,
    firstStart,
    consoleUrl,
    consoleLink: firstCode ? `${consoleUrl}/welcome#${firstCode}` : undefined,
    createFabricNode: (kind, name) => createFabricNode({ store, secrets, clock }, mint, kind, name),
    acceptEdge: (socket) => parts.edge.accept(socket),
    acceptApi: (socket) => void api.server.emit('connection', socket),
    acceptRouter: (peer) => overlay.acceptMemory(peer),
    readiness: controlReadiness({
      store,
      model,
      hasOnlineRouter: () => [...edgeRouters(), ...overlay.fabric.routers()].some(({ isOnline }) => isOnline),
    }),
    setApiTls: (tls) => {
      setApiTls(api, tls);
      apiCertPem = tls.cert;
    },
    writeMetrics: (to) =>
      writeControlMetrics(to, {
        model,
        counts,
        fabric: overlay.fabric,
        circuitCount: () => overlay.circuitCount,
        sessionCount: () => sessions.size,
        store,
        apis,
        notifications,
        eventExport,
        log,
        certificates: () => controlCertificates(pki, apiCertPem),
        rotation: () => nextRotationStep(pki.authorities.rotation),
      }),
    frontendCertificate: async (zone) => {
      const { certPem: cert, keyPem: key } = await pki.frontendServer(zone);
      return { cert, key };
    },
    close: (drainMs = 0) => leave(opening, parts, drainMs),
  };
}

/** With `drainMs`, announces the stop first, and serves until routers have connected to another control plane. */
async function leave({ closers, log }: Opening, { model, overlay }: ControlParts, drainMs: number) {
  const elsewhere = model.replicas?.routerElsewhere;
  const mostMs = elsewhere === undefined ? LEAVE_ALONE_MS : LEAVE_MS;
  if (drainMs > 0) await overlay.overlay.leave(Math.min(drainMs, mostMs), elsewhere);
  await closeAll(closers, log);
}
