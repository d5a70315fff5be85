/** DNS messages as clients and upstreams of the tests send and read them, written apart from the code under test. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, isIPv6 } from 'node:net';
import { within } from '../../../../../test/support/deadline.ts';

export const TYPES = { A: 1, SOA: 6, TXT: 16, AAAA: 28, OPT: 41, HTTPS: 65, AXFR: 252 } as const;

export interface QueryOptions {
  readonly type?: number;
  readonly class?: number;
  readonly id?: number;
  /** Maximum bytes of an answer over UDP; none: without EDNS. */
  readonly ednsBytes?: number | undefined;
  readonly ednsVersion?: number;
}

export function nameBytes(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

export function queryOf(name: string, options: QueryOptions = {}): Buffer {
  const { type = TYPES.A, class: queryClass = 1, id = 0x1234, ednsBytes, ednsVersion = 0 } = options;
  const head = Buffer.from([id >> 8, id & 0xff, 1, 0, 0, 1, 0, 0, 0, 0, 0, ednsBytes === undefined ? 0 : 1]);
  const question = Buffer.concat([nameBytes(name), uint16(type), uint16(queryClass)]);
  const opt =
    ednsBytes === undefined
      ? []
      : [Buffer.from([0]), uint16(TYPES.OPT), uint16(ednsBytes), Buffer.from([0, ednsVersion, 0, 0, 0, 0])];
  return Buffer.concat([head, question, ...opt]);
}

/** Returns a response to a query with TXT records of some bytes in total. */
export function responseTo(
  query: Buffer,
  change: { rcode?: number; flags?: number; bytes?: number } = {},
): Buffer {
  const { rcode = 0, flags = 0, bytes = 0 } = change;
  const end = query.indexOf(0, 12) + 5;
  const head = Buffer.from(query.subarray(0, end));
  head[2] = 0x81 | flags;
  head[3] = 0x80 | rcode;
  head.fill(0, 6, 12);
  const records: Buffer[] = [];
  for (let left = bytes; left > 0; left -= 200) {
    const text = Buffer.alloc(200, 'x');
    text[0] = 199;
    records.push(
      Buffer.concat([uint16(0xc00c), uint16(TYPES.TXT), uint16(1), uint16(0), uint16(77), uint16(200), text]),
    );
  }
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([head, ...records]);
}

export interface ReadAnswer {
  readonly id: number;
  readonly rcode: number;
  readonly isAuthoritative: boolean;
  readonly isTruncated: boolean;
  readonly isRecursive: boolean;
  /** Types, TTLs and data of all records in their order. */
  readonly records: readonly { readonly type: number; readonly ttl: number; readonly data: Buffer }[];
}

export function readAnswer(message: Buffer): ReadAnswer {
  let at = 12;
  const skipName = (): void => {
    for (;;) {
      const length = message.readUInt8(at);
      at += length >= 0xc0 ? 2 : length + 1;
      if (length === 0 || length >= 0xc0) return;
    }
  };
  for (let left = message.readUInt16BE(4); left > 0; left -= 1) {
    skipName();
    at += 4;
  }
  const count = message.readUInt16BE(6) + message.readUInt16BE(8) + message.readUInt16BE(10);
  const records = Array.from({ length: count }, () => {
    skipName();
    const type = message.readUInt16BE(at);
    const ttl = message.readUInt32BE(at + 4);
    const length = message.readUInt16BE(at + 8);
    at += 10 + length;
    return { type, ttl, data: message.subarray(at - length, at) };
  });
  if (at !== message.length) throw new Error(`${message.length - at} bytes follow the records`);
  const flags = message.readUInt16BE(2);
  return {
    id: message.readUInt16BE(0),
    rcode: flags & 0x0f,
    isAuthoritative: (flags & 0x0400) !== 0,
    isTruncated: (flags & 0x0200) !== 0,
    isRecursive: (flags & 0x0080) !== 0,
    records,
  };
}

/** Returns the address of the first record. */
export function addressOf(answer: ReadAnswer): string | undefined {
  return answer.records[0]?.data.join('.');
}

export async function askUdp(port: number, query: Buffer, host = '127.0.0.1'): Promise<Buffer> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  try {
    socket.send(query, port, host);
    const [message] = (await within('an answer', once(socket, 'message'))) as [Buffer];
    return message;
  } finally {
    socket.close();
  }
}

/** Sends messages over one connection at once, and resolves with a number of answers in their order of arrival. */
export async function askTcp(
  port: number,
  queries: readonly Buffer[],
  count = queries.length,
): Promise<Buffer[]> {
  const socket = connect(port, '127.0.0.1');
  const answers: Buffer[] = [];
  try {
    socket.write(Buffer.concat(queries.flatMap((query) => [uint16(query.length), query])));
    let held = Buffer.alloc(0);
    await within(
      'answers',
      (async () => {
        for await (const chunk of socket) {
          held = Buffer.concat([held, chunk as Buffer]);
          while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
            answers.push(held.subarray(2, 2 + held.readUInt16BE(0)));
            held = held.subarray(2 + held.readUInt16BE(0));
          }
          if (answers.length >= count) return;
        }
      })(),
    );
    return answers;
  } finally {
    socket.destroy();
  }
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}
