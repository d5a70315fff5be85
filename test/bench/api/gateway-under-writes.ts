/**
 * Whether the gateway feels the API's writes: the p99 of a steady 1,000 requests a second through `frontdoor up`, with
 * 500 acknowledged writes a second in the same process and without. Both rates are fixed: a load that takes all that it
 * can get would only show that the machine has so many cores.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { FirstStart } from '#control';
import { findCommand } from '../bench-process.ts';
import { figureOf, interleave } from '../figure.ts';
import { startNginx } from '../nginx-peer.ts';
import { startUp } from '../product.ts';
import { basicOf } from './api-server.ts';
import { startSteadyLoad, type SteadyLoad, type SteadyResult } from './steady-load-process.ts';

const REQUESTS_PER_SECOND = 1_000;
const WRITES_PER_SECOND = 500;
/** A writer that keeps up; below it, the figure would speak of fewer writes than it says. */
const LEAST_WRITES_PER_SECOND = 0.9 * WRITES_PER_SECOND;

/** The p99 with the writes, as a multiple of the one without; undefined when nginx is not there. */
export async function measureGatewayUnderWrites(
  folder: string,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
  tell: (text: string) => void,
): Promise<number | undefined> {
  if (findCommand('nginx') === undefined) {
    tell('not measured: the gateway under writes (nginx is not there)');
    return undefined;
  }
  tell('the gateway with 500 writes/s beside it, and without');
  const own = join(folder, 'gateway');
  mkdirSync(own);
  const nginx = await startNginx(own, 1_048_576);
  const { product } = await startUp({
    folder: own,
    servicePort: nginx.servicePort,
    cpuProfileDir: undefined,
  });
  try {
    const ready = JSON.parse(readFileSync(join(own, 'ready.json'), 'utf8')) as FirstStart & {
      apiUrl: string;
    };
    const requests: SteadyLoad = {
      url: `http://127.0.0.1:${product.port}/small`,
      method: 'GET',
      headers: { host: product.host },
      perSecond: REQUESTS_PER_SECOND,
    };
    const writes: SteadyLoad = {
      url: `${ready.apiUrl}/frontdoor/${ready.frontdoorId}/auth-providers`,
      method: 'POST',
      headers: { authorization: basicOf(ready), 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'steady %d',
        type: 'OIDC',
        data: { issuer: 'https://idp.example.com', client_id: 'bench' },
      }),
      perSecond: WRITES_PER_SECOND,
    };
    const measure = async (loads: readonly SteadyLoad[], forSeconds: number): Promise<SteadyResult[]> => {
      const running = [];
      for (const load of loads) running.push(await startSteadyLoad(load));
      await pause(forSeconds * 1_000);
      // The reader ends first: it is measured while the writes go on.
      return Promise.all(running.map(({ stop }) => stop()));
    };
    await measure([requests, writes], 2 * seconds);
    const written: number[] = [];
    const samples = await interleave(['without', 'with'], rounds, async (name) => {
      const [read, write] = await measure(name === 'with' ? [requests, writes] : [requests], seconds);
      if (write !== undefined) written.push(write.perSecond);
      return read!.p99Us;
    });
    const [without, beside] = ['without', 'with'].map((name) => figureOf(samples.get(name)!));
    const rate = figureOf(written).median;
    const ms = (us: number): string => (us / 1_000).toFixed(2);
    process.stdout.write(
      `\ngateway, ${REQUESTS_PER_SECOND} requests/s: p99 ${ms(beside!.median)} ms (${ms(beside!.min)} to ${ms(beside!.max)}) beside ${Math.round(rate)} writes/s, ${ms(without!.median)} ms (${ms(without!.min)} to ${ms(without!.max)}) without\n`,
    );
    if (rate < LEAST_WRITES_PER_SECOND)
      throw new Error(`only ${Math.round(rate)} writes/s were acknowledged`);
    return beside!.median / without!.median;
  } finally {
    await product.stop();
    await nginx.stop();
  }
}
