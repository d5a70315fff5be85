/** `frontdoor gateway`: one process that serves, or a supervisor of several. `lifetime.ts` describes the signals. */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { formatHostPort, FrontdoorError, type Log } from '#base';
import type { GatewayCommandOptions } from '#cli';
import type { AcmeSettings } from '#gateway';
import { outwardDialerOf } from '#net';
import { acmeSettingsOf, openIssuer } from './automatic-certificates.ts';
import { gatewayIdentity, IDENTITY_FILE } from './gateway-part.ts';
import { openCertificates, startGatewayProgram } from './gateway-program.ts';
import { checkWorkerCount, GatewayWorkers } from './gateway-workers.ts';
import { containUncaught, followSignal, runUntilStopped } from './lifetime.ts';
import { readSecretFile } from './option-file.ts';
import { openPassingPort, type PassingPort } from './passing-port.ts';
import { openLog } from './program-log.ts';
import { reportReady } from './ready-file.ts';
import { collectAfterStart } from './start-collection.ts';
import { checkControlPlane } from './surroundings.ts';

/** A gateway in either form. */
interface RunningGateway {
  readonly plainPort: number | undefined;
  readonly securePort: number | undefined;
  /** Whether a control plane has sent the shares. */
  readonly isFresh: boolean;
  reload(): Promise<void> | void;
  /** Replaces every worker by a new one. */
  replace(): Promise<unknown> | void;
  announceStop(): void;
  close(drainMs: number): Promise<void>;
}

export async function runGateway(options: GatewayCommandOptions, version: string): Promise<number> {
  const { log } = openLog(options);
  containUncaught(log);
  const dataDir = resolve(options.dataDir);
  checkWorkerCount(options.workers);
  const acme = await acmeSettingsOf(options);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const outward = outwardDialerOf(process.env);
  checkControlPlane(log, { identityFile: join(dataDir, IDENTITY_FILE), outward, acme: options });
  const running =
    options.workers === 1
      ? await startAlone({ options, acme, dataDir, version, log })
      : await startWorkers({ options, acme, dataDir, version, log });
  const { plainPort, securePort } = running;
  const gatewayUrl = `http://${formatHostPort(options.listen, plainPort ?? 0)}`;
  const at = { gatewayUrl, securePort, workers: options.workers };
  if (running.isFresh) log.info(at, 'gateway is up');
  else
    log.warn(
      at,
      'gateway listens, but no control plane responds: it serves the shares of its last list, if it has one',
    );
  const stopped = runUntilStopped(
    (drainMs) => running.close(drainMs),
    log,
    () => running.reload(),
    { announce: () => running.announceStop(), delayMs: options.stopDelay * 1_000 },
  );
  followSignal('SIGUSR2', () => void running.replace());
  const pids = { gateway: process.pid };
  await reportReady(options.readyFile, { gatewayUrl, securePort, dataDir, pids });
  collectAfterStart();
  return stopped;
}

interface Start {
  readonly options: GatewayCommandOptions;
  readonly acme: AcmeSettings | undefined;
  /** Absolute path. */
  readonly dataDir: string;
  readonly version: string;
  readonly log: Log;
}

async function startAlone(start: Start): Promise<RunningGateway> {
  const { options, dataDir, log } = start;
  const identity = await identityOf(options, dataDir);
  const passing = await passingPortOf(options, log);
  const part = await startGatewayProgram({ ...start, identity, securePlace: passing?.forGateway });
  const isFresh = await part.freshOrLate;
  const { plainPort, securePort } = part.gateway;
  return {
    plainPort,
    securePort,
    isFresh,
    reload: () => part.reload(),
    replace: () => log.warn({}, 'SIGUSR2 replaces the workers of --workers 2 or more: nothing done'),
    announceStop: () => part.announceStop(),
    close: async (drainMs) => {
      const stopped = passing?.stop();
      await part.close(drainMs);
      passing?.close();
      await stopped;
    },
  };
}

async function passingPortOf(options: GatewayCommandOptions, log: Log): Promise<PassingPort | undefined> {
  const { passTls: rules, listen: host, httpsPort: port, maxConnectionsPerAddress } = options;
  return rules && openPassingPort({ host, port, rules, maxConnectionsPerAddress, log });
}

async function startWorkers({ options, acme, dataDir, version, log }: Start): Promise<RunningGateway> {
  const certificates = await openCertificates(options, log);
  const identity = await identityOf(options, dataDir);
  const identityFile = join(dataDir, IDENTITY_FILE);
  const automatic =
    acme && certificates && (await openIssuer({ settings: acme, dataDir, certificates, version, log }));
  const kept = { dataDir, identity, identityFile };
  return GatewayWorkers.start({ options, certificates, automatic, ...kept, version, log });
}

function identityOf(options: GatewayCommandOptions, dataDir: string) {
  const enroll = (): Promise<string> => {
    if (options.enrollmentJwt === undefined) {
      const message =
        'this gateway has no identity yet: give --enrollment-jwt (see "frontdoor fabric gateway create")';
      throw new FrontdoorError('invalid', 'gateway-not-enrolled', message);
    }
    return Promise.resolve(readSecretFile(options.enrollmentJwt, '--enrollment-jwt').trim());
  };
  return gatewayIdentity(dataDir, enroll, undefined, outwardDialerOf(process.env));
}
