/**
 * The overlay of a tunnel with `#sdk`: the identity of a file, as OpenZiti's tools or our library wrote it. It starts while
 * no control plane answers, and logs in when one does.
 */
import { X509Certificate } from 'node:crypto';
import { FrontdoorError, messageOf, type Log } from '#base';
import type { OutwardDialer } from '#net';
import { loadIdentityFile } from '#net/files';
import {
  EdgeApiClient,
  KeptControlPlanes,
  OverlayClient,
  ServiceDirectory,
  IdentityRenewal,
  type Circuit,
  type OverlayHost,
} from '#sdk';

export interface TunnelOverlayOptions {
  /** Path of the identity file. Only its owner may access it. */
  readonly identityFile: string;
  /** Types of the configs that come with services. */
  readonly configTypes: readonly string[];
  readonly version: string;
  readonly outward: OutwardDialer;
  readonly log: Log;
}

export interface TunnelOverlay {
  readonly name: string;
  readonly api: EdgeApiClient;
  readonly directory: ServiceDirectory;
  readonly host: OverlayHost;
  /** Whether there is a channel to a router, and to how many. */
  readonly connection: Pick<OverlayClient, 'isAttached' | 'routerCount'>;
  /** Resolves when there is a channel to a router for the first time. */
  readonly attached: Promise<void>;
  /** Encrypted end to end if the service demands it. Rejects with a `FrontdoorError` or `CircuitError`. */
  dial(service: string, timeoutMs: number, appData: Uint8Array): Promise<Circuit>;
  /** Uses the identity file again, which another program may have replaced. */
  reload(): Promise<void>;
  /** Logs out and ends every channel. */
  close(): Promise<void>;
}

/** Time limit for routers to handle the last frames. */
const SETTLE_MS = 1_000;
const REFUSALS: ReadonlySet<string> = new Set(['unauthenticated', 'forbidden']);

/** Rejects with `identity-file-missing`, `identity-file-refused`, or `identity-refused` by the control plane. */
export async function openTunnelOverlay(options: TunnelOverlayOptions): Promise<TunnelOverlay> {
  const { identityFile, configTypes, version, outward, log } = options;
  const identity = await loadIdentityFile(identityFile);
  const keptFile = `${identityFile.replace(/\.json$/, '')}.control-planes.json`;
  const controlPlanes = await KeptControlPlanes.load(keptFile, log);
  const api = new EdgeApiClient({ identity, log, version, controlPlanes, configTypes, outward });
  let name: string;
  try {
    name = await nameOf(api, identityFile, log);
  } catch (error) {
    await api.close();
    throw error;
  }
  const attached = Promise.withResolvers<void>();
  const client = new OverlayClient({
    api,
    log,
    name,
    onRouter: ({ isUp }) => {
      if (isUp) attached.resolve();
    },
  });
  const renewal = new IdentityRenewal({ client: api, path: identityFile, log });
  const directory = new ServiceDirectory(api);
  return {
    name,
    api,
    directory,
    host: client,
    connection: client,
    attached: attached.promise,
    dial: (service, timeoutMs, appData) =>
      directory.dial(service, ({ id, encryptionRequired }) =>
        client.dial(id, timeoutMs, { isEncryptionRequired: encryptionRequired, appData }),
      ),
    async reload() {
      const again = await loadIdentityFile(identityFile);
      if (again.certPem !== api.identity.certPem) api.useIdentity(again);
    },
    async close() {
      renewal.close();
      await client.leave(SETTLE_MS);
    },
  };
}

/** Without an answer of the control plane, the name of the certificate. */
async function nameOf(api: EdgeApiClient, identityFile: string, log: Log): Promise<string> {
  try {
    return (await api.currentIdentity()).name;
  } catch (error) {
    if (error instanceof FrontdoorError && REFUSALS.has(error.kind)) {
      const text = `identity file ${identityFile}: ${error.message}; enroll the identity again, or enable it`;
      throw new FrontdoorError(error.kind, 'identity-refused', text, { cause: error });
    }
    log.warn({ err: messageOf(error) }, 'no control plane answers yet; trying again until one does');
    return /^CN=(.+)$/m.exec(new X509Certificate(api.identity.certPem).subject)?.[1] ?? 'tunnel';
  }
}
