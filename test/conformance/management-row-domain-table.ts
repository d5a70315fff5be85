/** Rows of the Management API's requirement: domains of shares. */
import {
  BELOW_FRONTDOOR as BASE,
  countedPage,
  type AnswerShape,
  type ManagementRow,
} from './management-row.ts';

const DOMAINS = `${BASE}/shares/{token}/domains`;
const HOSTNAME = 'rows.example.org';
const ofShare = { at: { token: '{policyShareToken}' }, missing: 'Share' } as const;
const one = { at: { token: '{policyShareToken}', hostname: HOSTNAME }, missing: 'Domain' } as const;
const certificate: AnswerShape = {
  state: 'string',
  validUntil: 'string or null',
  problem: 'string or null',
  retryAt: 'string or null',
};
const domain: AnswerShape = {
  hostname: 'string',
  proof: 'string',
  proofEndsAt: 'string or null',
  proofProblem: 'string or null',
  certificate,
  dnsRecords: [{ type: 'string', name: 'string', value: 'string', purpose: 'string' }],
  createdAt: 'string',
};

export const domainRows: readonly ManagementRow[] = [
  {
    table: 'Domains of shares',
    method: 'POST',
    path: DOMAINS,
    ...ofShare,
    body: {
      hostname: {
        value: HOSTNAME,
        type: 'string',
        format: 'hostname',
        rule: 'hostname (a DNS name of two labels or more)',
      },
    },
    status: 201,
    answer: domain,
    values: { hostname: HOSTNAME, proof: 'PENDING' },
    location: DOMAINS.replace('{token}', 'policy-by-row'),
  },
  {
    table: 'Domains of shares',
    method: 'GET',
    path: DOMAINS,
    ...ofShare,
    status: 200,
    answer: [domain],
  },
  {
    table: 'Domains of shares',
    method: 'GET',
    path: `${BASE}/domains`,
    status: 200,
    answer: countedPage({
      hostname: 'string',
      shareToken: 'string',
      proof: 'string',
      proofEndsAt: 'string or null',
      proofProblem: 'string or null',
      certificate,
      createdAt: 'string',
    }),
  },
  {
    table: 'Domains of shares',
    method: 'GET',
    path: `${DOMAINS}/{hostname}`,
    ...one,
    status: 200,
    answer: domain,
    values: { hostname: HOSTNAME },
  },
  {
    table: 'Domains of shares',
    method: 'GET',
    path: `${DOMAINS}/{hostname}/dns-check`,
    ...one,
    status: 200,
    answer: [
      {
        type: 'string',
        name: 'string',
        value: 'string',
        lookedUp: 'string',
        state: 'string',
        found: ['string'],
        problem: 'string or null',
      },
    ],
  },
  { table: 'Domains of shares', method: 'DELETE', path: `${DOMAINS}/{hostname}`, ...one, status: 204 },
];
