/**
 * Each command that runs a program of the product, from its options to its exit status. Signals are handled before
 * a program reports that it is ready, because a script that waits for that may end it at once.
 */
import { join, resolve } from 'node:path';
import process from 'node:process';
import { formatHostPort, silentLog, type FrontdoorError } from '#base';
import type {
  ControlCommandOptions,
  ResetAdminCommandOptions,
  RestoreCommandOptions,
  RouterEnrollOptions,
  RouterRunOptions,
  UpCommandOptions,
} from '#cli';
import {
  resetAdmin,
  restoreDatabase,
  startControlPlane,
  type ControlPlane,
  type FirstStart,
  type NewAdmin,
  type Restored,
} from '#control';
import { loadEnrollableRouterConfig, type Router } from '#router';
import { databaseUrlOf } from './database-url.ts';
import { serveMetrics } from './metrics-option.ts';
import { accessOf } from './access-options.ts';
import { demoBanner, keepDemoCredentials, startDemo } from './demo.ts';
import { runUntilStopped } from './lifetime.ts';
import { openLog } from './pino-log.ts';
import { readOptionFile } from './option-file.ts';
import { writeReadyFile } from './ready-file.ts';
import { keepAndShow } from './shown-secrets.ts';
import { enrollRouterIdentity, followSignals, startRouter } from './router-part.ts';
import { collectAfterStart } from './start-collection.ts';
import { tlsFilesOf, tlsOption } from './tls-files.ts';
import { startUp } from './up.ts';

export async function runUp(options: UpCommandOptions, version: string): Promise<number> {
  const dataDir = resolve(options.dataDir);
  // The demo's screen is for its reader; the log goes to a file.
  const { log, reopen } = openLog(
    options.logLevel,
    options.demo ? join(dataDir, 'logs', 'frontdoor.log') : undefined,
  );
  const print = (line: string): void => void process.stdout.write(`frontdoor: ${line}\n`);
  print(`starting in ${dataDir}`);
  const up = await startUp({
    dataDir,
    listenHost: options.listen,
    advertiseHost: options.advertise,
    ports: {
      http: options.httpPort,
      https: options.httpsPort,
      api: options.apiPort,
      edgeApi: options.edgeApiPort,
      ctrl: options.ctrlPort,
      edge: options.edgePort,
    },
    anyPort: options.anyPort,
    database: databaseUrlOf(options),
    zone: options.zone,
    access: await accessOf(options),
    version,
    log,
    onFirstStart: (first) =>
      options.demo ? keepDemoCredentials(dataDir, first) : tellFirstStart(dataDir, first),
    ...tlsOption('apiTls', options.apiCert, options.apiKey, '--api-cert'),
    gatewayTls: tlsFilesOf(options.tlsCert, options.tlsKey, '--tls-cert'),
    gatewayTlsDir: options.tlsDir,
    publicHttpsPort: options.publicHttpsPort,
    accessLog: options.accessLog,
    metrics: options.metricsListen,
    responseTimeoutMs: options.responseTimeout === undefined ? undefined : options.responseTimeout * 1_000,
    maxConnectionsPerAddress: options.maxConnectionsPerAddress,
  });
  const reload = async (): Promise<void> => {
    reopen();
    reloadApiTls(up.control, options);
    up.router.reload();
    await up.reload();
  };
  if (!options.demo) {
    const gatewayUrl = `http://${formatHostPort(options.listen, up.httpPort)}`;
    print(`Management API ${up.control.apiUrl}, gateway ${gatewayUrl}${hintOf(options.listen, up.httpPort)}`);
    const stopped = runUntilStopped((drainMs) => up.close(drainMs), log, reload);
    await writeReadyFile(options.readyFile, {
      apiUrl: up.control.apiUrl,
      edgeApiUrl: up.control.edgeApiUrl,
      gatewayUrl,
      dataDir,
      pids: { up: process.pid },
      ...up.firstStart,
    });
    collectAfterStart();
    return stopped;
  }
  let demo;
  try {
    demo = await startDemo({ up, dataDir, version, log, print });
  } catch (error) {
    await up.close(0);
    throw error;
  }
  const { ready } = demo;
  const stopped = runUntilStopped(
    async (drainMs) => {
      print(drainMs > 0 ? 'draining, then stopping' : 'stopping');
      // The gateway drains through the agent, which therefore goes last.
      await up.drainGateway(drainMs);
      await demo.close(drainMs);
      await up.close(0);
    },
    log,
    reload,
  );
  await writeReadyFile(options.readyFile, ready);
  collectAfterStart();
  process.stdout.write(demoBanner(ready, up.httpsPort));
  const status = await stopped;
  print(status === 0 ? 'stopped' : 'did not stop cleanly');
  return status;
}

export async function runControl(options: ControlCommandOptions): Promise<number> {
  const { log } = openLog(options.logLevel);
  const dataDir = resolve(options.dataDir);
  const metrics = await serveMetrics(options.metricsListen, log);
  const control = await startControlPlane({
    dataDir,
    database: databaseUrlOf(options),
    listenHost: options.listen,
    advertiseHost: options.advertise,
    apiPort: options.apiPort,
    edgeApiPort: options.edgeApiPort,
    ctrlPort: options.ctrlPort,
    zone: options.zone,
    ...(await accessOf(options)),
    frontendUrls: (host) => options.publicUrl.map((template) => template.replaceAll('{host}', host)),
    log,
    onFirstStart: (first) => tellFirstStart(dataDir, first),
    ...tlsOption('apiTls', options.apiCert, options.apiKey, '--api-cert'),
  }).catch(async (error: unknown) => {
    await metrics.close();
    throw error;
  });
  metrics.add(control.writeMetrics);
  const { apiUrl, edgeApiUrl, ctrlAddress, firstStart } = control;
  const pids = { control: process.pid };
  const stopped = runUntilStopped(
    async (drainMs) => {
      await control.close(drainMs);
      await metrics.close();
    },
    log,
    () => reloadApiTls(control, options),
  );
  await writeReadyFile(options.readyFile, { apiUrl, edgeApiUrl, ctrlAddress, dataDir, pids, ...firstStart });
  collectAfterStart();
  return stopped;
}

/** An address that stands for all interfaces cannot be opened in a browser. */
function hintOf(listen: string, port: number): string {
  return listen === '::' || listen === '0.0.0.0' ? ` (on this machine http://localhost:${port})` : '';
}

function reloadApiTls(
  control: ControlPlane,
  { apiCert, apiKey }: ControlCommandOptions | UpCommandOptions,
): void {
  const { apiTls } = tlsOption('apiTls', apiCert, apiKey, '--api-cert');
  if (apiTls !== undefined) control.setApiTls(apiTls);
}

const FIRST_SECRETS_FILE = 'first-secrets.json';
const ADMIN_SECRETS_FILE = 'admin-secrets.json';

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
  await enrollRouterIdentity(config, readOptionFile(options.jwt, '--jwt').trim(), openLog('warn').log);
  process.stdout.write(`enrolled: the identity files that ${file} names are written\n`);
  return 0;
}

export function runRestore(file: string, options: RestoreCommandOptions): Promise<Restored> {
  const { dataDir, check: checkOnly } = options;
  const database = databaseUrlOf(options);
  return restoreDatabase({ file, dataDir, database, checkOnly, log: silentLog });
}

function tellFirstStart(dataDir: string, first: FirstStart): Promise<void> {
  return keepAndShow(join(dataDir, FIRST_SECRETS_FILE), {
    title: 'First start',
    lines: {
      organization: first.organizationId,
      frontdoor: first.frontdoorId,
      'API account': first.accountId,
      'API token': first.apiToken,
      client_id: first.clientId,
      client_secret: first.clientSecret,
    },
    content: first,
  });
}

export async function runResetAdmin(options: ResetAdminCommandOptions): Promise<number> {
  const { organizationId } = options;
  const dataDir = resolve(options.dataDir);
  const file = resolve(options.out ?? join(dataDir, ADMIN_SECRETS_FILE));
  const keep = (admin: NewAdmin): Promise<void> =>
    keepAndShow(file, {
      title: 'New administrator',
      lines: {
        organization: admin.organizationId,
        'API account': admin.accountId,
        'API token': admin.apiToken,
      },
      content: admin,
    });
  await resetAdmin({ dataDir, database: databaseUrlOf(options), organizationId, log: silentLog }, keep);
  return 0;
}
