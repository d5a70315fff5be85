/**
 * A9: the time of a refusal does not reveal how close a guessed secret was, nor whether the name before it exists.
 * Two classes of wrong credentials in random order over kept connections, compared by Welch's t of the faster nine
 * tenths.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { startIdentityWorld, type IdentityWorld } from '../support/identity-world.ts';
import { KeepAliveClient, type ClientTarget } from '../support/keep-alive-client.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import type { ControlReady } from '../support/separate.ts';
import { SESSION_COOKIE } from '../support/visitor.ts';
import { Tally, type BatteryRow, type BatteryRowContext } from './battery-row.ts';

const MAX_T = 4.5;
const KEPT_PART = 0.9;
/** Below what one address may try in vain. */
const ASKS_AN_ADDRESS = 150;
const PASSWORDS_AN_ADDRESS = 8;
const QUICK_PART = 0.02;
/** How many of a secret's 43 characters are guessed right. */
const NEAR = 32;

interface Comparison {
  readonly name: string;
  readonly samples: number;
  readonly asksAnAddress: number;
  readonly target: ClientTarget;
  /** The head of a request that is refused with 401, of one class or the other. */
  readonly request: (isSecond: boolean) => string;
  /** Instead of the bound of t: what the means may differ by. */
  readonly maxDifferenceMs?: number;
}

export const TIMING_ROW: BatteryRow = {
  id: 'A9',
  title: 'the time of a refusal reveals nothing about the secret',
  // The product of the battery has no identity provider: this row starts its own.
  hasOwnProduct: true,
  run: async (context) => {
    const tally = new Tally();
    const world = await startIdentityWorld();
    try {
      for (const comparison of await comparisons(world)) await compare(tally, context, comparison);
    } finally {
      await world.close();
    }
    return tally;
  },
};

async function comparisons(world: IdentityWorld): Promise<Comparison[]> {
  const key = text();
  const keys = await world.addProvider('API_KEY', 'keys', {
    placement: 'header',
    name: 'X-Api-Key',
    keys: [{ name: 'a', key }],
  });
  const keyed = await world.share('keyed', [keys]);
  const people = await world.share('people', [await world.addProvider('OIDC', 'staff')]);
  const named = await world.share('named', [keys], { basicAuth: [{ name: 'ann', password: text() }] });
  const visitor = world.visitor();
  await visitor.logIn(people, '/', 'ann');
  const session = visitor.cookie(people)!;
  const { folder, frontdoorId, control } = world.parts;
  const { accountId } = control.ready as ControlReady & { readonly accountId: string };
  const api = new URL(control.ready.apiUrl);

  const plain = (): ClientTarget => ({ port: world.plainPort });
  const secure = (host: string): ClientTarget => ({
    port: world.securePort,
    tls: { servername: host, ca: world.ca },
  });
  const get = (host: string, line: string, path = '/'): string =>
    `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${line}\r\n\r\n`;
  const pair = (name: string): string => Buffer.from(`${name}:${text()}`).toString('base64');
  const basic = { asksAnAddress: PASSWORDS_AN_ADDRESS, target: plain() };
  const tokens = {
    samples: 20_000,
    asksAnAddress: ASKS_AN_ADDRESS,
    target: {
      port: Number(api.port),
      tls: { servername: 'localhost', ca: readFileSync(join(folder, 'api-ca.pem'), 'utf8') },
    },
  };
  const stranger = randomUUID();
  const tokenOf = (id: string): string =>
    get(api.host, `Authorization: Basic ${id}:${text()}`, `/frontdoor/${frontdoorId}`);
  return [
    {
      name: 'API keys that share three quarters with the right one, and others',
      samples: 200_000,
      asksAnAddress: ASKS_AN_ADDRESS,
      target: plain(),
      request: (isSecond) => get(keyed, `X-Api-Key: ${isSecond ? text() : nearTo(key)}`),
    },
    {
      name: 'sessions that share three quarters with one, and others',
      samples: 20_000,
      asksAnAddress: ASKS_AN_ADDRESS,
      target: secure(people),
      request: (isSecond) => get(people, `Cookie: ${SESSION_COOKIE}=${isSecond ? text() : nearTo(session)}`),
    },
    {
      name: 'passwords of a name that is there, and of others',
      samples: 1_000,
      ...basic,
      request: (isSecond) => get(named, `Authorization: Basic ${pair(isSecond ? 'eve' : 'ann')}`),
    },
    {
      ...tokens,
      name: 'API tokens of an account that is there, and of one that is not',
      request: (isSecond) => tokenOf(isSecond ? stranger : accountId),
    },
    {
      ...tokens,
      name: 'API tokens of an account that is there, and of ones never asked for before',
      // That they are noted and counted for themselves shows in microseconds; a look at the store would in more.
      maxDifferenceMs: 0.02,
      request: (isSecond) => tokenOf(isSecond ? randomUUID() : accountId),
    },
  ];
}

async function compare(
  tally: Tally,
  { quick, seed, note }: BatteryRowContext,
  comparison: Comparison,
): Promise<void> {
  const { name, asksAnAddress, target, request } = comparison;
  const samples = quick ? Math.max(100, comparison.samples * QUICK_PART) : comparison.samples;
  const random = new SeededRandom(seed);
  const times: [number[], number[]] = [[], []];
  let others = 0;
  for (let done = 0; done < samples;) {
    const client = await KeepAliveClient.open({ ...target, localAddress: nextAddress() });
    try {
      for (let i = 0; i < asksAnAddress && done < samples; i += 1, done += 1) {
        const isSecond = random.int(2) === 1;
        const text = request(isSecond);
        const startedMs = performance.now();
        const { status } = await client.ask(text);
        const tookMs = performance.now() - startedMs;
        if (status !== 401) others += 1;
        // The first of a connection pays for what is made once.
        if (i > 0) times[isSecond ? 1 : 0].push(tookMs);
      }
    } finally {
      client.close();
    }
  }
  tally.check(others === 0, `${name}: refused alike`, () => `${others} of ${samples} were not 401`);
  const t = welch(...cropped(times));
  note(`${name}: t ${t.toFixed(2)} of ${samples}, means ${means(times)} ms`);
  const { maxDifferenceMs } = comparison;
  if (maxDifferenceMs === undefined) {
    tally.check(Math.abs(t) < MAX_T, `${name}: |t| < ${MAX_T}`, () => `t ${t.toFixed(2)}`);
    return;
  }
  const [first, second] = cropped(times).map(mean);
  const differenceMs = Math.abs(first! - second!);
  const bound = `${name}: less than ${maxDifferenceMs * 1_000} µs apart`;
  tally.check(differenceMs < maxDifferenceMs, bound, () => `${(differenceMs * 1_000).toFixed(0)} µs`);
}

/** Without what took long for reasons of the machine: one bound for both. */
function cropped([a, b]: readonly [number[], number[]]): [number[], number[]] {
  const sorted = [...a, ...b].sort((x, y) => x - y);
  const bound = sorted[Math.floor(sorted.length * KEPT_PART)] ?? Infinity;
  return [a.filter((value) => value < bound), b.filter((value) => value < bound)];
}

function welch(a: readonly number[], b: readonly number[]): number {
  const [meanA, meanB] = [mean(a), mean(b)];
  const spread = variance(a, meanA) / a.length + variance(b, meanB) / b.length;
  return spread === 0 ? 0 : (meanA - meanB) / Math.sqrt(spread);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function variance(values: readonly number[], around: number): number {
  return values.reduce((sum, value) => sum + (value - around) ** 2, 0) / (values.length - 1);
}

function means([a, b]: readonly [number[], number[]]): string {
  const [keptA, keptB] = cropped([a, b]);
  return `${mean(keptA).toFixed(4)} and ${mean(keptB).toFixed(4)}`;
}

let addresses = 0;

function nextAddress(): string {
  addresses += 1;
  return `127.${10 + (addresses >> 16)}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

/** 43 characters, as keys, cookies and tokens have them. */
function text(): string {
  return randomBytes(32).toString('base64url');
}

function nearTo(secret: string): string {
  return secret.slice(0, NEAR) + text().slice(0, secret.length - NEAR);
}
