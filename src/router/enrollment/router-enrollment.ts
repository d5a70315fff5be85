/**
 * Enrollment of a router: trades a token for the files that its configuration names. Everything that can be checked is
 * checked before the token is sent, because it works once.
 */
import { X509Certificate } from 'node:crypto';
import { rmSync } from 'node:fs';
import { FrontdoorError, messageOf, type Log } from '#base';
import { dialerThrough, type OutwardDialer } from '#net';
import { writeFileDurably } from '#net/files';
import { enrollRouter, readEnrollmentToken } from '#sdk';
import { namesAnything } from '../config/mod.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { saveEndpointsFile } from '../ctrl/endpoints-file.ts';
import { checkEnrollmentFiles } from './enrollment-files.ts';

export interface RouterEnrollmentOptions {
  readonly config: RouterConfig;
  readonly jwt: string;
  /** Replaces keys, and files of other routers. */
  readonly force: boolean;
  readonly log: Log;
  /** Opens the connection to the control plane; by default as the configuration says. */
  readonly outward?: OutwardDialer | undefined;
}

/** The client certificate is written last, because it stands for a finished enrollment. */
export async function enrollRouterIdentity({
  config,
  jwt,
  force,
  log,
  outward = dialerThrough(config.proxy, 'the router file'),
}: RouterEnrollmentOptions): Promise<void> {
  const { identity, csr } = config;
  const isDialed =
    config.listeners.some(({ binding }) => binding === 'edge') || (config.link?.listeners.length ?? 0) > 0;
  if (isDialed && (csr === undefined || !namesAnything(csr))) {
    const message = `${config.file}: edge.csr.sans names nothing that its listener could be dialed by`;
    throw new FrontdoorError('invalid', 'no-names', message);
  }
  if (isDialed && identity.serverCert === undefined) {
    const message = `${config.file}: identity.server_cert is missing, and dialers refuse listeners with a client certificate`;
    throw new FrontdoorError('invalid', 'no-server-cert', message);
  }
  const keys = checkEnrollmentFiles(config, readEnrollmentToken(jwt).subject, force);
  // A name marks one of our programs: its certificates are short-lived, and it renews them.
  const enrolled = await enrollRouter({ jwt, name: 'router', ...(csr ?? { hosts: [] }), ...keys, outward });
  const write = async (path: string | undefined, pem: string): Promise<void> => {
    if (path !== undefined) await writeFileDurably(path, pem);
  };
  if (keys.keyPem === undefined) await write(identity.key.reveal(), enrolled.keyPem);
  if (keys.serverKeyPem === undefined) await write(identity.serverKey?.reveal(), enrolled.serverKeyPem);
  await write(identity.ca, enrolled.caPem);
  await write(identity.serverCert, enrolled.serverCertPem);
  await write(identity.cert, enrolled.certPem);
  const leftOut = namesLeftOut(csr?.hosts ?? [], enrolled.serverCertPem);
  if (leftOut.length > 0) {
    log.warn(
      { file: config.file, leftOut },
      'the control plane left requested names out of the certificates',
    );
  }
  dropDataModel(config, log);
  const { endpoints, endpointsFile } = config.ctrl;
  if (endpoints.length > 0) return;
  if (enrolled.controlAddresses.length > 0)
    await saveEndpointsFile(endpointsFile, { endpoints: enrolled.controlAddresses, controllers: [] }, log);
  else
    log.warn({ file: config.file }, 'neither the file nor the token names a controller: add ctrl.endpoint');
}

function namesLeftOut(hosts: readonly string[], certPem: string): readonly string[] {
  const leaf = new X509Certificate(certPem);
  const names = new Set((leaf.subjectAltName ?? '').toLowerCase().split(', '));
  const isNamed = (host: string): boolean =>
    names.has(`dns:${host.toLowerCase()}`) || leaf.checkIP(host) !== undefined;
  return hosts.filter((host) => !isNamed(host));
}

/** A snapshot of the data model from before belongs to another network, or to another identity in it. */
function dropDataModel({ edge }: RouterConfig, log: Log): void {
  if (edge === undefined) return;
  try {
    rmSync(edge.db, { force: true });
  } catch (error) {
    log.warn({ file: edge.db, err: messageOf(error) }, 'the former data model could not be removed');
  }
}
