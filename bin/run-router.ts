/**
 * The commands of a router that load the router and no other part, from their options to their exit status. Signals are
 * handled before the router reports that it is ready, because a script that waits for that may end it at once.
 */
import process from 'node:process';
import type { FrontdoorError } from '#base';
import type { RouterEnrollOptions, RouterRunOptions } from '#cli';
import { enrollRouterIdentity, loadEnrollableRouterConfig, type Router } from '#router';
import { runUntilStopped } from './lifetime.ts';
import { readOptionFile } from './option-file.ts';
import { openLog } from './pino-log.ts';
import { writeReadyFile } from './ready-file.ts';
import { followSignals, startRouter } from './router-part.ts';
import { collectAfterStart } from './start-collection.ts';

/** OpenZiti's router ends the same way when it reaches no controller in time. */
const STARTUP_TIMEOUT_STATUS = 1;

export async function runRouter(file: string, options: RouterRunOptions, version: string): Promise<number> {
  const { log } = openLog(options.logLevel);
  const late = Promise.withResolvers<FrontdoorError>();
  const started: { router?: Router } = {};
  followSignals(() => started.router);
  const router = await startRouter(file, version, log, (error) => late.resolve(error));
  started.router = router;
  const stopped = runUntilStopped(
    (drainMs) => router.close(drainMs),
    log,
    () => router.reload(),
  );
  await writeReadyFile(options.readyFile, {
    routerId: router.id,
    edgePort: router.edgePort,
    pids: { router: process.pid },
  });
  collectAfterStart();
  const ended = await Promise.race([stopped, late.promise]);
  if (typeof ended === 'number') return ended;
  await router.close();
  process.stderr.write(`frontdoor: ${ended.message}\n`);
  return STARTUP_TIMEOUT_STATUS;
}

export async function runRouterEnroll(file: string, options: RouterEnrollOptions): Promise<number> {
  const config = loadEnrollableRouterConfig(file);
  const jwt = readOptionFile(options.jwt, '--jwt').trim();
  await enrollRouterIdentity({ config, jwt, force: options.force, log: openLog('warn').log });
  process.stdout.write(`enrolled: the identity files that ${file} names are written\n`);
  return 0;
}
