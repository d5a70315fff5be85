/**
 * A name server of a test, over UDP on 127.0.0.1: it answers TXT and address queries from a table, and gives the failures of
 * real ones. A name below an entry exists without records; any other does not exist.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const [TYPE_A, TYPE_CNAME, TYPE_TXT] = [1, 5, 16];
const CODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;
const HEADER_BYTES = 12;

export interface NameEntry {
  readonly txt?: readonly string[];
  readonly addresses?: readonly string[];
  readonly alias?: string;
  /** `SILENCE`: the query is not answered. */
  readonly failure?: 'SERVFAIL' | 'REFUSED' | 'SILENCE';
}

interface Question {
  readonly name: string;
  readonly type: number;
  /** The bytes of the question. */
  readonly bytes: Buffer;
}

export class TestNameServer {
  /** By name in lower case, without a dot at its end; `*.zone` for all names below without an entry. */
  readonly names = new Map<string, NameEntry>();
  /** Names of TXT queries, oldest first. */
  readonly asked: string[] = [];
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (query, { port, address }) => {
      const answer = this.#answer(query);
      if (answer !== undefined) socket.send(answer, port, address);
    });
  }

  static async start(): Promise<TestNameServer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new TestNameServer(socket);
  }

  /** `address:port`. */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  close(): void {
    this.#socket.close();
  }

  #answer(query: Buffer): Buffer | undefined {
    const question = questionOf(query);
    if (question.type === TYPE_TXT) this.asked.push(question.name);
    const records: Buffer[] = [];
    let { name } = question;
    let entry = this.#find(name);
    if (entry?.failure === 'SILENCE') return undefined;
    while (entry?.alias !== undefined) {
      records.push(record(name, TYPE_CNAME, encodedName(entry.alias)));
      name = entry.alias;
      entry = this.#find(name);
    }
    if (entry?.failure !== undefined && entry.failure !== 'SILENCE')
      return response(query, question, CODES[entry.failure], []);
    if (question.type === TYPE_TXT)
      for (const text of entry?.txt ?? []) records.push(record(name, TYPE_TXT, encodedText(text)));
    if (question.type === TYPE_A)
      for (const address of entry?.addresses ?? [])
        records.push(record(name, TYPE_A, Buffer.from(address.split('.').map(Number))));
    const exists = entry !== undefined || [...this.names.keys()].some((other) => other.endsWith(`.${name}`));
    return response(query, question, exists ? CODES.NOERROR : CODES.NXDOMAIN, records);
  }

  #find(name: string): NameEntry | undefined {
    const exact = this.names.get(name);
    if (exact !== undefined) return exact;
    const labels = name.split('.');
    for (let at = 1; at < labels.length; at += 1) {
      const wildcard = this.names.get(`*.${labels.slice(at).join('.')}`);
      if (wildcard !== undefined) return wildcard;
    }
    return undefined;
  }
}

function questionOf(query: Buffer): Question {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = query.readUInt16BE(at + 1);
  return { name: labels.join('.').toLowerCase(), type, bytes: query.subarray(HEADER_BYTES, at + 5) };
}

function response(query: Buffer, { bytes }: Question, code: number, records: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  // A response, recursion desired and available.
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, bytes, ...records]);
}

function record(name: string, type: number, data: Buffer): Buffer {
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(type, 0);
  fields.writeUInt16BE(1, 2);
  fields.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodedName(name), fields, data]);
}

function encodedName(name: string): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

/** Texts of more than 255 bytes take several pieces. */
function encodedText(text: string): Buffer {
  const bytes = Buffer.from(text);
  const pieces: Buffer[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += 255) {
    const piece = bytes.subarray(at, at + 255);
    pieces.push(Buffer.from([piece.length]), piece);
  }
  return Buffer.concat(pieces);
}
