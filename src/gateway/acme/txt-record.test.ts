import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';
import { awaitTxtRecord, type TxtWait } from './txt-record.ts';

const HEADER_BYTES = 12;
const TYPE_TXT = 16;
const record = { name: '_acme-challenge.zone.example', value: 'v'.repeat(43) };

const sockets: Socket[] = [];
after(() => {
  for (const socket of sockets) socket.close();
});

/** A name server with these TXT records for every name, which may be added later; undefined: it is silent. */
async function serve(values: string[] | undefined): Promise<{ server: string; queries: () => number }> {
  let queries = 0;
  const socket = createSocket('udp4', (query, from) => {
    queries += 1;
    if (values === undefined) return;
    // The question: a name that ends with an empty label, type and class.
    const end = query.indexOf(0, HEADER_BYTES) + 5;
    const head = Buffer.from(query.subarray(0, end));
    head.writeUInt16BE(0x8180, 2);
    for (const [at, count] of [1, values.length, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * at);
    const answers = values.map((value) => {
      const text = Buffer.from(value);
      const start = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_TXT, 0, 1, 0, 0, 0, 1, 0, text.length + 1]);
      return Buffer.concat([start, Buffer.from([text.length]), text]);
    });
    socket.send(Buffer.concat([head, ...answers]), from.port, from.address);
  });
  sockets.push(socket);
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { server: `127.0.0.1:${socket.address().port}`, queries: () => queries };
}

function wait(servers: readonly string[], more: Partial<TxtWait> = {}): Promise<boolean> {
  const never = new AbortController().signal;
  return awaitTxtRecord(record, { servers, signal: never, lookMs: 5, timeoutMs: 20_000, ...more });
}

describe('a TXT record', () => {
  it('is awaited until each name server has it, among others of the same name', async () => {
    const late: string[] = ['another'];
    const [first, second] = [await serve(['another', record.value]), await serve(late)];
    const waiting = wait([first.server, second.server]);
    while (second.queries() < 3) await once(sockets.at(-1)!, 'message');
    late.push(record.value);
    assert.equal(await waiting, true);
  });

  it('that a name server does not have in time is an error with what to look at', async () => {
    const { server } = await serve([]);
    await assert.rejects(wait([server], { timeoutMs: 20 }), {
      code: 'dns-record-not-visible',
      message:
        /_acme-challenge\.zone\.example is not visible after 0 s at 1 of 1 name servers: see whether it is created in the zone/,
    });
  });

  it('is not known when no name server answers, and a silent one beside others does not count', async () => {
    const [silent, other] = [await serve(undefined), await serve([record.value])];
    assert.equal(await wait([silent.server], { timeoutMs: 1, queryMs: 50 }), false);
    assert.equal(await wait([silent.server, other.server], { queryMs: 50 }), true);
  });

  it('is not awaited further when the gateway stops', async () => {
    const stopping = new AbortController();
    const { server } = await serve([]);
    const waiting = wait([server], { signal: stopping.signal });
    await once(sockets.at(-1)!, 'message');
    stopping.abort();
    await assert.rejects(waiting, { name: 'AbortError' });
  });
});
