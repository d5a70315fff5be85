/** Authorities of other parties (`cas`), whose certificates identities may enroll and log in with. */
import { textsOf } from '#base';
import { randomUUID, X509Certificate } from 'node:crypto';
import type { Static, TObject } from 'typebox';
import {
  claimOf,
  endClaimedLogIns,
  endLogIns,
  endManagementSessionsOf,
  endSessionsOf,
  invalidParameter,
  type KeptLogIns,
} from '../../overlay/clients/mod.ts';
import {
  authorityLimitsOf,
  CLAIM_LOCATIONS,
  CLAIM_MATCHERS,
  CLAIM_PARSERS,
  readCertificate,
} from '../../pki/mod.ts';
import type { EdgeEntityRecord, JsonObject } from '../../overlay/model/mod.ts';
import {
  certificatesOfAuthority,
  deleteCertificatesOfAuthority,
  findEdgeEntity,
  insertEdgeEntity,
  updateEdgeEntity,
} from '../../overlay/records/mod.ts';
import { deleteEnrollmentsOfAuthority } from '../../overlay/enrollments/mod.ts';
import { choice, flag, partOrNull, text, texts, whole } from './body-fields.ts';
import { entityReader, quoted } from './body-reader.ts';
import { commonSymbols, entityView, type EntityForm } from './entity-form.ts';
import {
  givenFields,
  plainResource,
  type EntityResource,
  type ManagementParts,
  type Writing,
} from './entity-resource.ts';

const MAX_FORMAT_CHARS = 256;
const MAX_CLAIM_INDEX = 1_000;
/** Each enrollment without a token compares its certificate with every authority. */
export const MAX_AUTHORITIES = 200;
/** Where certificates name their identity; without it, they are recognized by their fingerprint. */
const CLAIM_FIELDS = {
  location: choice(CLAIM_LOCATIONS),
  matcher: choice(CLAIM_MATCHERS),
  matcherCriteria: text(MAX_FORMAT_CHARS),
  parser: choice(CLAIM_PARSERS),
  parserCriteria: text(MAX_FORMAT_CHARS),
  index: whole(MAX_CLAIM_INDEX),
};
const FLAGS = ['isAuthEnabled', 'isAutoCaEnrollmentEnabled', 'isOttCaEnrollmentEnabled'] as const;

const authorityForm: EntityForm = {
  kind: 'ca',
  path: 'cas',
  read: entityReader(
    {
      externalIdClaim: partOrNull(CLAIM_FIELDS),
      ...Object.fromEntries(FLAGS.map((name) => [name, flag()])),
      identityRoles: texts(),
      identityNameFormat: text(MAX_FORMAT_CHARS),
    },
    (fields) => {
      if (fields.externalIdClaim !== null) checkClaimFields(fields.externalIdClaim);
      return fields;
    },
  ),
  references: () => [],
  symbols: {
    ...commonSymbols,
    fingerprint: { type: 'text', read: ({ data }) => String(data['fingerprint']) },
    isVerified: { type: 'boolean', read: ({ data }) => data['isVerified'] === true },
    ...Object.fromEntries(
      FLAGS.map((flag) => [
        flag,
        { type: 'boolean', read: ({ data }: EdgeEntityRecord) => data[flag] === true } as const,
      ]),
    ),
  },
  view: (_model, { data }) => ({ ...data, identityRoles: textsOf(data['identityRoles']) }),
};

function checkClaimFields(claim: Static<TObject<typeof CLAIM_FIELDS>>): void {
  const { location, matcher, matcherCriteria, parser, parserCriteria } = claim;
  const refused = (field: string, reason: string, value: string) =>
    invalidParameter(`externalIdClaim.${field}`, reason, value);
  const isOfAddresses = matcher === 'SCHEME';
  if (matcher !== 'ALL' && isOfAddresses !== (location === 'SAN_URI'))
    throw refused(
      'matcher',
      `the matcher ${matcher} cannot be used with the location ${location}`,
      quoted(matcher),
    );
  if (matcher !== 'ALL' && matcherCriteria === '')
    throw refused('matcherCriteria', `the matcher ${matcher} needs a text`, '');
  if (parser === 'SPLIT' && parserCriteria === '')
    throw refused('parserCriteria', 'the parser SPLIT needs a separator', '');
}

export const authorityResource: EntityResource = {
  ...plainResource(authorityForm),
  moreFields: ['certPem'],
  maxCount: MAX_AUTHORITIES,
  keptFields: ['certPem', 'fingerprint', 'isVerified', 'verificationToken'],

  viewer: ({ model }) =>
    Promise.resolve((entity) => {
      const { isVerified, isAutoCaEnrollmentEnabled } = entity.data;
      const links = [
        ...(isVerified === true ? [] : ['verify']),
        ...(isAutoCaEnrollmentEnabled === true ? ['jwt'] : []),
      ];
      return { ...entityView('cas', entity, links), ...authorityForm.view(model, entity) };
    }),

  /** A PATCH of a claim has the fields that change. */
  merge(before, change) {
    const { externalIdClaim: claim } = change;
    const merged = { ...before, ...Object.fromEntries(givenFields(change)) };
    if (typeof claim !== 'object' || claim === null) return merged;
    const present = claimOf(before) ?? {};
    return {
      ...merged,
      externalIdClaim: { ...present, ...Object.fromEntries(givenFields(claim as JsonObject)) },
    };
  },

  async insert({ model }, { trx, touch }, entity, { certPem }) {
    const read = readCertificate(typeof certPem === 'string' ? certPem : '');
    if ('problem' in read) throw invalidParameter('certPem', read.problem, '');
    const { certificate, fingerprint } = read;
    if (!certificate.ca) throw invalidParameter('certPem', 'the certificate is not of an authority', '');
    if ([...model.edge.all('ca')].some(({ data }) => data['fingerprint'] === fingerprint))
      throw invalidParameter('certPem', 'there is an authority with this certificate', fingerprint);
    checkClaim(entity, certificate);
    const state = { fingerprint, isVerified: false, verificationToken: randomUUID() };
    const data = { ...entity.data, certPem: certificate.toString(), ...state };
    await insertEdgeEntity(trx, touch, { ...entity, data });
  },

  async update(parts, writing, entity) {
    const { trx, touch } = writing;
    checkClaim(entity, new X509Certificate(String(entity.data['certPem'])));
    const before = await findEdgeEntity(trx, 'ca', entity.id);
    await updateEdgeEntity(trx, touch, entity);
    await touchHolders(parts, writing, entity);
    const isSame = JSON.stringify(before && claimOf(before.data)) === JSON.stringify(claimOf(entity.data));
    if (!isSame || entity.data['isAuthEnabled'] !== true) await endClaimed(parts, writing, entity);
  },

  async remove(parts, writing, entity) {
    const { trx } = writing;
    const { id } = entity;
    await touchHolders(parts, writing, { ...entity, data: { ...entity.data, isAuthEnabled: false } });
    await endClaimed(parts, writing, entity);
    await deleteCertificatesOfAuthority(trx, id);
    await deleteEnrollmentsOfAuthority(trx, id);
  },
};

/** Names in certificates are not compared with limits, so an authority with such may not decide by them who logs in. */
function checkClaim({ data }: EdgeEntityRecord, certificate: X509Certificate): void {
  if (claimOf(data) !== undefined && authorityLimitsOf(certificate).limitsNames)
    throw invalidParameter('externalIdClaim', 'the certificate of the authority limits names', '');
}

/** Ends the sessions of identities that the authority named in their certificates. */
async function endClaimed(
  { clock, model }: ManagementParts,
  { trx, touch }: Writing,
  { id }: EdgeEntityRecord,
): Promise<void> {
  await endClaimedLogIns(trx, touch, id, clock.nowMs());
  const named = [...model.edge.all('identity')].filter(({ data }) => typeof data['externalId'] === 'string');
  // Sessions of administrators do not name the authority.
  const kept: KeptLogIns = { session: () => true, administrator: (method) => method !== 'cert' };
  const ids = named.map((identity) => identity.id);
  await endLogIns(trx, touch, ids, kept, clock.nowMs());
}

/** Certificates of the authority come and go with its right to log in, and the sessions that they opened end with it. */
async function touchHolders(
  { clock }: ManagementParts,
  { trx, touch }: Writing,
  { id, data }: EdgeEntityRecord,
): Promise<void> {
  const certificates = await certificatesOfAuthority(trx, id);
  const holders = new Set(certificates.map(({ identityId }) => identityId));
  for (const identityId of holders) touch('identity', identityId);
  if (data['isAuthEnabled'] === true) return;
  const fingerprints = certificates.map(({ fingerprint }) => fingerprint);
  await endSessionsOf(trx, touch, fingerprints, clock.nowMs());
  await endManagementSessionsOf(trx, [...holders]);
}
