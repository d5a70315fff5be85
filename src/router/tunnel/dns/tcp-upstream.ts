/** Queries to an upstream over one TCP connection, which is opened when needed and closed when it is idle. */
import { connect, type Socket } from 'node:net';
import { DnsStreamDecoder, encodeStreamMessage } from './dns-stream.ts';
import { isAnswerTo, randomId, withId, type UpstreamAnswered, type UpstreamQuery } from './upstream-query.ts';

const IDLE_MS = 10_000;
/** Maximum queries that wait for their answers. */
const MAX_ASKED = 1_024;
/** A connection over which this number of queries in a row got no answer is closed, because its peer may be gone. */
const MAX_UNANSWERED = 3;

class Asked {
  readonly query: UpstreamQuery;
  readonly answered: UpstreamAnswered;
  /** Whether it was sent again over a new connection. */
  isRepeated = false;
  /** Stops waiting. */
  leave = (): void => {};

  constructor(query: UpstreamQuery, answered: UpstreamAnswered) {
    this.query = query;
    this.answered = answered;
  }
}

class Connection {
  readonly #socket: Socket;
  readonly #decoder = new DnsStreamDecoder();
  readonly #asked = new Map<number, Asked>();
  readonly #onLost: (asked: Asked, wasInUse: boolean) => void;
  #hasAnswered = false;
  #unanswered = 0;
  isClosed = false;

  constructor(host: string, port: number, onLost: (asked: Asked, wasInUse: boolean) => void) {
    this.#onLost = onLost;
    this.#socket = connect({ host, port, noDelay: true, timeout: IDLE_MS });
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    for (const event of ['error', 'timeout', 'close']) this.#socket.on(event, () => this.close());
  }

  ask(asked: Asked): void {
    if (this.#asked.size >= MAX_ASKED) {
      asked.answered(undefined);
      return;
    }
    const id = randomId(this.#asked);
    this.#asked.set(id, asked);
    asked.leave = () => {
      if (!this.#asked.delete(id)) return;
      this.#unanswered += 1;
      if (this.#unanswered >= MAX_UNANSWERED) this.close();
    };
    this.#socket.write(encodeStreamMessage(withId(asked.query.message, id)));
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#socket.destroy();
    const lost = [...this.#asked.values()];
    this.#asked.clear();
    for (const asked of lost) this.#onLost(asked, this.#hasAnswered);
  }

  #receive(chunk: Buffer): void {
    this.#decoder.push(chunk);
    for (let message = this.#decoder.next(); message !== undefined; message = this.#decoder.next()) {
      const id = message.length < 2 ? -1 : message.readUInt16BE(0);
      const asked = this.#asked.get(id);
      if (asked === undefined || !isAnswerTo(asked.query, message)) continue;
      this.#asked.delete(id);
      this.#hasAnswered = true;
      this.#unanswered = 0;
      asked.answered(message);
    }
  }
}

export class TcpUpstream {
  readonly #address: string;
  readonly #port: number;
  #connection: Connection | undefined;
  #isClosed = false;

  constructor(address: string, port: number) {
    this.#address = address;
    this.#port = port;
  }

  /** Returns a function that stops waiting for the answer. */
  ask(query: UpstreamQuery, answered: UpstreamAnswered): () => void {
    const asked = new Asked(query, answered);
    this.#ask(asked);
    return () => asked.leave();
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.close();
  }

  #ask(asked: Asked): void {
    if (this.#connection === undefined || this.#connection.isClosed)
      this.#connection = new Connection(this.#address, this.#port, (lost, wasInUse) =>
        this.#repeat(lost, wasInUse),
      );
    this.#connection.ask(asked);
  }

  /** An upstream may close an idle connection at the moment at which a query is sent: then it is sent once more. */
  #repeat(asked: Asked, wasInUse: boolean): void {
    if (this.#isClosed || asked.isRepeated || !wasInUse) {
      asked.answered(undefined);
      return;
    }
    asked.isRepeated = true;
    this.#ask(asked);
  }
}
