/**
 * Log-out at the identity provider (OpenID Connect RP-Initiated Logout 1.0): the URL to which the browser is
 * sent, and the one to which it returns. ID tokens are not kept and not sent as a hint, so the provider asks the
 * person for confirmation.
 */
import type { GatewayProvider } from '#domain/gateway-shapes';

/** A path at `oauth.<zone>`, which is registered at the provider like its callback. */
export const LOGGED_OUT_PATH = /^\/[0-9A-Za-z-]{1,64}\/auth\/logged-out$/;

const MAX_URL_CHARS = 8_192;

/**
 * Returns undefined if the provider has no log-out endpoint. Both URLs are configured by the provider's owner and
 * contain nothing from the request.
 */
export function providerLogoutUrl(
  { id, logout }: Pick<GatewayProvider, 'id' | 'logout'>,
  loginHost: string,
  httpsPort: number,
): string | undefined {
  if (logout === undefined || !URL.canParse(logout.endpoint)) return undefined;
  const url = new URL(logout.endpoint);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
  const back = authorityOf(loginHost, httpsPort);
  url.searchParams.set('client_id', logout.clientId);
  url.searchParams.set('post_logout_redirect_uri', `https://${back}/${id}/auth/logged-out`);
  return url.href.length > MAX_URL_CHARS ? undefined : url.href;
}

/** Host and port as browsers write them. */
export function authorityOf(host: string, httpsPort: number): string {
  return httpsPort === 443 ? host : `${host}:${httpsPort}`;
}
