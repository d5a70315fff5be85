/** Signers of tokens of another party, by which identities log in and enroll. */
import { textsOf } from '#base';
import { endTokenLogIns, invalidParameter } from '../../overlay/clients/mod.ts';
import { isoTime } from '../client-api/service-view.ts';
import type { JsonObject } from '../../overlay/model/mod.ts';
import { commonNameOf, readCertificate } from '../../pki/mod.ts';
import { findEdgeEntity, updateEdgeEntity } from '../../overlay/records/mod.ts';
import { choice, flag, neededText, text, textOrNull, texts } from './body-fields.ts';
import { entityReader } from './body-reader.ts';
import { commonSymbols, type EntityForm } from './entity-form.ts';
import { plainResource, type EntityResource } from './entity-resource.ts';

const MAX_PEM_CHARS = 16_384;
const MAX_URL_CHARS = 2_048;
/** OpenZiti's default for the claim that names an identity. */
const CLAIM = 'sub';

const externalJwtSignerForm: EntityForm = {
  kind: 'external-jwt-signer',
  path: 'external-jwt-signers',
  read: entityReader(
    {
      useExternalId: flag(),
      enrollToTokenEnabled: flag(),
      issuer: neededText(MAX_URL_CHARS),
      audience: neededText(MAX_URL_CHARS),
      certPem: text(MAX_PEM_CHARS),
      kid: textOrNull(),
      jwksEndpoint: text(MAX_URL_CHARS),
      claimsProperty: textOrNull(),
      enrollToCertEnabled: flag(),
      enrollAuthPolicyId: textOrNull(),
      enrollNameClaimsSelector: textOrNull(),
      enrollAttributeClaimsSelector: textOrNull(),
      enabled: flag(),
      externalAuthUrl: textOrNull(),
      clientId: textOrNull(),
      scopes: texts(),
      targetToken: choice(['ACCESS', 'ID']),
    },
    (fields) => {
      if (fields.enrollToTokenEnabled && !fields.useExternalId)
        throw invalidParameter(
          'enrollToTokenEnabled',
          'identities that tokens enroll are known by their external id, so useExternalId is needed',
          'true',
        );
      return {
        ...fields,
        ...keysOf(fields),
        claimsProperty: fields.claimsProperty ?? CLAIM,
        enrollNameClaimsSelector: fields.enrollNameClaimsSelector ?? '/sub',
        externalAuthUrl: urlOf('externalAuthUrl', fields.externalAuthUrl),
      };
    },
  ),
  references: ({ enrollAuthPolicyId: id }) =>
    typeof id === 'string' ? [{ field: 'enrollAuthPolicyId', kind: 'auth-policy', ids: [id] }] : [],
  symbols: {
    ...commonSymbols,
    issuer: { type: 'text', read: ({ data }) => String(data['issuer']) },
    audience: { type: 'text', read: ({ data }) => String(data['audience']) },
    enabled: { type: 'boolean', read: ({ data }) => data['enabled'] === true },
  },
  view: (_model, { data }) => ({
    enrollToCertEnabled: false,
    enrollToTokenEnabled: false,
    ...data,
    scopes: textsOf(data['scopes']),
    ...certificateView(data['certPem']),
  }),
};

/** Fields that decide which tokens log in. */
const DECISIVE = ['issuer', 'audience', 'jwksEndpoint', 'certPem', 'kid', 'claimsProperty', 'useExternalId'];

export const externalJwtSignerResource: EntityResource = {
  ...plainResource(externalJwtSignerForm),

  async update({ clock }, { trx, touch }, entity) {
    const before = await findEdgeEntity(trx, 'external-jwt-signer', entity.id);
    await updateEdgeEntity(trx, touch, entity);
    if (before?.data['enabled'] !== true) return;
    const isChanged = DECISIVE.some((field) => (before.data[field] ?? null) !== (entity.data[field] ?? null));
    if (isChanged || entity.data['enabled'] !== true)
      await endTokenLogIns(trx, touch, entity.id, clock.nowMs());
  },

  async remove({ clock }, { trx, touch }, { id, data }) {
    if (data['enabled'] === true) await endTokenLogIns(trx, touch, id, clock.nowMs());
  },
};

interface KeyFields {
  readonly certPem: string;
  readonly kid: string | null;
  readonly jwksEndpoint: string;
}

/** A certificate with the key id that tokens name, or the address of a key set, whose keys the other party can replace. */
function keysOf({ certPem: pem, kid, jwksEndpoint: url }: KeyFields): JsonObject {
  if (pem === '') {
    if (kid !== null) throw invalidParameter('kid', 'kid belongs to certPem', kid.slice(0, 200));
    if (url === '') throw invalidParameter('jwksEndpoint', 'jwksEndpoint is missing', '');
    return { jwksEndpoint: urlOf('jwksEndpoint', url), certPem: null, kid: null };
  }
  if (url !== '') throw invalidParameter('jwksEndpoint', 'there is a certificate, too', url.slice(0, 200));
  if (kid === null) throw invalidParameter('kid', 'kid is missing', '');
  const read = readCertificate(pem);
  if ('problem' in read) throw invalidParameter('certPem', read.problem, '');
  return { jwksEndpoint: null, certPem: read.certificate.toString(), kid };
}

function certificateView(pem: unknown): JsonObject {
  const read = typeof pem === 'string' ? readCertificate(pem) : undefined;
  if (read === undefined || 'problem' in read)
    return { certPem: null, kid: null, commonName: '', fingerprint: '', notAfter: null, notBefore: null };
  const { certificate, fingerprint } = read;
  return {
    commonName: commonNameOf(certificate),
    fingerprint,
    notBefore: isoTime(Date.parse(certificate.validFrom)),
    notAfter: isoTime(Date.parse(certificate.validTo)),
  };
}

function urlOf(field: string, url: string | null): string | null {
  if (url === null) return null;
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol !== 'https:' && protocol !== 'http:')
    throw invalidParameter(field, `${field} is not an address of the web`, url.slice(0, 200));
  return url;
}
