/** `frontdoor up`, from its options to its exit status. It loads every part but the agent. `run-control.ts` says more. */
import { join, resolve } from 'node:path';
import process from 'node:process';
import { definedFields, formatHostPort, type Log } from '#base';
import type { UpCommandOptions, UpPortOptions } from '#cli';
import { noteRunningProgram, refuseSecondProgram, type RunningMark } from '#net/files';
import { accessOf } from './access-options.ts';
import { acmeSettingsOf } from './automatic-certificates.ts';
import { databaseUrlOf } from './database-url.ts';
import { Demo, demoBanner, keepDemoCredentials } from './demo.ts';
import { containUncaught, runUntilStopped } from './lifetime.ts';
import { openLog } from './program-log.ts';
import type { PortChoice } from './port-memory.ts';
import { hasProxyHeaders } from './proxy-options.ts';
import { reportReady } from './ready-file.ts';
import { apiTlsOf, copiesOf, reloadApiTls, showConsole, showFirstStart } from './run-control.ts';
import { collectAfterStart } from './start-collection.ts';
import { checkInstallation } from './surroundings.ts';
import { tlsFilesOf } from './tls-files.ts';
import { startUp, type Up, type UpOptions } from './up.ts';

function portsOf(options: UpPortOptions): PortChoice {
  return {
    http: options.httpPort,
    https: options.httpsPort,
    api: options.apiPort,
    edgeApi: options.edgeApiPort,
    ctrl: options.ctrlPort,
    edge: options.edgePort,
  };
}

function givenPortsOf(given: Partial<UpPortOptions>): Partial<PortChoice> {
  // Those that were not given are undefined here.
  return definedFields(portsOf(given as UpPortOptions));
}

export async function runUp(options: UpCommandOptions, version: string): Promise<number> {
  const dataDir = resolve(options.dataDir);
  // Before the ports, which the other one has taken as well.
  refuseSecondProgram(dataDir);
  const notes: RunningMark[] = [];
  try {
    return await runOn(dataDir, options, version, notes);
  } finally {
    for (const note of notes) note.remove();
  }
}

interface UpRun {
  readonly dataDir: string;
  readonly options: UpCommandOptions;
  readonly version: string;
  readonly log: Log;
  readonly print: (line: string) => void;
}

/** Adds the note that it leaves in the data directory to `notes`. */
async function runOn(
  dataDir: string,
  options: UpCommandOptions,
  version: string,
  notes: RunningMark[],
): Promise<number> {
  // The demo's screen is for its reader; the log goes to a file.
  const { log, reopen } = openLog(options, options.demo ? join(dataDir, 'logs', 'frontdoor.log') : undefined);
  containUncaught(log);
  const print = (line: string): void => void process.stdout.write(`frontdoor: ${line}\n`);
  print(`starting in ${dataDir}`);
  const run: UpRun = { dataDir, options, version, log, print };
  if (!options.demo) checkInstallation(log, options, options);
  const { up, demo } = await start(run);
  const gatewayUrl = `http://${formatHostPort(options.listen, up.httpPort)}`;
  notes.push(
    await noteRunningProgram(dataDir, {
      program: options.demo ? 'up --demo' : 'up',
      version,
      apiUrl: up.control.apiUrl,
      baseUrl: up.control.baseUrl,
      edgeApiUrl: up.control.edgeApiUrl,
      consoleUrl: up.control.consoleUrl ?? null,
      gatewayUrl,
    }),
  );
  const reload = async (): Promise<void> => {
    reopen();
    reloadApiTls(up.control, options);
    up.router.reload();
    await up.reload();
  };
  const notice = { announce: () => up.announceStop(), delayMs: options.stopDelay * 1_000 };
  const untilStopped = (close: (drainMs: number) => Promise<void>): Promise<number> =>
    runUntilStopped(close, log, reload, notice);
  return demo === undefined
    ? runPlain(run, up, gatewayUrl, untilStopped)
    : runDemo(run, up, demo, untilStopped);
}

async function start(run: UpRun): Promise<{ readonly up: Up; readonly demo: Demo | undefined }> {
  const { dataDir, options, version, log, print } = run;
  const local: { demo?: Demo } = {};
  const up = await startUp({
    ...(await upOptionsOf(run)),
    onControl: (control) => {
      if (options.demo)
        local.demo = new Demo({ control, dataDir, version, logFormat: options.logFormat, log, print });
    },
  }).catch(async (error: unknown) => {
    await local.demo?.close(0);
    throw error;
  });
  return { up, demo: local.demo };
}

async function upOptionsOf({ dataDir, options, version, log }: UpRun): Promise<UpOptions> {
  return {
    dataDir,
    listenHost: options.listen,
    advertiseHost: options.advertise[0]!,
    moreAdvertiseHosts: options.advertise.slice(1),
    ports: portsOf(options),
    givenPorts: givenPortsOf(options.givenPorts),
    anyPort: options.anyPort,
    onePort: options.onePort,
    database: databaseUrlOf(options),
    copies: copiesOf(options),
    zone: options.zone,
    interceptDomain: options.interceptDomain || undefined,
    access: await accessOf(options),
    version,
    log,
    onFirstStart: (first) =>
      options.demo ? keepDemoCredentials(dataDir, first) : showFirstStart(dataDir, first),
    ...apiTlsOf(options),
    apiName: options.apiName,
    gatewayTls: tlsFilesOf(options.tlsCert, options.tlsKey, '--tls-cert'),
    gatewayTlsDir: options.tlsDir,
    acme: await acmeSettingsOf(options),
    publicHttpsPort: options.publicHttpsPort,
    tcpPorts: options.tcpPorts,
    udpPorts: options.udpPorts,
    redirectsToHttps: options.httpsRedirect !== 'off',
    proxyProtocol: {
      http: hasProxyHeaders('http', options),
      https: hasProxyHeaders('https', options),
    },
    h2c: options.h2c,
    accessLog: options.accessLog,
    metrics: options.metricsListen,
    readyListAgeMs: options.readyListAge * 1_000,
    responseTimeoutMs: options.responseTimeout === undefined ? undefined : options.responseTimeout * 1_000,
    maxConnectionsPerAddress: options.maxConnectionsPerAddress,
    heads: { maxBytes: options.maxHeaderBytes, maxFields: options.maxHeaderFields },
  };
}

/** Resolves to the exit status, once a signal came and `close` has ended. */
type UntilStopped = (close: (drainMs: number) => Promise<void>) => Promise<number>;

async function runPlain(
  { dataDir, options, print }: UpRun,
  up: Up,
  gatewayUrl: string,
  untilStopped: UntilStopped,
): Promise<number> {
  print(`Management API ${up.control.apiUrl}, gateway ${gatewayUrl}${hintOf(options.listen, up.httpPort)}`);
  if (up.control.consoleUrl !== undefined) print(`console ${up.control.consoleUrl}`);
  await showConsole(dataDir, up.control);
  const stopped = untilStopped((drainMs) => up.close(drainMs));
  await reportReady(options.readyFile, {
    apiUrl: up.control.apiUrl,
    edgeApiUrl: up.control.edgeApiUrl,
    consoleUrl: up.control.consoleUrl,
    consoleLink: up.control.consoleLink,
    gatewayUrl,
    dataDir,
    pids: { up: process.pid },
    ...up.firstStart,
  });
  collectAfterStart();
  return stopped;
}

async function runDemo(
  { options, print }: UpRun,
  up: Up,
  demo: Demo,
  untilStopped: UntilStopped,
): Promise<number> {
  const ready = await demo.publish(up).catch(async (error: unknown) => {
    await demo.close(0);
    await up.close(0);
    throw error;
  });
  const stopped = untilStopped(async (drainMs) => {
    print(drainMs > 0 ? 'draining, then stopping' : 'stopping');
    // The gateway drains through the agent, which therefore goes last.
    await up.drainGateway(drainMs);
    await demo.close(drainMs);
    await up.close(0);
  });
  await reportReady(options.readyFile, ready);
  collectAfterStart();
  process.stdout.write(demoBanner(ready, up.httpsPort));
  const status = await stopped;
  print(status === 0 ? 'stopped' : 'did not stop cleanly');
  return status;
}

/** An address that stands for all interfaces cannot be opened in a browser. */
function hintOf(listen: string, port: number): string {
  return listen === '::' || listen === '0.0.0.0' ? ` (on this machine http://localhost:${port})` : '';
}
