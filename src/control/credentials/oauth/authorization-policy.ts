/**
 * Parses the exact forms of the Authorization header: `Bearer TOKEN`, `Basic ID:SECRET`, and RFC 7617's base64
 * form of the latter. Schemes are case-insensitive; everything else is exact. Pure.
 */
export type AuthorizationForm =
  | { readonly form: 'absent' }
  /** `Bearer` or `Basic`, but malformed. */
  | { readonly form: 'malformed' }
  | { readonly form: 'otherScheme' }
  | { readonly form: 'bearer'; readonly token: string }
  | { readonly form: 'basic'; readonly id: string; readonly secret: string };

const BEARER_TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;
const VISIBLE = /^[\x21-\x7e]+$/;

/** Takes all values of the header, one for each time it was sent. */
export function authorizationForm(
  values: readonly string[],
  decodeBase64: (text: string) => string | undefined,
): AuthorizationForm {
  const [value] = values;
  if (value === undefined || value === '') return { form: values.length > 1 ? 'malformed' : 'absent' };
  const scheme = /^[^\s]+/.exec(value)?.[0].toLowerCase() ?? '';
  if (scheme !== 'bearer' && scheme !== 'basic')
    return { form: values.length > 1 ? 'malformed' : 'otherScheme' };
  if (values.length > 1) return { form: 'malformed' };
  const rest = value.slice(scheme.length);
  if (!rest.startsWith(' ')) return { form: 'malformed' };
  const credential = rest.slice(1);
  if (!VISIBLE.test(credential)) return { form: 'malformed' };
  if (scheme === 'bearer') {
    return BEARER_TOKEN.test(credential) ? { form: 'bearer', token: credential } : { form: 'malformed' };
  }
  const pair = credential.includes(':') ? credential : decodeBase64(credential);
  const colon = pair?.indexOf(':') ?? -1;
  if (pair === undefined || colon < 1 || colon === pair.length - 1) return { form: 'malformed' };
  return { form: 'basic', id: pair.slice(0, colon), secret: pair.slice(colon + 1) };
}
