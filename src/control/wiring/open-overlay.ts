/** Opens the overlay controller, to which routers connect, and what the APIs see of it. */
import { formatAddress } from '#wire';
import { apiAddressesOf } from '../ziti/client-api/mod.ts';
import { FabricEvents, type EdgeRouter, type StatusBoard } from '../overlay/model/mod.ts';
import { StateCounts } from '../shares/catalog/mod.ts';
import { startOverlayController, type OverlayController } from '../overlay/mod.ts';
import type { ModelParts } from './open-model.ts';
import type { Storage } from './open-storage.ts';
import { listening } from './opened-port.ts';
import type { Opening } from './opening.ts';

export interface OverlaySide {
  readonly overlay: OverlayController;
  readonly events: FabricEvents;
  /** `tls:host:port`, which routers dial. */
  readonly ctrlAddress: string;
  /** The measurements of every control plane. */
  readonly status: StatusBoard;
  readonly counts: StateCounts;
  /** Routers with an edge listener, also those of other control planes. */
  readonly edgeRouters: () => readonly EdgeRouter[];
}

export async function openOverlay(
  { options, closers, addresses, clock, log }: Opening,
  { store, secrets, pki, controllerId }: Storage,
  { model, catalog, replicas, edgeTokens, sessions, endedSessions }: ModelParts,
): Promise<OverlaySide> {
  const { tokens, tokenKeys } = edgeTokens;
  const events = new FabricEvents();
  const controlTls = () => {
    const { certPem: cert, keyPem: key } = pki.controlServer;
    return { cert, key, ca: pki.caBundlePem };
  };
  const overlay = await listening('--ctrl-port', options.ctrlPort, () =>
    startOverlayController({
      listener: {
        controllerId,
        host: options.listenHost,
        port: options.ctrlPort,
        tls: controlTls(),
        release: options.version,
      },
      issuer: pki,
      store,
      secrets,
      model,
      sessions,
      access: {
        verifyServiceToken: (token) => tokens.verify(token),
        serviceKeys: () => tokenKeys.keys(),
        endedSessions,
        apiAddresses: () => apiAddressesOf(addresses.edgeUrls),
        interceptDomain: options.interceptDomain,
        localEnds: options.localEnds,
      },
      replicas: replicas && {
        isConnectedElsewhere: (id) => replicas.isConnectedElsewhere(id),
        cluster: replicas.cluster,
      },
      events,
      clock,
      log,
    }),
  );
  closers.push(() => overlay.close());
  tokenKeys.onChanged(() => overlay.keysChanged());
  pki.onServerRenewed(() => overlay.setTls(controlTls()));
  const status = replicas?.board(overlay.status) ?? overlay.status;
  return {
    overlay,
    events,
    ctrlAddress: formatAddress({
      type: 'tls',
      host: options.ctrlHost ?? options.advertiseHost,
      port: overlay.port,
    }),
    status,
    counts: new StateCounts(model, catalog, status),
    edgeRouters: () => replicas?.routers(overlay.routers()) ?? overlay.routers(),
  };
}
