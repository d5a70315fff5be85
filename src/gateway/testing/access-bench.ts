/**
 * Measures the cost of access decisions from memory by kind of credential: nanoseconds of CPU per request, in
 * addition to parsing its head. Run: node src/gateway/testing/access-bench.ts [requests].
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { silentLog } from '#base';
import { compileRules, OPEN_RULES, type AccessRules } from '#domain/access';
import { GatewayAccess } from '../access/gateway-access.ts';
import { SESSION_COOKIE } from '../access/own-cookies.ts';
import { NO_PROOF } from '../certificates/client-certificate.ts';
import { readRequestHead, RequestHead } from '../http/request-head-policy.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import { HostEntry, ShareRoute } from '../shares/share-route.ts';
import { ShareTraffic, TrafficMeter } from '../traffic/share-traffic.ts';
import { RoutePool, type GatewayHost } from '../circuits/upstream.ts';
import { KEYS, keyProviderOf, keyRecord, providerOf } from './access-world.ts';
import { shareOf } from './gateway-world.ts';
import { ScriptedControl } from './scripted-control.ts';

const requests = Number(process.argv[2] ?? 300_000);
const ROUNDS = 5;
const HOST = 'app.share.localhost';
const LINES = [
  `Host: ${HOST}`,
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  'Accept: text/html,application/xhtml+xml,*/*;q=0.8',
  'Accept-Encoding: gzip, deflate, br',
  'Accept-Language: en',
];

function hostWith(authProviderIds: readonly string[], rules: Partial<AccessRules> | null): GatewayHost {
  const share = shareOf('app', {
    authProviderIds,
    rules: rules === null ? null : { ...OPEN_RULES, ...rules },
  });
  return new HostEntry(
    { host: HOST, authProviderIds },
    new ShareRoute(
      share,
      compileRules(share.rules),
      () => new RoutePool(new ShareTraffic(new TrafficMeter(), share)),
    ),
  );
}

const control = new ScriptedControl(() => Date.now());
const access = new GatewayAccess({ control, publicHttpsPort: () => 443, log: silentLog });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const jwk = { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'k' } as Record<string, unknown>;
const tokens = { issuer: 'https://idp.example', audience: 'c', algorithms: ['RS256'], keys: [jwk] };
const keys = keyProviderOf('keys', { keys: [keyRecord('bench', 'a-key-of-usual-length-0123456789')] });
access.replaceAll({ providers: [providerOf('idp', { tokens }), keys], zones: [], keys: KEYS });
access.onContact();

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const claims = {
  iss: 'https://idp.example',
  aud: 'c',
  sub: 's',
  exp: Math.floor(Date.now() / 1_000) + 3_600,
  note: randomBytes(300).toString('hex'),
};
const signed = `${encode({ alg: 'RS256', kid: 'k' })}.${encode(claims)}`;
const token = `${signed}.${sign('sha256', Buffer.from(signed), rsa.privateKey).toString('base64url')}`;
const session = control.openSession({ shareId: 'id-app', host: HOST, providerId: 'idp' });

const client: ClientFacts = {
  ...NO_PROOF,
  address: '127.0.0.1',
  isSecure: true,
  isTrustedProxy: false,
  onlyHost: HOST,
  isMistaken: false,
  acceptedAtMs: 0,
};

const CASES: readonly (readonly [name: string, host: GatewayHost, line: string])[] = [
  ['open share', hostWith([], null), ''],
  ['rules on the network', hostWith([], { ip: { allow: ['127.0.0.0/8'], deny: ['10.0.0.0/8'] } }), ''],
  ['public path', hostWith(['keys'], { publicPaths: ['/*'] }), ''],
  ['seen API key', hostWith(['keys'], null), 'X-Api-Key: a-key-of-usual-length-0123456789'],
  ['seen session', hostWith(['idp'], null), `Cookie: ${SESSION_COOKIE}=${session}`],
  [
    'seen session beside other cookies',
    hostWith(['idp'], null),
    `Cookie: theme=dark; ${SESSION_COOKIE}=${session}; lang=en`,
  ],
  [
    'seen session, e-mail rule, rate limit',
    hostWith(['idp'], { emails: ['*@example.com'], rateLimit: { requests: 1e9, perMs: 1_000 } }),
    `Cookie: ${SESSION_COOKIE}=${session}`,
  ],
  ['seen token', hostWith(['idp'], null), `Authorization: Bearer ${token}`],
];

for (const [name, host, line] of CASES) {
  const text = `GET /some/path?with=query HTTP/1.1\r\n${[...LINES, ...(line === '' ? [] : [line])].join('\r\n')}\r\n\r\n`;
  // Decoded from bytes for each request, as from the wire, so that no string is shared.
  const bytes = Buffer.from(text, 'latin1');
  const head = new RequestHead();
  /** Nanoseconds of CPU, since other programs may use the machine too. */
  const run = async (decides: boolean): Promise<number> => {
    access.onContact();
    const before = process.cpuUsage();
    for (let i = 0; i < requests; i += 1) {
      const problem = readRequestHead(bytes.toString('latin1'), 100, head);
      if (problem !== undefined) throw new Error(problem);
      if (!decides) continue;
      const verdict = access.decide(host, head, client);
      const settled = verdict instanceof Promise ? await verdict : verdict;
      if (settled.type !== 'admit') throw new Error(`${name}: ${settled.decision}`);
    }
    const { user, system } = process.cpuUsage(before);
    return ((user + system) * 1_000) / requests;
  };
  await run(true);
  await run(false);
  const costs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const without = await run(false);
    costs.push((await run(true)) - without);
  }
  const sorted = costs.toSorted((a, b) => a - b);
  process.stdout.write(
    `${name}: ${sorted[ROUNDS >> 1]!.toFixed(0)} ns a request (${sorted[0]!.toFixed(0)} to ${sorted.at(-1)!.toFixed(0)})\n`,
  );
}
await access.close();
