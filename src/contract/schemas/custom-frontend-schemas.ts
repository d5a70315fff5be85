/** Schemas of custom frontends: their hostnames with proofs, and the DNS records that they need. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { closed, ids, nullable, oneOf, readOnly, text, timestamp, uuid } from '../schema-parts.ts';

const customFrontendState = () =>
  Type.Unsafe<'NEW' | 'PENDING' | 'ACTIVE'>({
    type: 'string',
    enum: ['NEW', 'PENDING', 'ACTIVE'],
    description:
      'NEW: no gateway has reported it; PENDING: a gateway has no certificate for it; ACTIVE: all gateways serve it',
  });

/** Why a custom frontend, or a domain of a share, is served, or is not. */
export const HOSTNAME_PROOFS = ['PENDING', 'PROVEN', 'GRANTED', 'MISSING'] as const;

export const proofFields = () => ({
  proof: Type.Unsafe<(typeof HOSTNAME_PROOFS)[number]>({
    type: 'string',
    enum: [...HOSTNAME_PROOFS],
    description:
      'PENDING: ownership is not proven yet, and the hostname is not served; PROVEN: proven by its TXT record; GRANTED: approved by an operator; MISSING: the TXT record that proved ownership has been removed',
  }),
  proofEndsAt: nullable<string>({
    type: 'string',
    format: 'date-time',
    description:
      'PENDING: when the claim expires and is deleted; MISSING: when it stops being served; otherwise null',
  }),
  proofProblem: nullable<string>({
    type: 'string',
    description: 'Why the last lookup did not prove ownership; null if it did, or if there was none',
  }),
});

export const customFrontendSchema = closed({
  id: uuid(),
  frontdoorId: uuid(),
  hostname: Type.String(),
  frontendId: Type.String(),
  authProviderIds: Type.Array(Type.String(), {
    description: 'Auth providers for shares on this hostname that have none of their own',
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
  authProviderIds: Type.Optional(
    ids(100, 'Auth providers for shares on this hostname that have none of their own'),
  ),
  id: readOnly(),
  frontdoorId: readOnly(),
  status: readOnly(),
  domainName: readOnly(),
  proof: readOnly(),
  proofEndsAt: readOnly(),
  proofProblem: readOnly(),
  createdAt: readOnly(),
});

/** A custom frontend, or a domain of a share, as operators see it, of any organization. */
export const hostnameClaimSchema = closed({
  id: Type.String({
    format: 'uuid',
    description: 'The ID of the claim, which is that of the custom frontend',
  }),
  hostname: Type.String(),
  organizationId: uuid(),
  frontdoorId: uuid(),
  shareToken: nullable<string>({
    type: 'string',
    description: 'The token of the share whose domain it is; null for a custom frontend',
  }),
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
  authProviderIds: Type.Optional(
    ids(100, 'Auth providers for shares on this hostname that have none of their own'),
  ),
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
    lookedUp: Type.String({ description: 'The name that was looked up; for a wildcard, a name under it' }),
    state: Type.Unsafe<'correct' | 'missing' | 'different' | 'unknown'>({
      type: 'string',
      enum: ['correct', 'missing', 'different', 'unknown'],
      description: 'Whether DNS has the record, or resolves to the gateways in another way',
    }),
    found: Type.Array(Type.String(), {
      description:
        'For TXT, the TXT records of the name; otherwise its alias, or its addresses if it has none',
    }),
    problem: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Why the lookup failed; null if it succeeded',
    }),
  }),
);
export type DnsCheckAnswer = Static<typeof dnsCheckListSchema>[number];
export type DnsRecordAnswer = Static<typeof dnsRecordListSchema>[number];
