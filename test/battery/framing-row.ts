/**
 * H1: every request of the framing table, alone, before and behind another request, plain and over TLS, with four
 * origins. It is refused and the connection closed; the origin has seen exactly what was answered as served.
 */
import { until } from '../support/deadline.ts';
import { hostOf, LISTENER_KINDS, type BatteryProduct, type ListenerKind } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { askBytes, BytesClient, statusOf } from './bytes-client.ts';
import { startCountingOrigins, type CountingOrigin } from './counting-origins.ts';
import { framingRequest, REFUSED_REQUESTS, SERVED_REQUESTS } from '../support/framing-case-table.ts';
import type { ClientTarget } from '../support/keep-alive-client.ts';

const SHAPES = ['alone', 'before another', 'behind another', 'in pieces'] as const;
type Shape = (typeof SHAPES)[number];

const MAX_PIECES = 700;

export const FRAMING_ROW: BatteryRow = {
  id: 'H1',
  title:
    'ambiguous requests are refused, and the origin sees exactly the requests that were answered as served',
  run: async (context, product) => {
    const tally = new Tally();
    const { origins, missing } = await startCountingOrigins();
    for (const name of missing) context.note(`${name} is not in PATH: not among the origins`);
    try {
      for (const origin of origins) {
        await product.share(`h1-${origin.name}`, origin.port);
        for (const kind of LISTENER_KINDS) {
          await runOrigin(tally, product, origin, kind, context.quick);
          context.progress(`${origin.name} ${kind}`);
        }
      }
    } finally {
      await Promise.all(origins.map((origin) => origin.close()));
    }
    return tally;
  },
};

async function runOrigin(
  tally: Tally,
  product: BatteryProduct,
  origin: CountingOrigin,
  kind: ListenerKind,
  quick: boolean,
): Promise<void> {
  const target = product.target(kind, `h1-${origin.name}`);
  const host = hostOf(`h1-${origin.name}`);
  const poison = `GET /poison HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const first = `GET /first HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const before = origin.seen().length;
  let served = 0;
  for (const [name, template, statuses] of REFUSED_REQUESTS) {
    const request = framingRequest(template, host);
    for (const shape of SHAPES) {
      // Sending byte by byte costs a packet each: only the origin that logs most is tested so.
      if (shape === 'in pieces' && (quick || origin.name !== 'raw' || request.length > MAX_PIECES)) continue;
      // One parser serves both listeners: the quick form repeats the shapes over TLS with one origin.
      if (quick && kind === 'tls' && origin.name !== 'raw' && shape !== 'alone') continue;
      const what = `${origin.name} ${kind} ${shape}: ${name}`;
      const answer = await ask(target, shape, request, first, poison).catch((error: unknown) =>
        String(error),
      );
      const leading = shape === 'behind another' ? 1 : 0;
      served += leading;
      tally.check(isRefused(answer, leading, statuses), what, () => JSON.stringify(answer.slice(-300)));
    }
  }
  for (const [name, template] of SERVED_REQUESTS) {
    const request = framingRequest(template, host);
    const last = `GET /last HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    const answer = await askBytes(target, request + last).catch((error: unknown) => String(error));
    served += 2;
    tally.check(answer.split('SERVED').length === 3, `${origin.name} ${kind}: serves ${name}`, () =>
      JSON.stringify(answer.slice(0, 300)),
    );
  }
  // Logs of other processes arrive a moment later; they must never contain more requests than were served.
  await until(
    `${origin.name} has logged ${served} requests`,
    () => origin.seen().length - before,
    (count) => count >= served,
  ).catch(() => {});
  const seen = origin.seen().slice(before);
  tally.check(
    seen.length === served && !seen.some((line) => line.endsWith('/poison')),
    `${origin.name} ${kind}: the origin saw exactly the requests that were answered as served`,
    () => `${seen.length} seen, ${served} served`,
  );
  const strays = origin.strays();
  tally.check(strays.length === 0, `${origin.name} ${kind}: nothing but requests reached the origin`, () =>
    JSON.stringify(strays.slice(0, 5)),
  );
}

async function ask(
  target: ClientTarget,
  shape: Shape,
  request: string,
  first: string,
  poison: string,
): Promise<string> {
  if (shape === 'alone') return askBytes(target, request);
  if (shape === 'before another') return askBytes(target, request + poison);
  if (shape === 'behind another') return askBytes(target, first + request + poison);
  const client = await BytesClient.open(target);
  try {
    for (const byte of request + poison) {
      if (!client.isOpen) break;
      client.send(byte);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    return await client.ended();
  } finally {
    client.close();
  }
}

/** `leading` good answers, then one refusal, then nothing. */
function isRefused(answer: string, leading: number, statuses: readonly number[]): boolean {
  const answers = answer.split(/(?=HTTP\/1\.1 \d{3})/);
  const last = answers.at(-1) ?? '';
  return (
    answers.length === leading + 1 &&
    answers.slice(0, leading).every((text) => statusOf(text) === 200 && text.includes('SERVED')) &&
    statuses.includes(statusOf(last)) &&
    /\r\nConnection: close\r\n/i.test(last) &&
    !last.includes('SERVED')
  );
}
