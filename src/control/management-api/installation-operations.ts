/** Diagnostic operations: the addresses and state of the installation's parts, and the check of an auth provider. */
import { formatHostPort, messageOf } from '#base';
import type { InstallationAnswer, ProviderCheckAnswer } from '#contract';
import { fetchIssuerMetadata, issuerAddressOf, originOf } from '../login/mod.ts';
import { findAuthProvider, listCustomFrontends, listFrontends, overdueCertificates } from '../store/mod.ts';
import { notFound, tooMany } from './api-errors.ts';
import { isoTime, ok, unstored, type ApiParts, type Call, type Handlers } from './call.ts';
import { ADMIN } from './granted-organization.ts';

const MOST_CERTIFICATES = 100;
/** A frontdoor cannot have more. */
const MOST_CUSTOM_FRONTENDS = 100;
/** Each check waits for a foreign server. */
const MOST_CHECKS = 8;
const HTTPS_PORT = 443;

let checks = 0;

type InstallationParts = Pick<ApiParts, 'store' | 'clock' | 'installation' | 'edgeRouters' | 'frontendUrls'>;

export const installationHandlers: Handlers<InstallationParts, 'getInstallation' | 'checkAuthProvider'> = {
  async getInstallation(parts, call) {
    const answer: InstallationAnswer = {
      edgeApiUrl: parts.installation.edgeApiUrl(),
      routers: parts.edgeRouters().map(({ name, hostname, port, isOnline }) => ({
        name,
        address: formatHostPort(hostname, port),
        online: isOnline,
      })),
      ...(call.principal.scopes.includes(ADMIN) ? await administratorsView(parts) : {}),
    };
    return unstored(ok(answer));
  },

  async checkAuthProvider(parts, call) {
    const { id } = call.parameters;
    const provider = await findAuthProvider(parts.store.db, call.frontdoor, id);
    if (provider === undefined) throw notFound('Auth provider', id);
    const isLogin = provider.type !== 'API_KEY';
    const answer: ProviderCheckAnswer = {
      callbackUrls: isLogin ? await callbackUrls(parts, call, provider.id) : [],
      ...(await discoveryOf(parts, issuerAddressOf(provider))),
    };
    return unstored(ok(answer));
  },
};

async function administratorsView(
  parts: InstallationParts,
): Promise<Pick<InstallationAnswer, 'controlPlanes' | 'overdueCertificates'>> {
  const overdue = await overdueCertificates(parts.store.db, parts.clock.nowMs(), MOST_CERTIFICATES);
  return {
    controlPlanes: parts.installation.controlPlanes().map(({ apiUrl, silentSinceMs }) => ({
      apiUrl,
      silentSince: silentSinceMs === undefined ? null : isoTime(silentSinceMs),
    })),
    overdueCertificates: overdue.map(({ kind, name, notAfterMs }) => ({
      kind,
      name,
      expiresAt: isoTime(notAfterMs),
    })),
  };
}

/** Returns the callback URL for each zone of the frontdoor's public shares. */
async function callbackUrls(parts: InstallationParts, call: Call, providerId: string): Promise<string[]> {
  const { db } = parts.store;
  const request = { page: 0, size: MOST_CUSTOM_FRONTENDS, sort: 'default', direction: 'asc' } as const;
  const [frontends, custom] = await Promise.all([
    listFrontends(db),
    listCustomFrontends(db, call.frontdoor, request, {}),
  ]);
  const zones = [...frontends.map(({ zone }) => zone), ...custom.content.map(({ hostname }) => hostname)];
  return zones.map((zone) => `${loginOrigin(parts, `oauth.${zone}`)}/${providerId}/auth/callback`);
}

/** Log-ins use HTTPS only, at the configured port or 443. */
function loginOrigin({ frontendUrls, installation }: InstallationParts, host: string): string {
  const secure = frontendUrls(host).find((each) => each.startsWith('https:'));
  return secure?.replace(/\/$/, '') ?? originOf(host, installation.securePort() ?? HTTPS_PORT);
}

async function discoveryOf(
  { installation }: InstallationParts,
  address: ReturnType<typeof issuerAddressOf>,
): Promise<Pick<ProviderCheckAnswer, 'discovery' | 'problem'>> {
  if (address.issuer === '') return { discovery: 'none', problem: null };
  if (checks >= MOST_CHECKS) throw tooMany(1);
  checks += 1;
  try {
    await fetchIssuerMetadata(installation.egress, address.issuer, address.discoveryUrl);
    return { discovery: 'ok', problem: null };
  } catch (error) {
    return { discovery: 'failed', problem: messageOf(error) };
  } finally {
    checks -= 1;
  }
}
