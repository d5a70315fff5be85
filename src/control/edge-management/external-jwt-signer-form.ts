/** Signers of tokens of another party, by which identities log in and enroll. */
import { invalidParameter } from '../edge-api/mod.ts';
import { textsOf } from '../model/mod.ts';
import type { BodyReader } from './body-reader.ts';
import { commonSymbols, type EntityForm } from './entity-form.ts';

const MAX_URL_CHARS = 2_048;
/** OpenZiti's default for the claim that names an identity. */
const CLAIM = 'sub';

export const externalJwtSignerForm: EntityForm = {
  kind: 'external-jwt-signer',
  path: 'external-jwt-signers',
  read(body) {
    // Keys are fetched, so that the other party can replace them.
    for (const field of ['certPem', 'kid']) body.only(field);
    const [useExternalId, enrollToTokenEnabled] = [
      body.flag('useExternalId'),
      body.flag('enrollToTokenEnabled'),
    ];
    if (enrollToTokenEnabled && !useExternalId)
      throw invalidParameter(
        'enrollToTokenEnabled',
        'identities that tokens enroll are known by their external id, so useExternalId is needed',
        'true',
      );
    return {
      issuer: required(body, 'issuer'),
      audience: required(body, 'audience'),
      jwksEndpoint: urlOf('jwksEndpoint', required(body, 'jwksEndpoint')),
      claimsProperty: body.textOrNull('claimsProperty') ?? CLAIM,
      useExternalId,
      enrollToTokenEnabled,
      enrollToCertEnabled: body.flag('enrollToCertEnabled'),
      enrollAuthPolicyId: body.textOrNull('enrollAuthPolicyId'),
      enrollNameClaimsSelector: body.textOrNull('enrollNameClaimsSelector') ?? '/sub',
      enrollAttributeClaimsSelector: body.textOrNull('enrollAttributeClaimsSelector'),
      enabled: body.flag('enabled'),
      externalAuthUrl: urlOf('externalAuthUrl', body.textOrNull('externalAuthUrl')),
      clientId: body.textOrNull('clientId'),
      scopes: body.texts('scopes'),
      targetToken: body.choice('targetToken', ['ACCESS', 'ID']),
    };
  },
  references: ({ enrollAuthPolicyId: id }) =>
    typeof id === 'string' ? [{ field: 'enrollAuthPolicyId', kind: 'auth-policy', ids: [id] }] : [],
  symbols: {
    ...commonSymbols,
    issuer: { type: 'text', read: ({ data }) => String(data['issuer']) },
    audience: { type: 'text', read: ({ data }) => String(data['audience']) },
    enabled: { type: 'boolean', read: ({ data }) => data['enabled'] === true },
  },
  view: (_model, { data }) => ({
    ...{ enrollToCertEnabled: false, enrollToTokenEnabled: false },
    ...data,
    scopes: textsOf(data['scopes']),
    ...{ certPem: null, commonName: '', fingerprint: '', kid: null, notAfter: null, notBefore: null },
  }),
};

function required(body: BodyReader, field: string): string {
  const value = body.text(field, MAX_URL_CHARS);
  if (value === '') throw invalidParameter(field, `${field} is missing`, '');
  return value;
}

function urlOf(field: string, url: string | null): string | null {
  if (url === null) return null;
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol !== 'https:' && protocol !== 'http:')
    throw invalidParameter(field, `${field} is not an address of the web`, url.slice(0, 200));
  return url;
}
