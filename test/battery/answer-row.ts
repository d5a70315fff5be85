/**
 * H6: answers of hostile origins. Each is refused, broken off visibly or relayed whole; no byte of it reaches another
 * client, and a connection that was not cleanly framed is not used again.
 */
import type { Socket } from 'node:net';
import { ANSWER_CASES, type AnswerCase } from './answer-case-table.ts';
import { hostOf, LISTENER_KINDS, type BatteryProduct, type ListenerKind } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { BytesClient, statusOf } from './bytes-client.ts';
import { RawOrigin } from './raw-origin.ts';

const SECOND = 'the second client';

export const ANSWER_ROW: BatteryRow = {
  id: 'H6',
  title: 'an answer is relayed whole, refused or visibly broken off, and reaches nobody else',
  run: async (_context, product) => {
    const tally = new Tally();
    const origin = await RawOrigin.start();
    try {
      await product.share('h6-raw', origin.port);
      for (const kind of LISTENER_KINDS) {
        for (const answerCase of ANSWER_CASES) await runCase(tally, product, origin, kind, answerCase);
      }
    } finally {
      await origin.close();
    }
    return tally;
  },
};

async function runCase(
  tally: Tally,
  product: BatteryProduct,
  origin: RawOrigin,
  kind: ListenerKind,
  { name, bytes, outcome, ends = false, leavesBytes = false, method = 'GET' }: AnswerCase,
): Promise<void> {
  const what = `${kind} ${name}`;
  const used = new Set<Socket>();
  let hostile: Socket | undefined;
  origin.answer = (request, socket) => {
    if (request.target === '/second') {
      used.add(socket);
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${SECOND.length}\r\n\r\n${SECOND}`);
      return;
    }
    hostile = socket;
    if (ends) socket.end(bytes, 'latin1');
    else socket.write(bytes, 'latin1');
  };
  const target = product.target(kind, 'h6-raw');
  const first = await BytesClient.open(target);
  const second = await BytesClient.open(target);
  try {
    first.send(`${method} /first HTTP/1.1\r\nHost: ${hostOf('h6-raw')}\r\n\r\n`);
    const isWhole = (text: string): boolean => isComplete(text, method);
    const answer = await first
      .until(`an answer to ${what}`, isWhole)
      .catch((error: unknown) => String(error));
    const problem = problemOf(answer, outcome, isWhole(answer));
    tally.check(problem === undefined, what, () => `${problem}: ${JSON.stringify(answer.slice(0, 300))}`);
    second.send(`GET /second HTTP/1.1\r\nHost: ${hostOf('h6-raw')}\r\nConnection: close\r\n\r\n`);
    const other = await second.ended().catch((error: unknown) => String(error));
    tally.check(
      statusOf(other) === 200 && other.endsWith(`\r\n\r\n${SECOND}`),
      `${what}: the next client gets its own answer`,
      () => JSON.stringify(other.slice(0, 300)),
    );
    const mayReuse = outcome === 'relayed' && !leavesBytes && !ends;
    tally.check(
      mayReuse || hostile === undefined || !used.has(hostile),
      `${what}: its connection is not used again`,
    );
  } finally {
    first.close();
    second.close();
  }
}

/** Whether the last answer in `text` is whole by its own framing. */
function isComplete(text: string, method: string): boolean {
  const rest = text.replace(/^(?:HTTP\/1\.1 1\d\d[^\r]*\r\n(?:[^\r\n]+\r\n)*\r\n)*/, '');
  const headEnd = rest.indexOf('\r\n\r\n');
  if (headEnd < 0) return false;
  const head = rest.slice(0, headEnd + 2);
  if (method === 'HEAD' || / (?:204|304)\b/.test(head.slice(0, 13))) return true;
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(head)) return rest.endsWith('\r\n0\r\n\r\n');
  return rest.length - headEnd - 4 >= Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1] ?? Infinity);
}

function problemOf(answer: string, outcome: AnswerCase['outcome'], isWhole: boolean): string | undefined {
  if (answer.includes('STOLEN') && outcome !== 'broken') return 'bytes that must not reach a client';
  const final = answer.replace(/^(?:HTTP\/1\.1 1\d\d[^\r]*\r\n(?:[^\r\n]+\r\n)*\r\n)*/, '');
  if (final.split(/HTTP\/1\.1 \d{3}/).length > 2) return 'two answers';
  const status = statusOf(final);
  if (outcome === 'refused') return status === 502 && isWhole ? undefined : `not refused (${status})`;
  // A reset may overtake what was written before it.
  if (outcome === 'broken') return [200, -1].includes(status) && !isWhole ? undefined : 'not broken off';
  if (!isWhole) return 'not whole';
  if (![200, 204, 304].includes(status)) return `status ${status}`;
  return /GOOD(?:\r\n0\r\n\r\n)?$/.test(final) || final.endsWith('\r\n\r\n') ? undefined : 'another body';
}
