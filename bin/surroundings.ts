/** What each program needs around it, from its options and its identity. The checks are the doctor's. */
import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { formatHostPort, type Log } from '#base';
import {
  anyShareOf,
  checkSurroundings,
  LETS_ENCRYPT,
  type AcmeCommandOptions,
  type NeededServer,
} from '#cli';
import { outwardDialerOf, type OutwardDialer } from '#net';
import { loadIdentityFile } from '#net/files';

export interface InstallationNames {
  readonly advertise: readonly string[];
  readonly zone: string;
  readonly apiName?: string | undefined;
}

/** For programs that are reached under names of their own. */
export function checkInstallation(
  log: Log,
  { advertise, zone, apiName }: InstallationNames,
  acme: AcmeCommandOptions = {},
): void {
  const names = [...advertise, ...(apiName === undefined ? [] : [apiName]), anyShareOf(zone)];
  checkSurroundings(log, async () => ({
    names: [...new Set(names)],
    servers: await authorityOf(acme),
    outward: outwardDialerOf(process.env),
  }));
}

export interface ClientPlace {
  readonly identityFile: string;
  /** Address of the Management API, for a program that enrolls first. */
  readonly apiUrl?: string | undefined;
  readonly outward: OutwardDialer;
  readonly acme?: AcmeCommandOptions | undefined;
}

/** For programs that connect to a control plane. */
export function checkControlPlane(log: Log, { identityFile, apiUrl, outward, acme = {} }: ClientPlace): void {
  checkSurroundings(log, async () => {
    const identity = await loadIdentityFile(identityFile).catch(() => undefined);
    const api = { name: 'Management API', hasOwnAuthority: false, option: '--api' };
    const edge = { name: 'edge API', hasOwnAuthority: true, option: '--advertise of the control plane' };
    const ofIdentity = identity && [{ ...edge, url: identity.apiUrl, ca: identity.caPem }];
    const servers = ofIdentity ?? (apiUrl === undefined ? [] : [{ ...api, url: apiUrl }]);
    return { names: [], servers: [...servers, ...(await authorityOf(acme))], outward };
  });
}

/** `endpoints`: the controllers of a router's file. */
export function checkControllers(
  log: Log,
  endpoints: () => readonly { readonly host: string; readonly port: number }[],
): void {
  checkSurroundings(log, () => ({
    names: [],
    servers: endpoints().map(({ host, port }) => ({
      name: `controller ${host}`,
      url: `tcp://${formatHostPort(host, port)}`,
      hasOwnAuthority: true,
      option: 'ctrl.endpoint',
    })),
    outward: outwardDialerOf(process.env),
  }));
}

async function authorityOf({
  acmeEmail,
  acmeDirectory,
  acmeCa,
}: AcmeCommandOptions): Promise<NeededServer[]> {
  if (acmeEmail === undefined) return [];
  const ca = acmeCa === undefined ? undefined : await readFile(acmeCa, 'utf8');
  const url = acmeDirectory ?? LETS_ENCRYPT;
  return [{ name: 'certificate authority', url, ca, hasOwnAuthority: false, option: '--acme-directory' }];
}
