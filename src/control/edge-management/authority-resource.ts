/** Authorities of other parties (`cas`), whose certificates identities may enroll and log in with. */
import { randomUUID } from 'node:crypto';
import { endSessionsOf, invalidParameter } from '../edge-api/mod.ts';
import { readCertificate } from '../pki/mod.ts';
import { textsOf, type EdgeEntityRecord } from '../model/mod.ts';
import { insertEdgeEntity, updateEdgeEntity } from '../store/mod.ts';
import { commonSymbols, entityView, type EntityForm } from './entity-form.ts';
import { plainResource, type EntityResource, type ManagementParts, type Writing } from './entity-resource.ts';

const MAX_FORMAT_CHARS = 256;
/** Each enrollment without a token compares its certificate with every authority. */
export const MAX_AUTHORITIES = 200;
const FLAGS = ['isAuthEnabled', 'isAutoCaEnrollmentEnabled', 'isOttCaEnrollmentEnabled'] as const;

const authorityForm: EntityForm = {
  kind: 'ca',
  path: 'cas',
  read(body) {
    // Certificates are known by their fingerprint alone.
    body.only('externalIdClaim');
    return {
      ...Object.fromEntries(FLAGS.map((flag) => [flag, body.flag(flag)])),
      identityRoles: body.texts('identityRoles'),
      identityNameFormat: body.text('identityNameFormat', MAX_FORMAT_CHARS),
    };
  },
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

  async insert({ model }, { trx, touch }, entity, { certPem }) {
    const read = readCertificate(typeof certPem === 'string' ? certPem : '');
    if ('problem' in read) throw invalidParameter('certPem', read.problem, '');
    const { certificate, fingerprint } = read;
    if (!certificate.ca) throw invalidParameter('certPem', 'the certificate is not of an authority', '');
    if ([...model.edge.all('ca')].some(({ data }) => data['fingerprint'] === fingerprint))
      throw invalidParameter('certPem', 'there is an authority with this certificate', fingerprint);
    const state = { fingerprint, isVerified: false, verificationToken: randomUUID() };
    const data = { ...entity.data, certPem: certificate.toString(), ...state };
    await insertEdgeEntity(trx, touch, { ...entity, data });
  },

  async update(parts, writing, entity) {
    await updateEdgeEntity(writing.trx, writing.touch, entity);
    await touchHolders(parts, writing, entity);
  },

  async remove(parts, writing, entity) {
    const { trx } = writing;
    const { id } = entity;
    await touchHolders(parts, writing, { ...entity, data: { ...entity.data, isAuthEnabled: false } });
    await trx.deleteFrom('certificate').where('authority_id', '=', id).execute();
    await trx.deleteFrom('enrollment').where('authority_id', '=', id).execute();
  },
};

/** Certificates of the authority come and go with its right to log in, and the sessions that they opened end with it. */
async function touchHolders(
  { clock }: ManagementParts,
  { trx, touch }: Writing,
  { id, data }: EdgeEntityRecord,
): Promise<void> {
  const certificates = await trx
    .selectFrom('certificate')
    .select(['identity_id', 'fingerprint'])
    .where('authority_id', '=', id)
    .execute();
  for (const identityId of new Set(certificates.map(({ identity_id }) => identity_id)))
    touch('identity', identityId);
  if (data['isAuthEnabled'] === true) return;
  const fingerprints = certificates.map(({ fingerprint }) => fingerprint);
  await endSessionsOf(trx, touch, fingerprints, clock.nowMs());
  const holders = trx.selectFrom('certificate').select('identity_id').where('authority_id', '=', id);
  await trx.deleteFrom('management_session').where('identity_id', 'in', holders).execute();
}
