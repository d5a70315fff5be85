/**
 * A20: wrong keys, tokens and passwords at one tenant's share lock nobody out of another's, from the same address; wrong
 * secrets of one account at the token endpoint lock no other account out. First uses of good ones are not slower than
 * others, nor refused.
 */
import { request as httpRequest } from 'node:http';
import { httpGet } from '../support/world.ts';
import { hostOf, type BatteryProduct } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { RawOrigin } from './raw-origin.ts';
import { startSecondTenant } from './second-tenant.ts';
import { until } from '../support/deadline.ts';
import type { JsonAnswer } from '#net/http';

const GOOD_KEYS = 100;
const WRONG = 1_000;
/** Requests at once. */
const WIDTH = 20;

export const WRONG_CREDENTIAL_ROW: BatteryRow = {
  id: 'A20',
  title: 'one tenant’s wrong credentials lock nobody else out',
  run: async (context, product) => {
    const tally = new Tally();
    const origin = await RawOrigin.start();
    const other = await startSecondTenant(product, 'a20');
    try {
      await product.share('a20-a', origin.port);
      await product.share('a20-b', origin.port, other.agentSocket);
      const goodKeys = Array.from({ length: GOOD_KEYS }, (_, i) => `good-key-of-a20-${context.seed}-${i}`);
      const keys = goodKeys.map((key, i) => ({ name: `k${i}`, key }));
      await guard((path, body) => product.parts.call('POST', path, body), product.parts.call, 'a20-a', keys);
      await guard((path, body) => other.call('POST', path, body), other.call, 'a20-b', [{ name: 'k' }]);
      for (const name of ['a20-a', 'a20-b'])
        await until(
          `${name} is guarded`,
          async () => (await httpGet(product.parts.port, hostOf(name), '/')).status,
          (status) => status === 401,
        );
      const statuses = new Map<number, number>();
      const shown = [
        (i: number) => ({ 'x-api-key': `wrong-${i}` }),
        (i: number) => ({ 'x-api-key': `wrong-${i}` }),
        (i: number) => ({ authorization: `Bearer wrong-${i}` }),
        (i: number) => ({ authorization: `Basic ${Buffer.from(`ann:wrong-${i}`).toString('base64')}` }),
      ];
      await inTurns(WRONG, async (i) => {
        const status = await statusOf(product, 'a20-b', shown[i % shown.length]!(i));
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      });
      tally.check((statuses.get(429) ?? 0) > 0, 'wrong ones are limited where they come', () =>
        JSON.stringify([...statuses]),
      );
      tally.check((statuses.get(200) ?? 0) === 0, 'none of them gets in');
      let good = 0;
      await inTurns(GOOD_KEYS, async (i) => {
        if ((await statusOf(product, 'a20-a', { 'x-api-key': goodKeys[i]! })) === 200) good += 1;
      });
      tally.count(good, GOOD_KEYS - good, 'first uses of good keys at another share');
      await checkTokens(tally, product, other);
    } finally {
      await other.stop();
      await origin.close();
    }
    return tally;
  },
};

type Call = BatteryProduct['parts']['call'];

async function guard(
  make: (path: string, body: object) => Promise<JsonAnswer>,
  call: Call,
  share: string,
  keys: readonly object[],
): Promise<void> {
  const data = { placement: 'header', name: 'X-Api-Key', keys };
  const made = await make('/auth-providers', { name: share, type: 'API_KEY', data });
  if (made.status !== 201) throw new Error(made.text);
  const authProviderIds = [(made.json as { id: string }).id];
  const changed = await call('PATCH', `/shares/${share}`, { authProviderIds });
  if (changed.status !== 200) throw new Error(changed.text);
}

/** Below the limit of all requests of an address, so that what is limited is limited for being wrong. */
const WRONG_SECRETS = 60;

async function checkTokens(
  tally: Tally,
  { parts }: BatteryProduct,
  other: Awaited<ReturnType<typeof startSecondTenant>>,
): Promise<void> {
  const { organizationId } = other;
  const make = async (name: string) => {
    const { json } = await other.administer('POST', '/oauth-clients', { name, organizationId });
    return json as { id: string; secret: string };
  };
  const [attacked, first] = [await make('attacked'), await make('first')];
  const { apiUrl } = parts.control.ready;
  const token = async ({ id, secret }: { id: string; secret: string }): Promise<number> => {
    const body = {
      grant_type: 'client_credentials',
      audience: `${apiUrl}/frontdoor`,
      client_id: id,
      client_secret: secret,
    };
    return (await other.issueToken(body)).status;
  };
  const wrong: number[] = [];
  for (let i = 0; i < WRONG_SECRETS; i += 1) wrong.push(await token({ ...attacked, secret: `wrong-${i}` }));
  tally.check(wrong.includes(429), 'wrong secrets of one client are limited', () => wrong.join(' '));
  const status = await token(first);
  tally.check(status === 200, 'the first log-in of another client from there', () => String(status));
}

async function inTurns(count: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work((next += 1) - 1);
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
}

async function statusOf(
  { parts }: BatteryProduct,
  share: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const request = httpRequest(
    { host: '127.0.0.1', port: parts.port, path: '/', headers: { ...headers, host: hostOf(share) } },
    (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    },
  );
  request.on('error', reject);
  request.end();
  return promise;
}
