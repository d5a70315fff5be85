// What an explanation says of a request that is not sent is what becomes of the request when it is.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { compileRules, explainAccess, type AccessRules, type ExplainedRequest } from '#domain/access';
import type { GatewayProvider } from '#domain/gateway-shapes';
import {
  makeTestAuthority,
  type TestAuthority,
  type TestIdentity,
} from '../../../test/support/certificates.ts';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import {
  AccessWorld,
  BROWSER_LINE,
  keyProviderOf,
  keyRecord,
  providerOf,
  rulesOf,
} from '../testing/access-world.ts';
import { basicLine, cheapHashOf } from '../testing/basic-credentials.ts';
import { personOf } from '../testing/scripted-control.ts';
import { effort } from '../../../test/support/test-part.ts';
import { TEST_SEED } from '../../../test/support/test-seed.ts';

const ALL_ROUNDS = 500;
const ROUNDS = effort(ALL_ROUNDS);
const MANY_WRONG = { requests: 100_000, perMs: 1_000 };
const BASIL = cheapHashOf('a password');
const PARTNER = 'https://partner.example';

describe('an explanation', () => {
  let world: AccessWorld;
  let authority: TestAuthority;
  let laptop: TestIdentity;
  let stranger: TestIdentity;
  before(async () => {
    authority = await makeTestAuthority();
    world = await AccessWorld.start(
      { limits: { wrongRate: MANY_WRONG, wrongPasswordRate: MANY_WRONG } },
      { clientAuthorities: () => [authority.ca] },
    );
    await world.serve('app');
    laptop = await authority.issue('laptop');
    stranger = await authority.issue('stranger');
  });
  after(() => world.close());

  it('agrees with the gateway, whatever the rules, the providers and the request', async () => {
    const random = new SeededRandom(TEST_SEED);
    const decisions = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const said = `FRONTDOOR_TEST_SEED=${TEST_SEED}, round ${round}`;
      world.advance(60_000);
      const nowMs = world.clock.nowMs();
      const rules = rulesOf(randomRules(random, nowMs, authority.ca));
      const providers = randomProviders(random, nowMs);
      world.setProviders(...providers);
      const authProviderIds = providers.map(({ id }) => id);
      world.publish('app', { rules, authProviderIds, updatedAtMs: round + 2 });
      const question = randomQuestion(random, nowMs);
      const known = providers.map(({ id, name, type, enabled, apiKeys }) => ({
        id,
        name,
        type,
        enabled,
        keys: apiKeys?.keys ?? [],
      }));
      const expected = explainAccess(compileRules(rules), known, question);
      const context = `${said}: ${JSON.stringify({ rules, known, question, expected })}`;
      const hits = world.hits('app');
      const answer = await world.ask('app', {
        path: question.target,
        method: question.method,
        isPlain: !question.isSecure,
        lines: linesOf(world, question),
        identity: question.certificateName === 'laptop' ? laptop : stranger,
      });
      const wasServed = world.hits('app') > hits;
      const isOwn = expected.reason === 'own-path';
      assert.equal(wasServed, expected.decision === 'allow' && expected.status === null && !isOwn, context);
      if (!isOwn) assert.equal(answer.status, expected.status ?? 200, context);
      decisions.set(expected.reason, (decisions.get(expected.reason) ?? 0) + 1);
    }
    if (ROUNDS < ALL_ROUNDS) return;
    for (const reason of [
      'network',
      'public-path',
      'session',
      'login',
      'path-ambiguous',
      'email-not-allowed',
      'other-origin',
      'preflight',
      'cors-preflight',
      'person-unprovable',
      'basic basil',
      'certificate-not-allowed',
    ])
      assert.ok(decisions.has(reason), `FRONTDOOR_TEST_SEED=${TEST_SEED} never came to ${reason}`);
  });
});

function randomRules(random: SeededRandom, nowMs: number, authority: string): Partial<AccessRules> {
  const maybe = <T>(value: T, otherwise: T): T => (random.int(4) === 0 ? value : otherwise);
  return {
    emails: random.int(3) > 0 ? [random.pick(['*@example.com', 'bob@example.com'])] : [],
    claims: maybe([{ claim: 'groups', anyOf: [random.pick(['staff', 'ops'])] }], []),
    basicAuth: maybe([{ name: 'basil', passwordHash: BASIL }], []),
    clientCertificate: maybe({ authorities: [authority], names: ['laptop'] }, null),
    publicPaths: maybe(['/public/*', '/health'], []),
    ip: {
      allow: maybe([random.pick(['127.0.0.0/8', '10.0.0.0/8'])], []),
      deny: random.int(12) === 0 ? ['127.0.0.1'] : [],
    },
    expiresAtMs: maybe(nowMs + random.pick([-1, 0, 1_000_000]), null),
    allowedOrigins: random.int(2) === 0 ? [PARTNER] : [],
    allowPreflights: random.int(2) === 0,
    cors: maybe(
      {
        origins: [PARTNER],
        methods: ['PUT'],
        headers: [],
        exposedHeaders: [],
        credentials: random.int(2) === 0,
        maxAgeS: 5,
      },
      null,
    ),
  };
}

function randomProviders(random: SeededRandom, nowMs: number): GatewayProvider[] {
  const enabled = () => random.int(4) > 0;
  return [
    ...(random.int(3) > 0 ? [providerOf('idp', { enabled: enabled() })] : []),
    ...(random.int(4) === 0 ? [providerOf('hub', { type: 'GITHUB', enabled: enabled() })] : []),
    ...(random.int(3) === 0
      ? [
          keyProviderOf(
            'keys',
            { keys: [keyRecord('build', 'a-key'), keyRecord('old', 'old-key', nowMs)] },
            { enabled: enabled() },
          ),
        ]
      : []),
  ];
}

function randomQuestion(random: SeededRandom, nowMs: number): ExplainedRequest {
  const kind = random.pick(['nobody', 'nobody', 'person', 'person', 'key', 'basic'] as const);
  const email = random.pick(['ann@example.com', 'bob@example.com', 'eve@evil.example', null]);
  const groups = random.pick([['staff'], ['ops', 'x'], []]);
  const methods = kind === 'person' ? ['GET', 'POST', 'POST', 'POST'] : ['GET', 'GET', 'POST', 'OPTIONS'];
  const method = random.pick(methods);
  const isPreflight = method === 'OPTIONS' && random.int(2) === 0;
  // A session is of TLS alone, and so is a certificate.
  const isSecure = kind === 'person' || random.int(2) === 0;
  const origins = ['https://app.share.localhost', PARTNER, 'https://other.share.localhost'];
  return {
    host: 'app.share.localhost',
    method,
    isPreflight,
    origin: isPreflight || random.int(4) > 0 ? random.pick(origins) : undefined,
    target: random.pick(['/', '/a?b', '/health', '/public/x', '/public/../x', '/a//b', '/.frontdoor/other']),
    address: '127.0.0.1',
    isSecure,
    nowMs,
    providerId: kind === 'person' ? 'idp' : undefined,
    person: kind === 'person' ? { email, groups, claims: {} } : undefined,
    keyName: kind === 'key' ? random.pick(['build', 'old', 'none']) : undefined,
    basicUser: kind === 'basic' ? random.pick(['basil', 'eve']) : undefined,
    certificateName: isSecure ? random.pick(['laptop', 'laptop', 'stranger']) : undefined,
  };
}

const KEY_OF: Readonly<Record<string, string>> = { build: 'a-key', old: 'old-key', none: 'no-key' };

/** The question as it is asked for real. */
function linesOf(world: AccessWorld, question: ExplainedRequest): readonly string[] {
  const { origin, isPreflight } = question;
  return [
    ...credentialsOf(world, question),
    ...(origin === undefined ? [] : [`Origin: ${origin}`]),
    ...(isPreflight ? ['Access-Control-Request-Method: PUT'] : []),
  ];
}

function credentialsOf(
  world: AccessWorld,
  { method, person, keyName, basicUser }: ExplainedRequest,
): readonly string[] {
  if (basicUser !== undefined) return [basicLine(basicUser, 'a password')];
  const browser = keyName === undefined && method === 'GET' ? [BROWSER_LINE] : [];
  if (keyName !== undefined) return [`X-Api-Key: ${KEY_OF[keyName]!}`];
  if (person === undefined) return browser;
  const identity = personOf('idp', person);
  return [world.sessionLine('app', 'idp', { identity })];
}
