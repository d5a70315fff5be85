/**
 * Reads the offered protocols (ALPN) and the requested server name (SNI) from a TLS client's first bytes, for
 * decisions that must be made before the handshake. Other parts of the hello are not checked.
 */
export type ClientHelloOutcome =
  | { readonly kind: 'incomplete' }
  /** Not TLS, or malformed, so that no handshake is possible. */
  | { readonly kind: 'malformed' }
  | ({ readonly kind: 'hello' } & ClientHello);

/** Undefined if the client offers no protocols, or sends no server name. The name is unchanged, in Latin-1. */
export interface ClientHello {
  readonly protocols: readonly string[] | undefined;
  readonly serverName: string | undefined;
}

/** More than any client sends; keys of post-quantum exchanges take 1 to 2 KiB. */
export const MAX_CLIENT_HELLO_BYTES = 32 * 1024;

const INCOMPLETE: ClientHelloOutcome = { kind: 'incomplete' };
const MALFORMED: ClientHelloOutcome = { kind: 'malformed' };

const RECORD_HEAD_BYTES = 5;
const MAX_RECORD_BYTES = 16_384;
const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME_EXTENSION = 0;
const HOST_NAME = 0;
const ALPN_EXTENSION = 16;

/** `bytes` is everything that the client has sent so far. */
export function decodeClientHello(bytes: Uint8Array): ClientHelloOutcome {
  const message = handshakeMessage(bytes);
  if (!(message instanceof Uint8Array)) return message;
  try {
    return { kind: 'hello', ...wishesOf(new Cursor(message)) };
  } catch (error) {
    if (error instanceof RangeError) return MALFORMED;
    throw error;
  }
}

/** Returns the body of the ClientHello, joined from its records. */
function handshakeMessage(bytes: Uint8Array): Uint8Array | ClientHelloOutcome {
  const pieces: number[] = [];
  let wanted = 4;
  for (let at = 0; ;) {
    if (bytes.length > at && bytes[at] !== HANDSHAKE_RECORD) return MALFORMED;
    if (bytes.length < at + RECORD_HEAD_BYTES) return tooLongOr(bytes);
    if (bytes[at + 1] !== 3) return MALFORMED;
    const recordBytes = (bytes[at + 3]! << 8) | bytes[at + 4]!;
    if (recordBytes === 0 || recordBytes > MAX_RECORD_BYTES) return MALFORMED;
    const start = at + RECORD_HEAD_BYTES;
    for (let i = start; i < Math.min(bytes.length, start + recordBytes); i += 1) pieces.push(bytes[i]!);
    if (pieces.length > 0 && pieces[0] !== CLIENT_HELLO) return MALFORMED;
    if (pieces.length >= 4) wanted = 4 + ((pieces[1]! << 16) | (pieces[2]! << 8) | pieces[3]!);
    if (wanted > MAX_CLIENT_HELLO_BYTES) return MALFORMED;
    if (pieces.length >= wanted && pieces.length >= 4) return Uint8Array.from(pieces.slice(4, wanted));
    if (bytes.length < start + recordBytes) return tooLongOr(bytes);
    at = start + recordBytes;
  }
}

function tooLongOr(bytes: Uint8Array): ClientHelloOutcome {
  return bytes.length > MAX_CLIENT_HELLO_BYTES ? MALFORMED : INCOMPLETE;
}

interface Wishes {
  protocols: readonly string[] | undefined;
  serverName: string | undefined;
}

function wishesOf(hello: Cursor): Wishes {
  const wishes: Wishes = { protocols: undefined, serverName: undefined };
  hello.skip(2 + 32);
  hello.skip(hello.u8());
  hello.skip(hello.u16());
  hello.skip(hello.u8());
  if (hello.isAtEnd) return wishes;
  const extensions = hello.cut(hello.u16());
  while (!extensions.isAtEnd) {
    const type = extensions.u16();
    const body = extensions.cut(extensions.u16());
    if (type === ALPN_EXTENSION) wishes.protocols ??= alpnOf(body);
    else if (type === SERVER_NAME_EXTENSION) wishes.serverName ??= serverNameOf(body);
  }
  return wishes;
}

function alpnOf(body: Cursor): string[] {
  const list = body.cut(body.u16());
  const protocols: string[] = [];
  while (!list.isAtEnd) protocols.push(list.latin1(list.u8()));
  return protocols;
}

function serverNameOf(body: Cursor): string | undefined {
  const list = body.cut(body.u16());
  while (!list.isAtEnd) {
    const type = list.u8();
    const name = list.latin1(list.u16());
    if (type === HOST_NAME) return name;
  }
  return undefined;
}

/** Throws `RangeError` beyond the end. */
class Cursor {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  u8(): number {
    this.skip(1);
    return this.#bytes[this.#at - 1]!;
  }

  u16(): number {
    return (this.u8() << 8) | this.u8();
  }

  skip(bytes: number): void {
    if (this.#at + bytes > this.#bytes.length) throw new RangeError('beyond the end');
    this.#at += bytes;
  }

  cut(bytes: number): Cursor {
    const from = this.#at;
    this.skip(bytes);
    return new Cursor(this.#bytes.subarray(from, from + bytes));
  }

  latin1(bytes: number): string {
    const from = this.#at;
    this.skip(bytes);
    return String.fromCharCode(...this.#bytes.subarray(from, this.#at));
  }
}
