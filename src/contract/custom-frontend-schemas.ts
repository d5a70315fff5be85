/** Schemas of custom frontends: their hostnames with proofs, and the DNS records that they need. */
import type { Static } from 'typebox';
import { Type } from '#base';
import { closed, ids, nullable, oneOf, readOnly, text, timestamp, uuid } from './schema-parts.ts';

const customFrontendState = () =>
  Type.Unsafe<'NEW' | 'PENDING' | 'ACTIVE'>({
    type: 'string',
    enum: ['NEW', 'PENDING', 'ACTIVE'],
    description:
      'NEW: no gateway has reported it; PENDING: gateways lack its certificate; ACTIVE: gateways serve it',
  });

/** Why a custom frontend is served, or is not. */
export const HOSTNAME_PROOFS = ['PENDING', 'PROVEN', 'GRANTED', 'MISSING', 'ASKED'] as const;

const proofFields = () => ({
  proof: Type.Unsafe<(typeof HOSTNAME_PROOFS)[number]>({
    type: 'string',
    enum: [...HOSTNAME_PROOFS],
    description:
      'PENDING: not proven yet, and not served; PROVEN: by its TXT record; GRANTED: by an operator; MISSING: proven, and the record is gone; ASKED: older than proofs, served, and to be proven',
  }),
  proofEndsAt: nullable<string>({
    type: 'string',
    format: 'date-time',
    description:
      'PENDING: when the claim ends and the custom frontend is deleted; MISSING: when it is no longer served; otherwise null',
  }),
  proofProblem: nullable<string>({
    type: 'string',
    description: 'Why the last look-up proved nothing; null if it did, or there was none',
  }),
});

export const customFrontendSchema = closed({
  id: uuid(),
  frontdoorId: uuid(),
  hostname: Type.String(),
  frontendId: Type.String(),
  authProviderIds: Type.Array(Type.String(), {
    description: 'Guard the shares here that have no auth provider of their own',
  }),
  status: customFrontendState(),
  domainName: Type.String({ description: 'The name that the certificate must cover: `*.hostname`' }),
  ...proofFields(),
  createdAt: timestamp(),
});
export type CustomFrontendAnswer = Static<typeof customFrontendSchema>;

export const newCustomFrontendSchema = closed({
  hostname: Type.String({ format: 'zone-name' }),
  frontendId: text(),
  authProviderIds: Type.Optional(ids(100, 'Guard the shares here that have no auth provider of their own')),
  id: readOnly(),
  frontdoorId: readOnly(),
  status: readOnly(),
  domainName: readOnly(),
  proof: readOnly(),
  proofEndsAt: readOnly(),
  proofProblem: readOnly(),
  createdAt: readOnly(),
});

/** A custom frontend as operators see it, of any organization. */
export const hostnameClaimSchema = closed({
  id: Type.String({ format: 'uuid', description: 'The id of the custom frontend' }),
  hostname: Type.String(),
  organizationId: uuid(),
  frontdoorId: uuid(),
  ...proofFields(),
  createdAt: timestamp(),
});
export type HostnameClaimAnswer = Static<typeof hostnameClaimSchema>;

const recordType = () => oneOf('CNAME', 'TXT');

export const dnsRecordListSchema = Type.Array(
  closed({
    type: recordType(),
    name: Type.String(),
    value: Type.String(),
    purpose: Type.String(),
  }),
);
/** Settings that stay may be sent back as they were read. */
export const customFrontendChangeSchema = closed({
  authProviderIds: Type.Optional(ids(100, 'Guard the shares here that have no auth provider of their own')),
  hostname: Type.Optional(Type.String()),
  frontendId: Type.Optional(Type.String()),
  id: readOnly(),
  frontdoorId: readOnly(),
  status: readOnly(),
  domainName: readOnly(),
  proof: readOnly(),
  proofEndsAt: readOnly(),
  proofProblem: readOnly(),
  createdAt: readOnly(),
});

export const dnsCheckListSchema = Type.Array(
  closed({
    type: recordType(),
    name: Type.String(),
    value: Type.String(),
    lookedUp: Type.String({ description: 'The name that was looked up: of a wildcard, one below it' }),
    state: Type.Unsafe<'correct' | 'missing' | 'different' | 'unknown'>({
      type: 'string',
      enum: ['correct', 'missing', 'different', 'unknown'],
      description: 'Whether DNS has the record, or leads to the gateways in another way',
    }),
    found: Type.Array(Type.String(), {
      description:
        'The alias of the name that was looked up, or its addresses if it has none; its TXT records for that type',
    }),
    problem: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Why the records are not known; null if they are',
    }),
  }),
);
export type DnsCheckAnswer = Static<typeof dnsCheckListSchema>[number];
export type DnsRecordAnswer = Static<typeof dnsRecordListSchema>[number];
