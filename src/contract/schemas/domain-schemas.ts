/** Schemas of the domains of shares. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { closed, nullable, oneOf, readOnly, timestamp } from '../schema-parts.ts';
import { dnsRecordListSchema, proofFields } from './custom-frontend-schemas.ts';

export const DOMAIN_CERTIFICATE_STATES = ['NONE', 'VALID', 'EXPIRED', 'FAILED'] as const;

const certificateSchema = () =>
  closed({
    state: oneOf(...DOMAIN_CERTIFICATE_STATES),
    validUntil: nullable<string>({
      type: 'string',
      format: 'date-time',
      description:
        'When the certificate expires, the earliest where gateways have different ones; null if there is none',
    }),
    problem: nullable<string>({
      type: 'string',
      description:
        'Why the last order or renewal failed, as the certificate authority or the gateway reported it; null if it succeeded, or if there was none',
    }),
    retryAt: nullable<string>({
      type: 'string',
      format: 'date-time',
      description:
        'When a certificate can be ordered again: a renewal happens by itself, a first certificate is ordered at the next visit after this time; null if no order failed, or no time is known',
    }),
  });

export const shareDomainSchema = closed({
  hostname: Type.String(),
  ...proofFields(),
  certificate: certificateSchema(),
  dnsRecords: dnsRecordListSchema,
  createdAt: timestamp(),
});
export type ShareDomainAnswer = Static<typeof shareDomainSchema>;

export const frontdoorDomainSchema = closed({
  hostname: Type.String(),
  shareToken: Type.String({ description: 'The token of the share that is served at the domain' }),
  ...proofFields(),
  certificate: certificateSchema(),
  createdAt: timestamp(),
});
export type FrontdoorDomainAnswer = Static<typeof frontdoorDomainSchema>;

export const shareDomainListSchema = Type.Array(shareDomainSchema);

export const newShareDomainSchema = closed({
  hostname: Type.String({
    format: 'zone-name',
    description: 'A DNS name of two labels or more, without a wildcard; other scripts in their form `xn--`',
  }),
  proof: readOnly(),
  proofEndsAt: readOnly(),
  proofProblem: readOnly(),
  certificate: readOnly(),
  dnsRecords: readOnly(),
  createdAt: readOnly(),
});
