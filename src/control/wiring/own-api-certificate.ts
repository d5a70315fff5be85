/**
 * The Management API with a certificate of the installation's own authority: that of the edge API, which has the same names and is
 * renewed with it. Clients verify it with the file that is written here.
 */
import type { FastifyInstance } from 'fastify';
import { messageOf, type Log } from '#base';
import { writeFileDurably } from '#net/files';
import type { Pki } from '../pki/mod.ts';
import { setApiTls, type ApiTls } from '../shares/operations/mod.ts';
import type { ControlPlaneOptions } from './control-plane-options.ts';

const EVERYONE_READS = 0o644;

export function hasApiTls({
  apiTls,
  ownApiAuthorityFile,
  apiName,
}: Pick<ControlPlaneOptions, 'apiTls' | 'ownApiAuthorityFile' | 'apiName'>): boolean {
  return [apiTls, ownApiAuthorityFile, apiName].some((each) => each !== undefined);
}

/** Rejects if the file cannot be written. */
export async function ownApiTls(pki: Pki, file: string): Promise<ApiTls> {
  await writeFileDurably(file, pki.caBundlePem, EVERYONE_READS);
  return present(pki);
}

/** Renewed certificates and authorities are taken over. */
export function followOwnApiTls(api: FastifyInstance, pki: Pki, file: string, log: Log): void {
  pki.onServerRenewed(() => {
    setApiTls(api, present(pki));
    writeFileDurably(file, pki.caBundlePem, EVERYONE_READS).catch((error: unknown) =>
      log.error({ file, err: messageOf(error) }, 'the authority of the Management API could not be written'),
    );
  });
}

function present({ edgeServer: { certPem: cert, keyPem: key } }: Pki): ApiTls {
  return { cert, key };
}
