/** The addresses and state of the installation's parts. */
import { formatHostPort } from '#base';
import type { InstallationAnswer } from '#contract/schemas';
import { overdueCertificates } from '../../overlay/records/mod.ts';
import { databaseState } from '../../store/mod.ts';
import { isoTime, ok, unstored, type ApiParts, type Handlers } from './call.ts';
import { ADMIN } from './granted-organization.ts';

const MOST_CERTIFICATES = 100;

type InstallationParts = Pick<ApiParts, 'store' | 'clock' | 'installation' | 'edgeRouters' | 'notifications'>;

export const installationHandlers: Handlers<InstallationParts, 'getInstallation'> = {
  async getInstallation(parts, call) {
    const answer: InstallationAnswer = {
      version: parts.installation.version ?? null,
      edgeApiUrl: parts.installation.edgeApiUrl(),
      mail: parts.notifications.hasMail,
      routers: parts.edgeRouters().map(({ name, hostname, port, isOnline }) => ({
        name,
        address: formatHostPort(hostname, port),
        online: isOnline,
      })),
      ...(call.principal.scopes.includes(ADMIN) ? await administratorsView(parts) : {}),
    };
    return unstored(ok(answer));
  },
};

async function administratorsView(
  parts: InstallationParts,
): Promise<Pick<InstallationAnswer, 'controlPlanes' | 'database' | 'overdueCertificates'>> {
  const { kind, schema = '', bytes } = await databaseState(parts.store.db);
  const overdue = await overdueCertificates(parts.store.db, parts.clock.nowMs(), MOST_CERTIFICATES);
  return {
    controlPlanes: parts.installation.controlPlanes().map(({ apiUrl, silentSinceMs }) => ({
      apiUrl,
      silentSince: silentSinceMs === undefined ? null : isoTime(silentSinceMs),
    })),
    database: { kind, schema, bytes },
    overdueCertificates: overdue.map(({ kind, name, notAfterMs }) => ({
      kind,
      name,
      expiresAt: isoTime(notAfterMs),
    })),
  };
}
