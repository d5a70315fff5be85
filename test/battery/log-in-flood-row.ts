/**
 * A28: wrong log-ins at the console from 200 networks, 60 and 1,000 a second, beside people with right passwords: from
 * addresses of their own, and many from one address, as in an office.
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { JsonClient } from '#net';
import { Tally, type BatteryRow } from './battery-row.ts';
import { HeadlessConsole } from './headless-console.ts';

const NETWORKS = 200;
const RATES = [60, 1_000];
/** Until a guess of each network was judged. */
const WARM_UP_MS = 8_000;
const MAX_MS = 2_000;
const PASSWORD = 'plum giraffe engine 47';
const OFFICE = '127.90.0.1';
const PEOPLE = 10;
/** Beyond that the flood leaves log-ins out, as its sender would have to. */
const MAX_OPEN = 4_000;
/** People of the office come at once, so many. */
const CROWD = 10;

interface Answered {
  readonly status: number;
  readonly tookMs: number;
}

export const LOG_IN_FLOOD_ROW: BatteryRow = {
  id: 'A28',
  title: 'wrong log-ins of many networks keep nobody else out',
  run: async ({ quick, note, progress }, { parts }) => {
    const tally = new Tally();
    const { apiUrl, accountId, apiToken } = parts.control.ready as unknown as Record<string, string>;
    const ca = readFileSync(join(parts.folder, 'api-ca.pem'), 'utf8');
    const client = new JsonClient({ origin: apiUrl!, ca });
    const emails = await people(client, apiUrl!, `Basic ${accountId}:${apiToken}`);
    await client.close();
    const logIn = (from: string, name: string, password: string) =>
      answerOf(apiUrl!, ca, from, { name, password });
    for (const rate of quick ? RATES.slice(0, 1) : RATES) {
      const flood = startFlood(rate, (from, name) => logIn(from, name, 'a wrong password'));
      await pause(WARM_UP_MS);
      const own: Answered[] = [];
      const shared: Answered[] = [];
      const rounds = quick ? 2 : 10;
      for (let round = 0; round < rounds; round += 1) {
        progress(`${rate}/s, round ${round + 1} of ${rounds}`);
        const crowd = Array.from({ length: CROWD }, (_, at) => logIn(OFFICE, emails[at % PEOPLE]!, PASSWORD));
        for (let at = 0; at < CROWD; at += 1)
          own.push(await logIn(`127.80.${round}.${at + 1}`, emails[at % PEOPLE]!, PASSWORD));
        shared.push(...(await Promise.all(crowd)));
      }
      const { sent, statuses } = await flood.stop();
      for (const [name, answers] of Object.entries({ 'own addresses': own, 'one address': shared })) {
        for (const { status, tookMs } of answers)
          tally.check(
            status === 303 && tookMs <= MAX_MS,
            `${rate}/s, ${name}`,
            () => `${status} after ${Math.round(tookMs)} ms`,
          );
        const times = answers.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
        const [middle, last] = [times[times.length >> 1]!, times.at(-1)!];
        note(`${rate}/s, ${name}: half within ${Math.round(middle)} ms, all within ${Math.round(last)} ms`);
      }
      note(`${rate}/s: ${sent} wrong log-ins were answered ${JSON.stringify(statuses)}`);
    }
    return tally;
  },
};

/** Returns e-mail addresses of people with the password. */
async function people(client: JsonClient, apiUrl: string, authorization: string): Promise<string[]> {
  const emails: string[] = [];
  for (let at = 0; at < PEOPLE; at += 1) {
    const body = { name: 'Ann', role: 'reader' };
    const made = await client.request({
      ...{ method: 'POST', path: '/invitations', headers: { authorization }, body },
    });
    const code = (made.json as { link: string }).link.split('#')[1]!;
    const email = `${crypto.randomUUID()}@example.com`;
    const form = { code, name: 'Ann', email, password: PASSWORD };
    const status = await new HeadlessConsole(client, apiUrl).post('/welcome', form);
    if (status !== 303) throw new Error(`an invitation was answered ${status}`);
    emails.push(email);
  }
  return emails;
}

/** Each log-in has a connection of its own. The status is 0 if that is closed without an answer. */
function answerOf(
  apiUrl: string,
  ca: string,
  localAddress: string,
  fields: Readonly<Record<string, string>>,
): Promise<Answered> {
  const startedMs = performance.now();
  const { promise, resolve } = Promise.withResolvers<Answered>();
  const end = (status: number) => resolve({ status, tookMs: performance.now() - startedMs });
  const { hostname: host, port, origin } = new URL(apiUrl);
  const headers = { origin, 'content-type': 'application/x-www-form-urlencoded', host: `${host}:${port}` };
  const sent = request(
    {
      ...{ host: '127.0.0.1', servername: host, port, path: '/console/log-in', method: 'POST', ca },
      ...{ agent: false, localAddress, headers, timeout: 30_000, checkServerIdentity: () => undefined },
    },
    (answer) => {
      answer.resume().once('end', () => end(answer.statusCode ?? 0));
      answer.once('error', () => end(0));
    },
  );
  sent.once('timeout', () => sent.destroy()).once('error', () => end(0));
  sent.end(new URLSearchParams(fields).toString());
  return promise;
}

function startFlood(rate: number, guess: (from: string, name: string) => Promise<Answered>) {
  const statuses: Record<number, number> = {};
  const running = new Set<Promise<void>>();
  const startedMs = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedMs) / 1_000) * rate);
    for (; sent < due; sent += 1) {
      if (running.size >= MAX_OPEN) continue;
      const guessed = guess(`127.70.${sent % NETWORKS}.1`, `guess-${sent}@example.com`).then(({ status }) => {
        statuses[status] = (statuses[status] ?? 0) + 1;
        running.delete(guessed);
      });
      running.add(guessed);
    }
  }, 10);
  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(running);
      return { sent, statuses };
    },
  };
}
