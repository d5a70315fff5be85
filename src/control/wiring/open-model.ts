/** Opens what follows the store: periodic work, the model in memory, other control planes, and the sessions of the edge API. */
import { openApiSessions, SessionRevocations } from '../overlay/clients/mod.ts';
import { openEdgeTokens, type EdgeTokens } from '../ziti/client-api/mod.ts';
import { attachModel, OverlayModel, type AttachedModel } from '../overlay/model/mod.ts';
import { KeyRotation } from '../credentials/oauth/mod.ts';
import { Replicas } from '../replica/mod.ts';
import type { Storage } from './open-storage.ts';
import type { Opening } from './opening.ts';
import { startSweeps } from './store-sweeps.ts';
import { openShareCatalog, type ShareCatalog } from '../shares/catalog/mod.ts';

export interface ModelParts {
  readonly model: OverlayModel;
  readonly catalog: ShareCatalog;
  readonly attached: Pick<AttachedModel, 'loadIdentity'>;
  /** Undefined over a database that is not shared. */
  readonly replicas: Replicas | undefined;
  readonly edgeTokens: EdgeTokens;
  readonly sessions: Awaited<ReturnType<typeof openApiSessions>>;
  readonly endedSessions: SessionRevocations;
}

export async function openModel(
  { options, closers, clock, log }: Opening,
  { store, secrets }: Storage,
): Promise<ModelParts> {
  const { dnsServers = [], advertiseHost } = options;
  closers.push(startSweeps({ store, secrets, dnsServers, clock, log }).close);
  const model = new OverlayModel();
  const attached = await attachModel(store, model, { log });
  closers.push(() => attached.close());
  const shares = await openShareCatalog(store, model, log);
  closers.push(() => shares.close());
  const replicas = store.isShared ? new Replicas({ store, model, clock, log }) : undefined;
  const keyRotation = await KeyRotation.start({ store, secrets, clock, log });
  closers.push(() => keyRotation.close());
  const edgeTokens = await openEdgeTokens(store, secrets, clock, `https://${advertiseHost}`);
  const verifyAccess = (token: string) => edgeTokens.sessionTokens.verifyAccess(token);
  const sessions = await openApiSessions({ store, secrets, model, clock, log, verifyAccess });
  closers.push(() => sessions.close());
  const endedSessions = await SessionRevocations.open({ store, clock, log });
  closers.push(() => endedSessions.close());
  return { model, catalog: shares.catalog, attached, replicas, edgeTokens, sessions, endedSessions };
}
