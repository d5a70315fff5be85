/**
 * The commands of the control plane, from their options to their exit status. Signals are handled before a program reports
 * that it is ready, because a script that waits for that may end it at once.
 */
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { silentLog } from '#base';
import type {
  AdminsCreateOptions,
  ConsoleLinkOptions,
  ControlCommandOptions,
  ResetAdminCommandOptions,
  RestoreCommandOptions,
  UpCommandOptions,
} from '#cli';
import {
  createAdministrator,
  inviteOperatorOffline,
  resetAdmin,
  restoreDatabase,
  startControlPlane,
  type ControlPlane,
  type FirstStart,
  type NewAdmin,
  type NewAdministrator,
  type Restored,
} from '#control';
import { noteRunningProgram } from '#net/files';
import { accessOf } from './access-options.ts';
import { databaseUrlOf } from './database-url.ts';
import { containUncaught, runUntilStopped } from './lifetime.ts';
import { serveMetrics } from './metrics-option.ts';
import { readSecretFile } from './option-file.ts';
import { openLog } from './program-log.ts';
import { reportReady } from './ready-file.ts';
import { keepAndShow } from './shown-secrets.ts';
import { collectAfterStart } from './start-collection.ts';
import { checkInstallation } from './surroundings.ts';
import { tlsOption } from './tls-files.ts';

const FIRST_SECRETS_FILE = 'first-secrets.json';
const ADMIN_SECRETS_FILE = 'admin-secrets.json';
const EDGE_ADMIN_SECRETS_FILE = 'edge-admin-secrets.json';
const CONSOLE_LINK_FILE = 'console-link.json';
const RANDOM_PASSWORD_BYTES = 18;

export async function runControl(options: ControlCommandOptions, version: string): Promise<number> {
  const { log } = openLog(options);
  containUncaught(log);
  checkInstallation(log, options);
  const dataDir = resolve(options.dataDir);
  const metrics = await serveMetrics(options.metricsListen, version, log);
  const control = await startControlPlane({
    dataDir,
    database: databaseUrlOf(options),
    copies: copiesOf(options),
    listenHost: options.listen,
    advertiseHost: options.advertise[0]!,
    moreAdvertiseHosts: options.advertise.slice(1),
    apiPort: options.apiPort,
    edgeApiPort: options.edgeApiPort,
    ctrlPort: options.ctrlPort,
    ctrlHost: options.ctrlHost,
    zone: options.zone,
    interceptDomain: options.interceptDomain || undefined,
    version,
    ...(await accessOf(options)),
    frontendUrls: (host) => options.publicUrl.map((template) => template.replaceAll('{host}', host)),
    log,
    onFirstStart: (first) => showFirstStart(dataDir, first),
    ...apiTlsOf(options),
  }).catch(async (error: unknown) => {
    await metrics.close();
    throw error;
  });
  metrics.add(control.writeMetrics);
  metrics.health.add(...control.readiness);
  const { apiUrl, baseUrl, edgeApiUrl, ctrlAddress, firstStart } = control;
  const pids = { control: process.pid };
  const stopped = runUntilStopped(
    async (drainMs) => {
      metrics.health.stop();
      await control.close(drainMs);
      await metrics.close();
    },
    log,
    () => reloadApiTls(control, options),
  );
  await showConsole(dataDir, control);
  const { consoleUrl, consoleLink } = control;
  const note = await noteRunningProgram(dataDir, {
    program: 'control',
    version,
    apiUrl,
    baseUrl,
    edgeApiUrl,
    consoleUrl: consoleUrl ?? null,
    gatewayUrl: null,
  });
  const addresses = { apiUrl, edgeApiUrl, ctrlAddress, consoleUrl, consoleLink };
  await reportReady(options.readyFile, { ...addresses, dataDir, pids, ...firstStart });
  collectAfterStart();
  return stopped.finally(() => note.remove());
}

/** The copies of the database from before migrations. */
export function copiesOf(options: Pick<ControlCommandOptions, 'migrationBackups' | 'migrationBackupDir'>) {
  const { migrationBackups: keep, migrationBackupDir: directory } = options;
  return { keep, directory: directory === undefined ? undefined : resolve(directory) };
}

/** How the Management API is served over TLS. */
export function apiTlsOf({ apiCert, apiKey, ownApiCert }: ControlCommandOptions | UpCommandOptions) {
  if (ownApiCert !== undefined) return { ownApiAuthorityFile: resolve(ownApiCert) };
  return tlsOption('apiTls', apiCert, apiKey, '--api-cert');
}

export function reloadApiTls(
  control: ControlPlane,
  { apiCert, apiKey }: ControlCommandOptions | UpCommandOptions,
): void {
  const { apiTls } = tlsOption('apiTls', apiCert, apiKey, '--api-cert');
  if (apiTls !== undefined) control.setApiTls(apiTls);
}

export function showFirstStart(dataDir: string, first: FirstStart): Promise<void> {
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

export function runRestore(file: string, options: RestoreCommandOptions): Promise<Restored> {
  const { dataDir, check: checkOnly } = options;
  const database = databaseUrlOf(options);
  return restoreDatabase({ file, dataDir, database, checkOnly, log: silentLog });
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

/** Returns the link. */
export async function runConsoleLink(options: ConsoleLinkOptions): Promise<string> {
  const dataDir = resolve(options.dataDir);
  const code = await inviteOperatorOffline({ dataDir, database: databaseUrlOf(options), log: silentLog });
  return `${options.consoleUrl.replace(/\/$/, '')}/welcome#${code}`;
}

/** The link has a code, which is a secret: it is kept in a file, and printed on a terminal alone. */
export async function showConsole(dataDir: string, control: ControlPlane): Promise<void> {
  const { consoleLink, consoleUrl } = control;
  if (consoleLink === undefined) return;
  await keepAndShow(join(dataDir, CONSOLE_LINK_FILE), {
    title: 'Console, for the first person, within an hour',
    lines: { link: consoleLink },
    content: { consoleUrl, link: consoleLink },
  });
}

export async function runAdminsCreate(options: AdminsCreateOptions): Promise<number> {
  const { username, passwordFile } = options;
  const dataDir = resolve(options.dataDir);
  const file = resolve(options.out ?? join(dataDir, EDGE_ADMIN_SECRETS_FILE));
  const password =
    passwordFile === undefined
      ? randomBytes(RANDOM_PASSWORD_BYTES).toString('base64url')
      : readSecretFile(passwordFile, '--password-file').replace(/\r?\n$/, '');
  const keep = (administrator: NewAdministrator): Promise<void> =>
    keepAndShow(file, {
      title: 'New administrator of the edge management API',
      lines: {
        identity: administrator.identityId,
        'user name': administrator.username,
        password: administrator.password,
      },
      content: administrator,
    });
  const database = databaseUrlOf(options);
  await createAdministrator({ dataDir, database, username, password, log: silentLog }, keep);
  return 0;
}
