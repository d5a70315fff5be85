/**
 * Log-out at the identity provider (OpenID Connect RP-Initiated Logout 1.0): where the browser is sent, and where it
 * comes back to. ID tokens are not kept, so that none is sent as a hint: the provider asks the person once more.
 */
import { loginHostOf, type GatewayProvider } from '#domain';

/** At `oauth.<zone>`; registered at the provider as its callback is. */
export const LOGGED_OUT_PATH = /^\/[0-9A-Za-z-]{1,64}\/auth\/logged-out$/;

const MAX_URL_CHARS = 8_192;

/** Undefined: the provider has no such place. Both addresses are the provider's owner's; nothing of a request is in them. */
export function providerLogoutUrl(
  { id, logout }: Pick<GatewayProvider, 'id' | 'logout'>,
  host: string,
  httpsPort: number,
): string | undefined {
  if (logout === undefined || !URL.canParse(logout.endpoint)) return undefined;
  const url = new URL(logout.endpoint);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
  const back = authorityOf(loginHostOf(host), httpsPort);
  url.searchParams.set('client_id', logout.clientId);
  url.searchParams.set('post_logout_redirect_uri', `https://${back}/${id}/auth/logged-out`);
  return url.href.length > MAX_URL_CHARS ? undefined : url.href;
}

/** As browsers write it. */
export function authorityOf(host: string, httpsPort: number): string {
  return httpsPort === 443 ? host : `${host}:${httpsPort}`;
}
