/** Sends permissions to routers, and applies those that end: sessions, the data model, certificates. */
import { RefusalRecorder } from '../audit/mod.ts';
import { CertificateExtension } from './routers/certificate-extension.ts';
import type { CircuitParts } from './circuit-parts.ts';
import { DataModelFeed } from './data-model/data-model-feed.ts';
import type { MeshParts, OverlayClocks } from './mesh-parts.ts';
import { ModelFollower } from './circuits/model-follower.ts';
import type { OverlayControllerOptions } from './overlay-options.ts';
import { RefusalTrail } from './permits/refusal-trail.ts';
import { ServiceSessionCheck } from './permits/service-session-check.ts';
import { SessionFeed } from './permits/session-feed.ts';
import { TrustAnnouncer } from './routers/trust-announcer.ts';

export interface PermissionParts {
  readonly sessionFeed: SessionFeed;
  readonly dataModel: DataModelFeed;
  readonly follower: ModelFollower;
  readonly sessionCheck: ServiceSessionCheck;
  readonly recorder: RefusalRecorder;
  readonly refusals: RefusalTrail;
  readonly certificates: CertificateExtension;
  readonly trust: TrustAnnouncer;
}

export function makePermissionParts(
  options: OverlayControllerOptions,
  { routers, terminators, circuits, costs }: MeshParts,
  { builder, prober }: CircuitParts,
  { clock }: OverlayClocks,
): PermissionParts {
  const { model, sessions, store, secrets, issuer, access, log } = options;
  const sessionFeed = new SessionFeed(sessions, routers);
  const caughtUp = (): Promise<void> => store.caughtUp();
  const dataModel = new DataModelFeed(model, routers, access.serviceKeys, caughtUp, access.interceptDomain);
  sessions.onRemoved(({ id, isSigned }) => {
    if (isSigned) dataModel.onSessionEnded(id, clock.nowMs());
  });
  access.endedSessions?.follow(({ id, endedAtMs }) => dataModel.onSessionEnded(id, endedAtMs));
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
  const verify = access.verifyServiceToken;
  const isAuthority = (fingerprint: string): boolean => issuer.isAuthority(fingerprint);
  const sessionCheck = new ServiceSessionCheck(model, sessions, verify, isAuthority, clock);
  const recorder = new RefusalRecorder({ store, secrets, clock, log });
  const proveLeaf = issuer.proveLeaf.bind(issuer);
  return {
    sessionFeed,
    dataModel,
    follower,
    sessionCheck,
    recorder,
    refusals: new RefusalTrail({ model, proveLeaf, recorder, clock, log }),
    certificates: new CertificateExtension({ issuer, model, store, secrets, clock, log }),
    trust: new TrustAnnouncer({ issuer, routers, store, clock, log }),
  };
}
