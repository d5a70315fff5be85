import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ACCESS_WORDS,
  accessSentences,
  NO_RULES,
  RULE_FIELDS,
  setRules,
  type SentencePolicy,
  type SentenceProvider,
} from './access-sentences.ts';
import { DEFAULT_POLICY, sharePolicyReplacementSchema } from './schemas/mod.ts';

const FORM = {
  nowMs: Date.parse('2026-01-01T00:00:00Z'),
  date: (atMs: number) => new Date(atMs).toISOString().slice(0, 10),
  number: String,
};
const google: SentenceProvider = { name: 'Google', enabled: true, hasKeys: false };
const github: SentenceProvider = { name: 'GitHub', enabled: true, hasKeys: false };

function said(policy: SentencePolicy, providers?: readonly SentenceProvider[]): string {
  return accessSentences(policy, providers, ACCESS_WORDS, FORM)
    .map(({ text }) => text)
    .join(' ');
}

describe('sentences about access', () => {
  it('are short for what most shares have', () => {
    assert.equal(
      said({ emails: ['*@example.com'], ipDeny: ['203.0.113.0/24'], expiresAt: '2026-05-12T00:00:00.000Z' }, [
        google,
        github,
      ]),
      'Visitors sign in with Google or GitHub. Only *@example.com. Not from 203.0.113.0/24. Until 2026-05-12.',
    );
    assert.equal(said(DEFAULT_POLICY), '');
    assert.deepEqual(NO_RULES, DEFAULT_POLICY);
  });

  it('state who gets in without sign-in, with keys, with a password, and by a provider that is disabled', () => {
    const ann = { basicAuth: [{ name: 'ann', password: '********' }] };
    assert.equal(said({}, []), ACCESS_WORDS.everyone);
    assert.equal(said({ emails: ['*@example.com'] }, []), `${ACCESS_WORDS.nobody} Only *@example.com.`);
    assert.equal(said(ann, []), 'With a user name and password: ann.');
    assert.equal(
      said(ann, [{ ...github, enabled: false }, google, { name: 'CI', enabled: true, hasKeys: true }]),
      'Visitors sign in with Google. Programs present a key of CI. Disabled, so nobody gets in with it: GitHub. With a user name and password: ann.',
    );
  });

  it('exist for every rule of the schema', () => {
    const set: SentencePolicy = {
      emails: ['a@example.com', 'b@example.com', 'c@example.com', 'd@example.com', 'e@example.com'],
      claims: [
        { claim: 'groups', anyOf: ['staff', 'admins'] },
        { claim: 'org.id', anyOf: ['7'] },
      ],
      basicAuth: [{ name: 'ann', password: '********' }],
      clientCertificate: { authorities: ['…'], names: ['ann', 'bob'] },
      ipAllow: ['192.0.2.0/24'],
      ipDeny: ['192.0.2.7'],
      publicPaths: ['/health', '/static/*'],
      expiresAt: '2025-05-12T00:00:00.000Z',
      rateLimit: { requests: 100, per: 'PT1M' },
      session: { idle: 'PT1H', absolute: 'P1DT12H' },
      allowedOrigins: ['https://www.example.com'],
      allowPreflights: true,
      responseTimeoutSeconds: 90,
      contact: 'ops@example.com',
      cors: {
        origins: ['https://a.example', 'https://b.example'],
        methods: [],
        headers: [],
        exposedHeaders: [],
        credentials: true,
        maxAgeSeconds: 600,
      },
      hsts: { maxAgeSeconds: 31_536_000, includeSubdomains: true, preload: true },
      httpsRedirect: 'never',
    };
    assert.deepEqual(
      [...RULE_FIELDS].sort(),
      Object.keys(sharePolicyReplacementSchema.properties)
        .filter((name) => name !== 'warnings')
        .sort(),
    );
    assert.deepEqual(setRules(set), RULE_FIELDS);
    assert.deepEqual(
      accessSentences(set, undefined, ACCESS_WORDS, FORM).map(({ text }) => text),
      [
        'Only a@example.com, b@example.com, c@example.com or 2 more.',
        'Only members of staff or admins.',
        'Only people whose claim org.id is 7.',
        'With a user name and password: ann.',
        'Every client presents a certificate of a trusted authority, issued to ann or bob.',
        'Only from 192.0.2.0/24.',
        'Not from 192.0.2.7.',
        'Closed since 2025-05-12.',
        'At most 100 requests in 1 minute for each caller.',
        'Everyone can open /health and /static/* without signing in.',
        'Sessions end after 1 hour without use, and after 36 hours at the latest.',
        'Pages of https://www.example.com can send changes for people who are signed in.',
        'CORS preflights reach the service without signing in.',
        'Pages of https://a.example and https://b.example can read responses, and send requests for people who are signed in.',
        'Browsers use only HTTPS for 365 days after each visit, also for names below this one, and may ship with this rule.',
        'Plain HTTP is not redirected to HTTPS.',
        'The service has 90 seconds to respond.',
        'People who are refused see ops@example.com.',
      ],
    );
  });

  it('name a rule of a later version, and leave nothing out', () => {
    const later = { ...DEFAULT_POLICY, warnings: [], countries: ['NZ'], devices: [], isStrict: true };
    assert.equal(
      said(later),
      'The rule countries is set, which this version cannot describe. The rule isStrict is set, which this version cannot describe.',
    );
  });
});
