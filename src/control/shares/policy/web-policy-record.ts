/** The parts of a policy for browsers, CORS and HSTS, from a request to the form that is stored and shown. */
import type { SharePolicy, SharePolicyBody } from '#contract/schemas';
import { invalidValue, parseWebOrigin } from '#domain';

const DEFAULT_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const DEFAULT_MAX_AGE_S = 600;
/** The least age that the preload lists of browsers accept: one year. */
const PRELOAD_AGE_S = 31_536_000;

/** Throws `invalid`. */
export function wantedCors(body: NonNullable<SharePolicyBody['cors']> | null): SharePolicy['cors'] {
  if (body === null) return null;
  const { methods = DEFAULT_METHODS, headers = [], exposedHeaders = [], credentials = false } = body;
  const origins = body.origins.map((text) => (text === '*' ? text : parseWebOrigin(text)!));
  const lists = { origins, methods, headers, exposedHeaders };
  // Browsers read it as a name there, so that it would allow nothing.
  for (const [name, list] of Object.entries(lists)) {
    const at = credentials ? list.indexOf('*') : -1;
    if (at !== -1) throw invalidValue(`cors.${name}.${at}`, 'single name, because credentials are allowed');
  }
  return { ...lists, credentials, maxAgeSeconds: body.maxAgeSeconds ?? DEFAULT_MAX_AGE_S };
}

/** Throws `invalid`. */
export function wantedHsts(body: NonNullable<SharePolicyBody['hsts']> | null): SharePolicy['hsts'] {
  if (body === null) return null;
  const { maxAgeSeconds, includeSubdomains = false, preload = false } = body;
  if (preload && !includeSubdomains)
    throw invalidValue('hsts.preload', 'false unless includeSubdomains is true, as preload lists demand');
  if (preload && maxAgeSeconds < PRELOAD_AGE_S)
    throw invalidValue('hsts.maxAgeSeconds', `number of at least ${PRELOAD_AGE_S}, as preload lists demand`);
  return { maxAgeSeconds, includeSubdomains, preload };
}
