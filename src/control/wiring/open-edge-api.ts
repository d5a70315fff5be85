/** Opens log-ins at shares, and the edge API for clients, agents and gateways. */
import type { Socket } from 'node:net';
import { EgressClient } from '#net';
import { addMachineRoutes, GatewayCommands } from '../shares/mod.ts';
import { createEdgeApi } from '../ziti/client-api/mod.ts';
import { addManagementRoutes } from '../ziti/management-api/mod.ts';
import { openLoginParts, type LoginParts } from '../shares/logins/mod.ts';
import type { EdgeController } from '../overlay/model/mod.ts';
import { meshState } from './mesh-state.ts';
import type { ModelParts } from './open-model.ts';
import type { OverlaySide } from './open-overlay.ts';
import type { Storage } from './open-storage.ts';
import { listening } from './opened-port.ts';
import type { ApiOpening } from './opening.ts';

export interface EdgeSide {
  /** Fetches from addresses that others name. */
  readonly egress: EgressClient;
  readonly login: LoginParts;
  readonly gatewayCommands: GatewayCommands;
  /** Takes a connection before TLS. */
  accept(socket: Socket): void;
}

export async function openEdgeSide(
  { options, closers, addresses, apis, intake, clock, log }: ApiOpening,
  { store, secrets, pki, controllerId }: Storage,
  { model, catalog, attached, replicas, edgeTokens, sessions }: ModelParts,
  { overlay, events, ctrlAddress, status, edgeRouters }: OverlaySide,
): Promise<EdgeSide> {
  const egress = new EgressClient({ allowed: options.allowEgress ?? [] });
  const login = await openLoginParts({
    store,
    secrets,
    catalog,
    egress,
    consoleUrl: () => `${addresses.console.baseUrl}/console`,
    clock,
    log,
  });
  closers.push(() => login.close());
  const { maxUnproven, maxUnprovenPerAddress } = options.limits ?? {};
  const started = { startedAtMs: clock.nowMs(), isOnline: true };
  const ownController = (): EdgeController => ({
    ...started,
    id: controllerId,
    apiUrls: addresses.edgeUrls,
    certificatePem: pki.edgeServer.leafPem,
  });
  const gatewayCommands = new GatewayCommands();
  const management = {
    ctrlAddress,
    controllerId,
    mesh: meshState(overlay.fabric, edgeRouters),
    diagnostics: overlay.fabric,
  };
  const edge = await createEdgeApi({
    base: { store, secrets, model, clock, log },
    pki,
    sessions,
    loadIdentity: (id) => attached.loadIdentity(id),
    edgeTokens,
    mesh: {
      events,
      status,
      routers: edgeRouters,
      hasKeylessHost: (serviceId) => overlay.hasKeylessHost(serviceId),
    },
    addresses: {
      apiUrl: () => addresses.edgeUrl,
      controllers: () => replicas?.controllers ?? [ownController()],
      frontendUrls: options.frontendUrls,
      interceptDomain: options.interceptDomain,
    },
    egress,
    server: {
      machineRoutes: (app, context, instanceId) =>
        addMachineRoutes(app, context, { catalog, login, gatewayCommands, instanceId }),
      limits: { maxUnproven, maxUnprovenPerAddress },
      intake,
      onServer: (server) => apis.watch('edge', server),
      managementRoutes: options.edgeManagement
        ? (app, context, webSockets) => addManagementRoutes(app, context, webSockets, management)
        : undefined,
    },
  });
  closers.push(() => edge.close());
  const isShared = options.isEdgeApiPortShared === true;
  // Node limits the times of heads and requests only at servers that listen.
  const place = isShared
    ? { host: '127.0.0.1', port: 0 }
    : { host: options.listenHost, port: options.edgeApiPort };
  const { port } = await listening('--edge-api-port', options.edgeApiPort, () => edge.listen(place));
  addresses.edgeApiListens(isShared ? options.edgeApiPort : port);
  return { egress, login, gatewayCommands, accept: (socket) => edge.accept(socket) };
}
