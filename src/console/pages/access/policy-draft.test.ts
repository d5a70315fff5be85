// Drafts become policies, and policies drafts. Fields that this console does not know are kept.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changedFields,
  policyDraftOf,
  policyOf,
  rulesOfPolicy,
  rulesOfShare,
  type PolicyRules,
} from './policy-draft.ts';

const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const policy: PolicyRules = {
  emails: ['*@example.com', 'ann@example.org'],
  claims: [{ claim: 'groups', anyOf: ['staff', 'admins'] }],
  basicAuth: [{ name: 'ci', password: '********' }],
  clientCertificate: { authorities: [CERTIFICATE, CERTIFICATE], names: ['ann'] },
  ipAllow: ['192.0.2.0/24'],
  ipDeny: [],
  publicPaths: ['/health'],
  expiresAt: '2031-01-01T00:00:00.000Z',
  rateLimit: { requests: 100, per: 'PT1M' },
  session: { idle: 'PT1H30M', absolute: 'P7D' },
  allowedOrigins: ['https://www.example.com'],
  allowPreflights: true,
  responseTimeoutSeconds: 300,
  contact: 'owner@example.com',
  cors: {
    origins: ['https://www.example.com'],
    methods: ['GET'],
    headers: ['Content-Type'],
    exposedHeaders: ['ETag'],
    credentials: true,
    maxAgeSeconds: 60,
  },
  hsts: { maxAgeSeconds: 31_536_000, includeSubdomains: true, preload: false },
  httpsRedirect: 'always',
};
const open: PolicyRules = {
  emails: [],
  claims: [],
  basicAuth: [],
  clientCertificate: null,
  ipAllow: [],
  ipDeny: [],
  publicPaths: [],
  expiresAt: null,
  rateLimit: null,
  session: { idle: 'PT8H', absolute: 'P7D' },
  allowedOrigins: [],
  allowPreflights: false,
  responseTimeoutSeconds: null,
  contact: null,
  cors: null,
  hsts: null,
  httpsRedirect: 'auto',
};

test('a policy comes back from its draft as it was, but for another spelling of lengths', () => {
  const session = { idle: 'PT90M', absolute: 'P7D' };
  assert.deepEqual(policyOf(policyDraftOf(policy), policy), { ...policy, session });
  assert.deepEqual(policyOf(policyDraftOf(open), open), open);
  assert.deepEqual(changedFields(policy, policyOf(policyDraftOf(policy), policy)), []);
});

test('only the rules of a share and of a shared policy are sent', () => {
  const facts = { id: 'p', name: 'staff', shareCount: 2, createdAt: '2031-01-01T00:00:00.000Z' };
  assert.deepEqual(rulesOfPolicy({ ...facts, ...open }), open);
  assert.deepEqual(rulesOfShare({ ...open, warnings: [{ field: 'emails', message: 'nobody' }] }), open);
});

test('lines are trimmed, and empty ones are no values', () => {
  const draft = { ...policyDraftOf(open), emails: ' a@b.example \n\n*@c.example', contact: ' ' };
  const wanted = policyOf(draft, open);
  assert.deepEqual(wanted.emails, ['a@b.example', '*@c.example']);
  assert.equal(wanted.contact, null);
  assert.deepEqual(changedFields(open, wanted), ['emails']);
});

test('numbers and certificates that are none are sent as they are, for the API to name them', () => {
  const draft = { ...policyDraftOf(open), rateRequests: 'many', authorities: `${CERTIFICATE}garbage` };
  const wanted = policyOf(draft, open);
  assert.deepEqual(wanted.rateLimit, { requests: 'many', per: 'PT1M' });
  assert.deepEqual(wanted.clientCertificate, { authorities: [CERTIFICATE, 'garbage'], names: [] });
});

test('fields of a newer API stay as they were read', () => {
  const newer = { ...open, countries: ['NO'] } as PolicyRules;
  const wanted = policyOf({ ...policyDraftOf(newer), ipDeny: '192.0.2.1' }, newer);
  assert.deepEqual((wanted as { countries?: unknown }).countries, ['NO']);
  assert.deepEqual(changedFields(newer, wanted), ['ipDeny']);
});

test('CORS without methods and a duration has the defaults of the API, and without origins none', () => {
  const { cors } = policyDraftOf(open);
  const typed = { ...policyDraftOf(open), cors: { ...cors, origins: '*' } };
  const wanted = { origins: ['*'], headers: [], exposedHeaders: [], credentials: false };
  assert.deepEqual(policyOf(typed, open).cors, wanted);
  assert.equal(policyOf({ ...typed, cors: { ...typed.cors, origins: ' ' } }, open).cors, null);
});
