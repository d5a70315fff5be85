/** Checks of auth providers, stored or not: the callback addresses to register, and whether the issuer's metadata can be fetched. */
import { messageOf } from '#base';
import type { AnswerOf } from '#contract';
import type { ProviderCheckAnswer, ProviderDraftCheckAnswer } from '#contract/schemas';
import { provesPeople, type IssuerAddress } from '#domain/provider-types';
import { fetchIssuerMetadata } from '../logins/issuer-metadata.ts';
import { issuerAddressOf } from '../logins/issuer-directory.ts';
import { originOf } from '../logins/guarded-host.ts';
import { makeReservation } from '../provider/provider-reservation.ts';
import { checkProviderData } from '../provider/provider-schema.ts';
import { findAuthProvider } from '../records/auth-provider-store.ts';
import { listCustomFrontends } from '../records/custom-frontend-store.ts';
import type { GrantedFrontdoor } from '../records/frontdoor-store.ts';
import { listFrontends } from '../records/frontend-store.ts';
import { notFound, tooMany } from './api-errors.ts';
import { change, isoTime, ok, unstored, type ApiParts, type ChangeParts, type Handlers } from './call.ts';

/** A frontdoor cannot have more. */
const MOST_CUSTOM_FRONTENDS = 100;
/** Each check waits for a foreign server. */
const MOST_CHECKS = 8;
const HTTPS_PORT = 443;

type CallbackParts = Pick<ApiParts, 'store' | 'installation' | 'frontendUrls'>;

/** How many checks continue, by the installation: a process may have several control planes. */
const checks = new WeakMap<ApiParts['installation'], number>();

type CheckParts = ChangeParts & Pick<ApiParts, 'installation' | 'frontendUrls' | 'baseUrl'>;

export const providerCheckHandlers: Handlers<
  CheckParts,
  'checkAuthProvider' | 'checkAuthProviderDraft' | 'reserveAuthProvider'
> = {
  async checkAuthProvider(parts, call) {
    const { id } = call.parameters;
    const provider = await findAuthProvider(parts.store.db, call.frontdoor, id);
    if (provider === undefined) throw notFound('Auth provider', id);
    const isLogin = provesPeople(provider.type);
    const answer: ProviderCheckAnswer = {
      callbackUrls: isLogin ? await callbackUrlsOf(parts, call.frontdoor, provider.id) : [],
      ...(await discoveryOf(parts, issuerAddressOf(provider))),
    };
    return unstored(ok(answer));
  },

  /** Changes nothing, but makes the control plane ask a server that the caller names, which the audit trail records. */
  async checkAuthProviderDraft(parts, call) {
    const { type, data } = call.body;
    checkProviderData(type, data);
    const address = issuerAddressOf({ type, data });
    checkRoom(parts, address);
    await change(parts, call, async () => ({
      result: undefined,
      target: { kind: 'frontdoor', id: call.frontdoor.id },
      after: { type, ...address },
    }));
    return unstored(ok(await discoveryOf(parts, address)));
  },

  /** Stores nothing: the answer has all that a creation needs. */
  async reserveAuthProvider(parts, call) {
    const { id, reservation, expiresAtMs } = makeReservation(
      parts.secrets,
      call.frontdoor.id,
      parts.clock.nowMs(),
    );
    const answer: AnswerOf<'reserveAuthProvider'> = {
      id,
      reservation,
      expiresAt: isoTime(expiresAtMs),
      callbackUrls: await callbackUrlsOf(parts, call.frontdoor, id),
      consoleCallbackUrl: `${parts.baseUrl()}/console/callback/${id}`,
    };
    return unstored(ok(answer));
  },
};

/** Returns the callback URL for each zone of the frontdoor's public shares. */
export async function callbackUrlsOf(
  parts: CallbackParts,
  frontdoor: GrantedFrontdoor,
  providerId: string,
): Promise<string[]> {
  const { db } = parts.store;
  const request = { page: 0, size: MOST_CUSTOM_FRONTENDS, sort: 'default', direction: 'asc' } as const;
  const [frontends, custom] = await Promise.all([
    listFrontends(db),
    listCustomFrontends(db, frontdoor, request, {}),
  ]);
  const zones = [...frontends.map(({ zone }) => zone), ...custom.content.map(({ hostname }) => hostname)];
  return zones.map((zone) => `${loginOrigin(parts, `oauth.${zone}`)}/${providerId}/auth/callback`);
}

/** Log-ins use HTTPS only, at the configured port or 443. */
function loginOrigin({ frontendUrls, installation }: CallbackParts, host: string): string {
  const secure = frontendUrls(host).find((each) => each.startsWith('https:'));
  return secure?.replace(/\/$/, '') ?? originOf(host, installation.securePort() ?? HTTPS_PORT);
}

/** Throws `tooMany` while as many checks run as may at once. */
function checkRoom({ installation }: CheckParts, address: IssuerAddress | undefined): void {
  if (address !== undefined && (checks.get(installation) ?? 0) >= MOST_CHECKS) throw tooMany(1);
}

async function discoveryOf(
  parts: CheckParts,
  address: IssuerAddress | undefined,
): Promise<ProviderDraftCheckAnswer> {
  const { installation } = parts;
  checkRoom(parts, address);
  if (address === undefined) return { discovery: 'none', problem: null };
  const count = (change: number) => checks.set(installation, (checks.get(installation) ?? 0) + change);
  count(1);
  try {
    await fetchIssuerMetadata(installation.egress, address.issuer, address.discoveryUrl);
    return { discovery: 'ok', problem: null };
  } catch (error) {
    return { discovery: 'failed', problem: messageOf(error) };
  } finally {
    count(-1);
  }
}
