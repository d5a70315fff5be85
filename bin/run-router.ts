/**
 * The commands of a router that load the router and no other part, from their options to their exit status. Signals are
 * handled before the router reports that it is ready, because a script that waits for that may end it at once.
 */
import { existsSync } from 'node:fs';
import process from 'node:process';
import { FILE_EXIT_STATUS, type FrontdoorError, type Log } from '#base';
import type { RouterEnrollOptions, RouterRunOptions } from '#cli';
import { enrollRouterIdentity, loadEnrollableRouterConfig, loadRouterConfig, type Router } from '#router';
import { containUncaught, runUntilStopped } from './lifetime.ts';
import { serveMetrics } from './metrics-option.ts';
import { readSecretFile } from './option-file.ts';
import { openLog } from './program-log.ts';
import { reportReady } from './ready-file.ts';
import { followSignals, startRouter } from './router-part.ts';
import { collectAfterStart } from './start-collection.ts';
import { checkControllers } from './surroundings.ts';

export async function runRouter(file: string, options: RouterRunOptions, version: string): Promise<number> {
  const { log } = openLog(options);
  containUncaught(log);
  checkControllers(log, () => loadRouterConfig(file).ctrl.endpoints);
  const late = Promise.withResolvers<FrontdoorError>();
  const connected = Promise.withResolvers<void>();
  const started: { router?: Router } = {};
  followSignals(() => started.router);
  if (options.enrollmentJwt !== undefined) await enrollIfNeeded(file, options.enrollmentJwt, log);
  const metrics = await serveMetrics(options.metricsListen, version, log);
  const router = await startRouter(file, version, log, {
    startup: { onTimeout: late.resolve, onConnected: connected.resolve },
  }).catch(async (error: unknown) => {
    await metrics.close();
    throw error;
  });
  started.router = router;
  metrics.add(router.writeMetrics);
  metrics.health.add({ name: 'controller', isReady: () => router.isConnected });
  const stopped = runUntilStopped(
    async (drainMs) => {
      metrics.health.stop();
      await router.close(drainMs);
      await metrics.close();
    },
    log,
    () => router.reload(),
  );
  if (options.readyWithoutController) connected.resolve();
  const failed = Promise.withResolvers<never>();
  connected.promise.then(() => announce(router, options.readyFile)).catch(failed.reject);
  const ended = await Promise.race([stopped, late.promise, failed.promise]);
  if (typeof ended === 'number') return ended;
  await router.close();
  await metrics.close();
  process.stderr.write(`frontdoor: ${ended.message}\n`);
  return FILE_EXIT_STATUS.noController;
}

export async function runRouterEnroll(file: string, options: RouterEnrollOptions): Promise<number> {
  const config = loadEnrollableRouterConfig(file);
  const jwt = readSecretFile(options.jwt, '--jwt').trim();
  const { log } = openLog({ logLevel: 'warn', logFormat: 'auto' });
  await enrollRouterIdentity({ config, jwt, force: options.force, log });
  process.stdout.write(`enrolled: the identity files that ${file} names are written\n`);
  return FILE_EXIT_STATUS.success;
}

/** The token is not read once the router is enrolled: secrets of containers may be gone by then. */
async function enrollIfNeeded(file: string, jwtFile: string, log: Log): Promise<void> {
  const config = loadEnrollableRouterConfig(file);
  const { cert, serverCert } = config.identity;
  if ([cert, serverCert].every((path) => path === undefined || existsSync(path))) return;
  const jwt = readSecretFile(jwtFile, '--enrollment-jwt').trim();
  await enrollRouterIdentity({ config, jwt, force: false, log });
  log.info({ file }, 'the router is enrolled');
}

async function announce(router: Router, readyFile: string | undefined): Promise<void> {
  await reportReady(readyFile, {
    routerId: router.id,
    edgePort: router.edgePort,
    pids: { router: process.pid },
  });
  collectAfterStart();
}
