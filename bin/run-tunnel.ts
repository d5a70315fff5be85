/** `frontdoor tunnel …`, from its options to its exit status. Loads nothing of the server parts. */
import process from 'node:process';
import { openTunnelOverlay, startTunnelProxy, TunnelHost, type TunnelOverlay } from '#agent/tunnel';
import type { TunnelHostCommandOptions, TunnelProxyCommandOptions } from '#cli';
import type { Log } from '#base';
import { outwardDialerOf } from '#net';
import { HOST_CONFIG_TYPES } from '#sdk/hosting';
import { containUncaught, runUntilStopped } from './lifetime.ts';
import { serveMetrics, writeConnectionMetrics, type ServedMetrics } from './metrics-option.ts';
import { openLog } from './program-log.ts';
import { reportReady } from './ready-file.ts';
import { collectAfterStart } from './start-collection.ts';
import { checkControlPlane } from './surroundings.ts';

/** What a tunnel does as its identity. */
interface Running {
  /** The content of the ready file. */
  readonly ready: Promise<object>;
  /** Circuits that are open or being made. */
  readonly openCircuits: () => number;
  close(drainMs: number): Promise<void>;
}

export async function runTunnelProxy(options: TunnelProxyCommandOptions, version: string): Promise<number> {
  const { service: services, listen: listenHost, udpIdleTimeout: udpIdleTimeoutMs } = options;
  return run(options, version, [], async (overlay, log) => {
    const proxy = await startTunnelProxy({ overlay, services, listenHost, udpIdleTimeoutMs, log });
    return {
      ready: overlay.attached.then(() => ({ services: proxy.services })),
      openCircuits: () => proxy.openCircuits,
      close: (drainMs) => proxy.close(drainMs),
    };
  });
}

export async function runTunnelHost(options: TunnelHostCommandOptions, version: string): Promise<number> {
  const { service: services } = options;
  return run(options, version, HOST_CONFIG_TYPES, async (overlay, log) => {
    const host = new TunnelHost({ overlay, services, log });
    return {
      ready: host.ready.then((names) => ({ services: names.map((service) => ({ service })) })),
      openCircuits: () => host.openCircuits,
      close: (drainMs) => host.close(drainMs),
    };
  });
}

/** Signals are handled from the start, because a script may end the tunnel while it is not ready. */
async function run(
  options: TunnelHostCommandOptions | TunnelProxyCommandOptions,
  version: string,
  configTypes: readonly string[],
  start: (overlay: TunnelOverlay, log: Log) => Promise<Running>,
): Promise<number> {
  const { identity: identityFile, readyFile, proxy } = options;
  const outward = outwardDialerOf(process.env, proxy);
  const { log } = openLog(options);
  containUncaught(log);
  checkControlPlane(log, { identityFile, outward });
  const metrics = await serveMetrics(options.metricsListen, version, log);
  const opening = openTunnelOverlay({ identityFile, configTypes, version, outward, log });
  const starting = opening.then((overlay) => start(overlay, log));
  const stopped = runUntilStopped(
    async (drainMs) => {
      metrics.health.stop();
      await (await starting).close(drainMs);
    },
    log,
    async () => (await opening).reload(),
  );
  try {
    const { ready, openCircuits } = await starting;
    const overlay = await opening;
    observe(metrics, overlay, openCircuits);
    const failed = Promise.withResolvers<never>();
    ready
      .then(async (content) => {
        const { name } = overlay;
        await reportReady(readyFile, { identity: name, ...content, pids: { tunnel: process.pid } });
        log.info({ identity: name }, 'the tunnel is ready');
        collectAfterStart();
      })
      .catch(failed.reject);
    return await Promise.race([stopped, failed.promise]);
  } finally {
    await metrics.close();
  }
}

/** It is ready while it is connected to a router. */
function observe(
  metrics: ServedMetrics,
  { api, connection }: TunnelOverlay,
  openCircuits: () => number,
): void {
  metrics.add((to) => {
    writeConnectionMetrics(to, 'tunnel', connection, api.identity.certPem);
    const help = 'Circuits of connections and datagrams that are open or being made';
    to.one('frontdoor_tunnel_open_circuits', 'gauge', help, openCircuits());
  });
  metrics.health.add({ name: 'router', isReady: () => connection.isAttached });
}
