/**
 * The far end of a circuit with `connType: resolver`: answers DNS questions as JSON messages, for the names that the
 * config allows, and only for MX, TXT and SRV. One message is one payload.
 */
import { promises as systemDns, type MxRecord, type SrvRecord } from 'node:dns';
import { Duplex } from 'node:stream';
import { messageOf, textOf, utf8, type WorkerPool } from '#base';
import { compileReader, Part, Type, type ShapeOf } from '#base/shapes';
import { grantOfName, hostNameOf, type AllowedAddresses } from '#sdk/hosting';

export interface ResolverLookup {
  resolveMx(name: string): Promise<MxRecord[]>;
  resolveTxt(name: string): Promise<string[][]>;
  resolveSrv(name: string): Promise<SrvRecord[]>;
}

export interface ResolverConnectionOptions {
  readonly allowed: AllowedAddresses;
  /** Bounds the look-ups of all connections. A question that finds no place fails. */
  readonly pool: WorkerPool;
  /** Replaces the resolver of the system. */
  readonly lookup?: ResolverLookup | undefined;
}

const RecordType = { mx: 15, txt: 16, srv: 33 } as const;
const TYPES: ReadonlySet<number> = new Set(Object.values(RecordType));
const Status = { noError: 0, formErr: 1, servFail: 2, nxDomain: 3, notImp: 4 } as const;
const TTL_S = 86_400;
const MAX_QUESTION_BYTES = 4_096;
const MAX_ANSWERS = 64;
/** Records that exceed this length of an answer are left out. */
const MAX_ANSWER_BYTES = 8_192;
/** While this many answers wait for the circuit, no further question is taken. */
const MAX_UNREAD_ANSWERS = 16;
const LOOKUP_TIMEOUT_MS = 3_000;
const LOOKUP_TRIES = 2;

const questionSchema = Type.Object({ name: Part.text(), type: Type.Integer() });
const messageSchema = Type.Object({
  id: Part.withDefault(Type.Integer(), 0),
  question: Part.withDefault(Type.Array(questionSchema, { maxItems: MAX_ANSWERS }), []),
});
const readMessage = compileReader(messageSchema);

type Question = ShapeOf<typeof questionSchema>;

interface Answer {
  readonly name: string;
  readonly type: number;
  readonly ttl: number;
  readonly data: string;
  readonly port?: number;
  readonly priority?: number;
  readonly weight?: number;
}

interface Outcome {
  readonly status: number;
  readonly answer?: readonly Answer[];
  readonly comment?: string;
}

export class ResolverConnection extends Duplex {
  readonly #options: ResolverConnectionOptions;
  readonly #lookup: ResolverLookup;
  /** Takes the next question. Set while too many answers wait. */
  #goOn: (() => void) | undefined;

  constructor(options: ResolverConnectionOptions) {
    super({
      readableObjectMode: true,
      readableHighWaterMark: MAX_UNREAD_ANSWERS,
      decodeStrings: false,
      allowHalfOpen: false,
    });
    this.#options = options;
    this.#lookup = options.lookup ?? systemResolver();
    this.on('error', () => {});
  }

  override _read(): void {
    const goOn = this.#goOn;
    this.#goOn = undefined;
    goOn?.();
  }

  override _write(message: Uint8Array, _encoding: string, done: () => void): void {
    void this.#respond(message, done);
  }

  override _final(done: () => void): void {
    this.push(null);
    done();
  }

  /** Takes the next question when this one is answered, and not too many answers wait. */
  async #respond(message: Uint8Array, takeNext: () => void): Promise<void> {
    const answer = await this.#answer(message);
    if (this.destroyed || this.push(utf8(JSON.stringify(answer)))) takeNext();
    else this.#goOn = takeNext;
  }

  async #answer(message: Uint8Array): Promise<object> {
    const read = readMessage(message.length > MAX_QUESTION_BYTES ? undefined : jsonOf(message));
    if (!('value' in read)) return { id: 0, status: Status.formErr, question: null, answer: null };
    const { id, question } = read.value;
    const [only] = question;
    const outcome = only === undefined || question.length > 1 ? formErr() : await this.#resolve(only);
    const { status, answer, comment } = outcome;
    return { id, status, question, answer: answer ?? null, comment };
  }

  async #resolve({ name, type }: Question): Promise<Outcome> {
    const host = hostNameOf(name);
    if (host === undefined || grantOfName(this.#options.allowed, host) === undefined)
      return { status: Status.nxDomain };
    if (!TYPES.has(type)) return { status: Status.notImp };
    try {
      const data = await this.#inPool(() => this.#records(host, type));
      if (data === undefined) return { status: Status.servFail, comment: 'too many questions' };
      const answer = data.slice(0, MAX_ANSWERS).map((one) => ({ name, type, ttl: TTL_S, ...one }));
      while (JSON.stringify(answer).length > MAX_ANSWER_BYTES) answer.pop();
      return { status: Status.noError, answer };
    } catch (error) {
      return { status: Status.servFail, comment: messageOf(error) };
    }
  }

  /** Resolves with undefined if the pool is full. */
  #inPool<T>(work: () => Promise<T>): Promise<T | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
    const isTaken = this.#options.pool.offer(() =>
      this.destroyed ? resolve(undefined) : work().then(resolve, reject),
    );
    return isTaken ? promise : Promise.resolve(undefined);
  }

  async #records(host: string, type: number): Promise<Omit<Answer, 'name' | 'type' | 'ttl'>[]> {
    const lookup = this.#lookup;
    if (type === RecordType.mx)
      return (await lookup.resolveMx(host)).map((it) => ({ data: it.exchange, priority: it.priority }));
    if (type === RecordType.txt)
      return (await lookup.resolveTxt(host)).map((parts) => ({ data: parts.join('') }));
    const found = await lookup.resolveSrv(host);
    return found.map(({ name, port, priority, weight }) => ({ data: name, port, priority, weight }));
  }
}

function systemResolver(): ResolverLookup {
  return new systemDns.Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: LOOKUP_TRIES });
}

function formErr(): Outcome {
  return { status: Status.formErr };
}

function jsonOf(message: Uint8Array): unknown {
  try {
    return JSON.parse(textOf(message));
  } catch {
    return undefined;
  }
}
