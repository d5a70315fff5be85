/** Operations on the domains of shares: DNS names of the owner at which one share is served. */
import { dnsCheckListSchema } from './schemas/custom-frontend-schemas.ts';
import { byName, byProof } from './list-filter-table.ts';
import {
  frontdoorDomainSchema,
  newShareDomainSchema,
  shareDomainListSchema,
  shareDomainSchema,
} from './schemas/domain-schemas.ts';
import { countedPageSchema } from './schemas/resource-schemas.ts';
import { created, gone, guarded, ok, paging } from './operation.ts';

const DOMAINS = '/frontdoor/{frontdoorId}/shares/{token}/domains';

export const domainOperations = [
  guarded({
    id: 'listDomains',
    group: 'Shares',
    summary: 'List the domains of all shares of a frontdoor, with their proofs and certificates',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/domains',
    query: [...paging('hostname', 'createdAt'), byName, byProof],
    answer: ok(countedPageSchema(frontdoorDomainSchema)),
  }),
  guarded({
    id: 'listShareDomains',
    group: 'Shares',
    summary: 'List the domains of a share, with their proofs of ownership and DNS records',
    method: 'GET',
    path: DOMAINS,
    answer: ok(shareDomainListSchema),
    refusals: [404],
  }),
  guarded({
    id: 'addShareDomain',
    group: 'Shares',
    summary: 'Add a domain to a public share, which is served at it once ownership is proven',
    method: 'POST',
    path: DOMAINS,
    body: newShareDomainSchema,
    answer: created(shareDomainSchema),
    refusals: [404, 409],
  }),
  guarded({
    id: 'getShareDomain',
    group: 'Shares',
    summary: 'Get a domain of a share',
    method: 'GET',
    path: `${DOMAINS}/{hostname}`,
    answer: ok(shareDomainSchema),
    refusals: [404],
  }),
  guarded({
    id: 'removeShareDomain',
    group: 'Shares',
    summary: 'Remove a domain from a share; other organizations cannot take it for 30 days',
    method: 'DELETE',
    path: `${DOMAINS}/{hostname}`,
    answer: gone,
    refusals: [404],
  }),
  guarded({
    id: 'checkShareDomain',
    group: 'Shares',
    summary: 'Look up the current DNS records of a domain of a share',
    method: 'GET',
    path: `${DOMAINS}/{hostname}/dns-check`,
    answer: ok(dnsCheckListSchema),
    refusals: [404, 429],
  }),
] as const;
