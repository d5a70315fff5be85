/**
 * A23: no rule that is set is without effect. Every rule of a policy, alone and beside each other one, at shares that
 * nobody, each type of auth provider, HTTP Basic and client certificates guard, and callers with and without each
 * credential: who reaches the service is named by all of the rules. What would admit nobody is refused by the API.
 */
import { definedFields } from '#base';
import { until } from '../support/deadline.ts';
import { startIdentityWorld, ZONE, type IdentityWorld } from '../support/identity-world.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import type { TestIdentity } from '../support/certificates.ts';
import { SESSION_COOKIE } from '../support/visitor.ts';
import { Tally, type BatteryRow, type BatteryRowContext } from './battery-row.ts';

const KEY = 'a-key-of-the-battery';
const PASSWORD = 'a password of the battery';
const PROVIDERS = ['OIDC', 'GOOGLE', 'GITHUB', 'API_KEY'] as const;
const SHARE = 'ruled';
const HOST = `${SHARE}.${ZONE}`;
/** A second share, whose answer shows that changes that were made before have reached the gateway. */
const MARKER = 'marker';
/** Pairs of rules in the quick form, for each guard. */
const QUICK_PAIRS = 2;
const EFFECTIVE_MS = 20_000;

type Policy = Readonly<Record<string, unknown>>;

interface Guard {
  readonly name: string;
  readonly providerIds: readonly string[];
  readonly policy: Policy;
}

interface Caller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly certificate?: { readonly of: string; readonly identity: TestIdentity };
  /** What a correct credential proves. */
  readonly proves?: 'ann' | 'eve' | 'key' | 'basil';
}

export const RULE_EFFECT_ROW: BatteryRow = {
  id: 'A23',
  title: 'no rule of a policy is without effect, and none admits whom it does not name',
  // The row needs people who log in, and certificates of its own.
  hasOwnProduct: true,
  run: async (context) => {
    const tally = new Tally();
    const world = await startIdentityWorld();
    try {
      await world.share(SHARE, []);
      await world.share(MARKER, []);
      const rules = rulesOf(world);
      const marker = new Marker(world);
      for (const guard of await guardsOf(world, rules)) {
        const callers = await callersOf(world, marker, guard);
        for (const names of combinations(context, Object.keys(rules)))
          await judge(tally, { world, marker, callers, guard }, names, rules);
        context.progress(`${guard.name}: ${tally.line('A23', context.seed)}`);
      }
    } finally {
      await world.close();
    }
    return tally;
  },
};

/** Each rule with a value that names Ann, /health, the certificate of Ann or addresses of this machine. */
function rulesOf({ authority }: IdentityWorld): Readonly<Record<string, unknown>> {
  return {
    emails: ['ann@example.com', 'octocat@example.com'],
    claims: [{ claim: 'name', anyOf: ['Ann'] }],
    basicAuth: [{ name: 'basil', password: PASSWORD }],
    clientCertificate: { authorities: [authority.ca], names: ['ann'] },
    ipAllow: ['198.51.100.0/24'],
    ipDeny: ['127.0.0.0/8'],
    publicPaths: ['/health'],
    expiresAt: '2000-01-01T00:00:00.000Z',
    rateLimit: { requests: 1_000, per: 'PT1S' },
    session: { idle: 'PT1H' },
    allowedOrigins: ['https://partner.example'],
    allowPreflights: true,
  };
}

async function guardsOf(world: IdentityWorld, rules: Policy): Promise<readonly Guard[]> {
  const keys = { placement: 'header', name: 'X-Api-Key', keys: [{ name: 'build', key: KEY }] };
  const guards: Guard[] = [{ name: 'nothing', providerIds: [], policy: {} }];
  for (const type of PROVIDERS) {
    const id = await world.addProvider(type, `a23-${type.toLowerCase()}`, type === 'API_KEY' ? keys : {});
    guards.push({ name: type, providerIds: [id], policy: {} });
  }
  for (const rule of ['basicAuth', 'clientCertificate'])
    guards.push({ name: rule, providerIds: [], policy: { [rule]: rules[rule] } });
  return guards;
}

const provesPeople = ({ name }: Guard): boolean => name === 'OIDC' || name === 'GOOGLE' || name === 'GITHUB';

/** Changes reach a gateway in order: when the marker shows its change, those before are in effect. */
class Marker {
  readonly #world: IdentityWorld;
  #isOpen = true;

  constructor(world: IdentityWorld) {
    this.#world = world;
  }

  async reached(): Promise<void> {
    this.#isOpen = !this.#isOpen;
    const wanted = this.#isOpen ? 200 : 403;
    const policy = this.#isOpen ? {} : { expiresAt: '2000-01-01T00:00:00Z' };
    await this.#world.call('PUT', `/shares/${MARKER}/policy`, policy);
    const visitor = this.#world.visitor();
    await until(
      'the gateway has all changes',
      async () => (await visitor.ask(`${MARKER}.${ZONE}`, '/', { navigates: false })).status,
      (status) => status === wanted,
      EFFECTIVE_MS,
    );
  }
}

async function callersOf(world: IdentityWorld, marker: Marker, guard: Guard): Promise<readonly Caller[]> {
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
  await world.call('PUT', `/shares/${SHARE}/policy`, {});
  await world.call('PATCH', `/shares/${SHARE}`, { authProviderIds: guard.providerIds });
  await marker.reached();
  const people: Caller[] = [];
  if (provesPeople(guard))
    for (const [user, proves] of [
      ['ann', 'ann'],
      ['bob', 'eve'],
    ] as const)
      people.push({ name: user, headers: await loggedIn(world, user), proves });
  const all: readonly Caller[] = [
    { name: 'nobody', headers: {} },
    { name: 'a made-up session', headers: { cookie: `${SESSION_COOKIE}=${'x'.repeat(43)}` } },
    ...people,
    { name: 'a key', headers: { 'x-api-key': KEY }, proves: 'key' },
    { name: 'a wrong key', headers: { 'x-api-key': 'wrong' } },
    { name: 'Basil', headers: basic(`basil:${PASSWORD}`), proves: 'basil' },
    { name: 'a wrong password', headers: basic('basil:wrong') },
  ];
  const certificates = await Promise.all(
    ['ann', 'mallory'].map(async (of) => ({ of, identity: await world.authority.issue(of) })),
  );
  return all.flatMap((caller) => [
    caller,
    ...certificates.map((certificate) => ({
      ...caller,
      certificate,
      name: `${caller.name} with the certificate of ${certificate.of}`,
    })),
  ]);
}

async function loggedIn(
  world: IdentityWorld,
  user: 'ann' | 'bob',
): Promise<Readonly<Record<string, string>>> {
  const email = user === 'ann' ? 'octocat@example.com' : 'bob@elsewhere.test';
  world.github.user = { id: user === 'ann' ? 1 : 2, login: user, name: user === 'ann' ? 'Ann' : 'Bob' };
  world.github.emails = [{ email, primary: true, verified: true }];
  const visitor = world.visitor();
  await visitor.logIn(HOST, '/', user);
  const session = visitor.cookie(HOST);
  if (session === undefined) throw new Error(`${user} has no session`);
  return { cookie: `${SESSION_COOKIE}=${session}` };
}

function combinations({ quick, seed }: BatteryRowContext, names: readonly string[]): readonly string[][] {
  const pairs = names.flatMap((one, at) => names.slice(at + 1).map((other) => [one, other]));
  const random = new SeededRandom(seed);
  const some = quick ? Array.from({ length: QUICK_PAIRS }, () => random.pick(pairs)) : pairs;
  return [...names.map((name) => [name]), ...some];
}

interface Scene {
  readonly world: IdentityWorld;
  readonly marker: Marker;
  readonly callers: readonly Caller[];
  readonly guard: Guard;
}

async function judge(
  tally: Tally,
  { world, marker, callers, guard }: Scene,
  names: readonly string[],
  rules: Policy,
): Promise<void> {
  const policy = { ...guard.policy, ...Object.fromEntries(names.map((name) => [name, rules[name]])) };
  const said = `${names.join(' and ')} at ${guard.name}`;
  const { status, text } = await world.parts.call('PUT', `/shares/${SHARE}/policy`, policy);
  const isOfPeople = 'emails' in policy || 'claims' in policy;
  const wanted = isOfPeople && !provesPeople(guard) ? 409 : 200;
  if (!tally.check(status === wanted, `${said} gets ${wanted} of the API`, () => text) || status !== 200)
    return;
  await marker.reached();
  const some = callers.filter(
    ({ certificate }) => certificate === undefined || 'clientCertificate' in policy,
  );
  for (const caller of some)
    for (const path of ['/', '/health']) {
      const before = world.origin.hits(HOST);
      const { headers, certificate } = caller;
      const asked = definedFields({ headers, navigates: false, clientCertificate: certificate?.identity });
      const answer = await world.visitor().ask(HOST, path, asked);
      const isServed = world.origin.hits(HOST) > before;
      const isNamed = isAdmitted(policy, guard, caller, path);
      tally.check(isServed === isNamed, `${said}: ${caller.name} at ${path}`, () => `${answer.status}`);
    }
}

/** The specification, in other words than the product's. */
function isAdmitted(policy: Policy, guard: Guard, { proves, certificate }: Caller, path: string): boolean {
  if ('expiresAt' in policy || 'ipAllow' in policy || 'ipDeny' in policy) return false;
  if ('clientCertificate' in policy && certificate?.of !== 'ann') return false;
  if ('publicPaths' in policy && path === '/health') return true;
  if (guard.providerIds.length === 0 && !('basicAuth' in policy)) return true;
  if (proves === 'basil') return 'basicAuth' in policy;
  if (proves === 'key') return guard.name === 'API_KEY';
  if (proves === undefined) return false;
  return proves === 'ann' || !('emails' in policy || 'claims' in policy);
}
