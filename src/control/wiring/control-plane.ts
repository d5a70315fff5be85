/**
 * Composes the control plane: store, certificates, Management API with the token endpoint, edge client API,
 * overlay controller. There is one per data directory. It stops in the reverse order.
 */
import { FrontdoorError, isLoopbackHost, systemClock } from '#base';
import { BodyIntake } from '#net/http';
import { ApiMeter } from './api-meter.ts';
import { closeAll } from './close-all.ts';
import { ControlAddresses } from './control-addresses.ts';
import type { ControlPlane, ControlPlaneOptions } from './control-plane-options.ts';
import { openEdgeSide } from './open-edge-api.ts';
import { openManagementSide } from './open-management-api.ts';
import { hasApiTls } from './own-api-certificate.ts';
import { openModel } from './open-model.ts';
import { openNotifications } from './open-notifications.ts';
import { openOverlay } from './open-overlay.ts';
import { openStorage } from './open-storage.ts';
import type { Opening } from './opening.ts';
import { joinReplicas, runningControlPlane } from './running-control-plane.ts';

/** @throws FrontdoorError if a port is taken, the data directory cannot be used, or the database is damaged. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { listenHost, log, clock = systemClock } = options;
  if (!hasApiTls(options) && !isLoopbackHost(listenHost)) {
    const message = `the Management API needs TLS on ${listenHost}: give --api-cert and --api-key, or --own-api-cert`;
    throw new FrontdoorError('invalid', 'api-tls-missing', message);
  }
  const opening: Opening = {
    options,
    closers: [],
    addresses: new ControlAddresses(options),
    intake: new BodyIntake(),
    clock,
    log,
  };
  try {
    return await openAll(opening);
  } catch (error) {
    await closeAll(opening.closers, log);
    throw error;
  }
}

async function openAll(opening: Opening): Promise<ControlPlane> {
  const storage = await openStorage(opening);
  const model = await openModel(opening, storage);
  const overlay = await openOverlay(opening, storage, model);
  const { clock, log } = opening;
  const apis = new ApiMeter({ store: storage.store, clock, log });
  const forApis = { ...opening, apis, ...openNotifications(opening, storage, model, overlay) };
  const edge = await openEdgeSide(forApis, storage, model, overlay);
  const management = await openManagementSide(forApis, storage, model, overlay, edge);
  const parts = { storage, model, overlay, edge, management };
  await joinReplicas(opening, parts);
  return runningControlPlane(forApis, parts);
}
