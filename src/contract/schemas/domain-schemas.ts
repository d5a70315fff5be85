/** Schemas of the domains of shares. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { closed, readOnly, timestamp } from '../schema-parts.ts';
import { dnsRecordListSchema, proofFields } from './custom-frontend-schemas.ts';

export const shareDomainSchema = closed({
  hostname: Type.String(),
  ...proofFields(),
  dnsRecords: dnsRecordListSchema,
  createdAt: timestamp(),
});
export type ShareDomainAnswer = Static<typeof shareDomainSchema>;

export const shareDomainListSchema = Type.Array(shareDomainSchema);

export const newShareDomainSchema = closed({
  hostname: Type.String({
    format: 'zone-name',
    description: 'A DNS name of two labels or more, without a wildcard; other scripts in their form `xn--`',
  }),
  proof: readOnly(),
  proofEndsAt: readOnly(),
  proofProblem: readOnly(),
  dnsRecords: readOnly(),
  createdAt: readOnly(),
});
