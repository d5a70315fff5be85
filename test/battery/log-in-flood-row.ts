/**
 * A28: wrong log-ins at the console from 200 networks, 60 and 1,000 a second, beside people with right passwords: from
 * addresses of their own, and many from one address, as in an office.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { JsonClient } from '#net/http';
import { Tally, type BatteryRow } from './battery-row.ts';
import { HeadlessConsole } from './headless-console.ts';
import type { FloodOrder, FloodResult } from './log-in-flood.ts';
import { LogInSender, type LogInAnswer } from './log-in-sender.ts';

const RATES = [60, 1_000];
/** Until a guess of each network was judged. */
const WARM_UP_MS = 8_000;
const MAX_MS = 2_000;
const PASSWORD = 'plum giraffe engine 47';
const OFFICE = '127.90.0.1';
const PEOPLE = 10;
/** People of the office come at once, so many. */
const CROWD = 10;

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
    const sender = new LogInSender(apiUrl!, ca);
    const logIn = (from: string, name: string, password: string) => sender.send(from, { name, password });
    for (const rate of quick ? RATES.slice(0, 1) : RATES) {
      const flood = startFlood({ rate, apiUrl: apiUrl!, ca });
      await pause(WARM_UP_MS);
      const own: LogInAnswer[] = [];
      const shared: LogInAnswer[] = [];
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
      method: 'POST',
      path: '/invitations',
      headers: { authorization },
      body,
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

/** In a thread of its own, so that the people measured do not wait for the flood's own work. */
function startFlood(order: FloodOrder) {
  const worker = new Worker(new URL('./log-in-flood.ts', import.meta.url), { workerData: order });
  return {
    stop: async (): Promise<FloodResult> => {
      worker.postMessage('stop');
      const [result] = (await once(worker, 'message')) as [FloodResult];
      return result;
    },
  };
}
