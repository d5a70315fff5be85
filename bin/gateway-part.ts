/** The gateway with its overlay identity: enrolled once, attached to routers, fed with the shares to serve. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { FrontdoorError, type Log } from '#base';
import {
  openShareFeed,
  startGateway,
  startTrafficReporter,
  type Gateway,
  type GatewayLimits,
  type ListenAddress,
} from '#gateway';
import { loadIdentityFile, saveIdentityFile, type IdentityFile } from '#net';
import { EdgeApiClient, enrollIdentity, OverlayClient, startIdentityRenewal, type ChannelOpener } from '#sdk';

export interface GatewayPartOptions {
  /** Identity file and last good share list. */
  readonly dataDir: string;
  readonly plain?: ListenAddress;
  readonly secure?: ListenAddress & { readonly cert: string; readonly key: string };
  readonly openChannel?: ChannelOpener;
  readonly maxConnectionsPerAddress?: number;
  /** Bounds other than the defaults; no option of the command line. */
  readonly limits?: Partial<GatewayLimits>;
  readonly version: string;
  readonly log: Log;
}

export interface GatewayPart {
  readonly gateway: Gateway;
  /** Resolves when the control plane has sent the shares, or has not for a while: the last good list serves then. */
  readonly freshOrLate: Promise<void>;
  /** Lets requests finish; nothing new comes in. */
  drain(drainMs: number): Promise<void>;
  close(drainMs: number): Promise<void>;
}

const FRESH_MS = 10_000;
/** For the last traffic report: short of what a stop may take. */
const LAST_REPORT_MS = 2_500;
const IDENTITY_FILE = 'identity.json';

/** Loads the gateway's identity, or makes it with `enroll`'s JWT. `edgeApiUrl` replaces an address that has moved. */
export async function gatewayIdentity(
  dataDir: string,
  enroll: () => Promise<string>,
  edgeApiUrl?: string,
): Promise<IdentityFile> {
  const path = join(dataDir, IDENTITY_FILE);
  let identity: IdentityFile;
  try {
    identity = await loadIdentityFile(path);
  } catch (error) {
    if (!(error instanceof FrontdoorError) || error.kind !== 'notFound') throw error;
    ({ identity } = await enrollIdentity({ jwt: await enroll(), name: 'gateway' }));
    await saveIdentityFile(path, identity);
  }
  if (edgeApiUrl === undefined || identity.apiUrl === edgeApiUrl) return identity;
  const moved = { ...identity, apiUrl: edgeApiUrl };
  await saveIdentityFile(path, moved);
  return moved;
}

export async function startGatewayPart(
  identity: IdentityFile,
  options: GatewayPartOptions,
): Promise<GatewayPart> {
  const { dataDir, log, version, plain, secure } = options;
  const api = new EdgeApiClient({ identity, log, version, configTypes: [] });
  const overlay = new OverlayClient({
    api,
    log,
    name: 'gateway',
    ...(options.openChannel === undefined ? {} : { openChannel: options.openChannel }),
  });
  const limits: Partial<GatewayLimits> = {
    ...options.limits,
    ...(options.maxConnectionsPerAddress === undefined
      ? {}
      : { maxConnectionsPerAddress: options.maxConnectionsPerAddress }),
  };
  let gateway: Gateway;
  try {
    gateway = await startGateway({
      dialer: overlay,
      log,
      limits,
      ...(plain === undefined ? {} : { plain }),
      ...(secure === undefined ? {} : { secure: { ...secure, tls: tlsSettings(secure) } }),
    });
  } catch (error) {
    overlay.close();
    await api.close();
    throw error;
  }
  const renewal = startIdentityRenewal({ client: api, path: join(dataDir, IDENTITY_FILE), log });
  const feed = await openShareFeed({
    table: gateway.table,
    subscribe: (subscription) => api.subscribeGatewayFeed(subscription),
    snapshotFile: join(dataDir, 'shares.json'),
    log,
  });
  const reporter = startTrafficReporter({
    meter: gateway.traffic,
    send: (report) => api.reportTraffic(report),
    log,
  });
  return {
    gateway,
    freshOrLate: freshOrLate(feed.fresh),
    drain: async (drainMs) => {
      await gateway.close({ drainMs });
      await reporter.report(LAST_REPORT_MS);
    },
    close: async (drainMs) => {
      await gateway.close({ drainMs });
      await reporter.close(LAST_REPORT_MS);
      renewal.close();
      await feed.close();
      overlay.close();
      await api.close();
    },
  };
}

async function freshOrLate(fresh: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, FRESH_MS);
  await Promise.race([fresh, late.promise]);
  clearTimeout(timer);
}

function tlsSettings({ cert, key }: { readonly cert: string; readonly key: string }) {
  const context = createSecureContext({ cert, key });
  return { certificateFor: () => context, defaultCertificate: { cert, key } };
}

/** PEM texts of the files; the error names the option. */
export function loadTlsFiles(
  certFile: string,
  keyFile: string,
  option: string,
): { cert: string; key: string } {
  try {
    return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  } catch (cause) {
    throw new FrontdoorError('invalid', 'tls-files', `${option}: cannot read ${certFile} and ${keyFile}`, {
      cause,
    });
  }
}
