/**
 * Messages of DNS UPDATE (RFC 2136) for one TXT record, signed with a shared key (TSIG, RFC 8945), and their responses. The
 * keyed hash is passed in. Names in requests are not compressed.
 */
import { concatBytes, equalBytes, utf8 } from '#base';

const OPCODE_UPDATE = 5 << 11;
const HEADER_BYTES = 12;
const TYPE_SOA = 6;
const TYPE_TXT = 16;
const TYPE_TSIG = 250;
const CLASS_IN = 1;
const CLASS_NONE = 254;
const CLASS_ANY = 255;
const FUDGE_S = 300;
const MAX_LABEL_BYTES = 63;
const MAX_NAME_BYTES = 255;
const MAX_TEXT_BYTES = 255;
const TSIG_BAD_TIME = 18;
/** The length of a time. */
const TIME_BYTES = 6;

export type Hmac = (message: Uint8Array) => Uint8Array;

export interface UpdateKey {
  readonly name: string;
  /** The name of the algorithm in DNS, such as `hmac-sha256`. */
  readonly algorithm: string;
  readonly hmac: Hmac;
}

export interface TxtUpdate {
  /** From 0 to 65,535. */
  readonly id: number;
  readonly zone: string;
  readonly name: string;
  /** At most 255 bytes. */
  readonly value: string;
  /** In seconds, for a record that is added; undefined: the record is removed. */
  readonly ttl: number | undefined;
  readonly nowS: number;
}

export interface UpdateResponse {
  readonly rcode: number;
  /** The error of the signature, 0 without one. */
  readonly tsigError: number;
  /** The server's time in seconds, if the request's was wrong. */
  readonly serverS: number | undefined;
  /** Whether the key has signed it. */
  readonly isSigned: boolean;
}

/** Returns the message, and its hash, which the response is signed with. Throws RangeError for a name that is none. */
export function encodeTxtUpdate(
  { id, zone, name, value, ttl, nowS }: TxtUpdate,
  key: UpdateKey,
): { readonly message: Uint8Array; readonly mac: Uint8Array } {
  const text = utf8(value);
  if (text.length > MAX_TEXT_BYTES) throw new RangeError('the value is too long');
  const body = concatBytes([
    encodeDnsName(zone),
    numbers([TYPE_SOA, 2], [CLASS_IN, 2]),
    encodeDnsName(name),
    numbers([TYPE_TXT, 2], [ttl === undefined ? CLASS_NONE : CLASS_IN, 2], [ttl ?? 0, 4]),
    numbers([text.length + 1, 2], [text.length, 1]),
    text,
  ]);
  const headerWith = (additional: number): Uint8Array =>
    numbers([id, 2], [OPCODE_UPDATE, 2], [1, 2], [0, 2], [1, 2], [additional, 2]);
  const stamp = { nowS, fudge: FUDGE_S, error: 0, other: new Uint8Array() };
  const mac = key.hmac(concatBytes([headerWith(0), body, tsigVariables(key, stamp)]));
  const tsig = concatBytes([
    encodeDnsName(key.algorithm),
    numbers([nowS, TIME_BYTES], [FUDGE_S, 2], [mac.length, 2]),
    mac,
    numbers([id, 2], [0, 2], [0, 2]),
  ]);
  const record = concatBytes([
    encodeDnsName(key.name),
    numbers([TYPE_TSIG, 2], [CLASS_ANY, 2], [0, 4], [tsig.length, 2]),
    tsig,
  ]);
  return { message: concatBytes([headerWith(1), body, record]), mac };
}

/** Returns undefined for bytes that are no response to the request with this ID. */
export function decodeUpdateResponse(
  bytes: Uint8Array,
  id: number,
  {
    key,
    mac: requestMac,
    nowS,
  }: { readonly key: UpdateKey; readonly mac: Uint8Array; readonly nowS: number },
): UpdateResponse | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint16(2);
  if (view.getUint16(0) !== id || (flags & 0xf800) !== (0x8000 | OPCODE_UPDATE)) return undefined;
  const unsigned = { rcode: flags & 0xf, tsigError: 0, serverS: undefined, isSigned: false };
  const additional = view.getUint16(10);
  if (additional === 0) return unsigned;
  const start = lastRecordAt(bytes, view);
  const tsig = start === undefined ? undefined : readTsig(bytes, view, start);
  if (start === undefined || tsig === undefined) return unsigned;
  const { error, other, time, mac } = tsig;
  const original = Uint8Array.from(bytes.subarray(0, start));
  // The hash is that of the message without its last record, and with the ID before a forwarder changed it.
  new DataView(original.buffer).setUint16(10, additional - 1);
  new DataView(original.buffer).setUint16(0, tsig.originalId);
  const variables = tsigVariables(key, { nowS: time, fudge: tsig.fudge, error, other });
  const expected = key.hmac(concatBytes([numbers([requestMac.length, 2]), requestMac, original, variables]));
  // A server whose clock differs signs with the time of the request, and adds its own.
  const isInTime = Math.abs(time - nowS) <= tsig.fudge;
  const isKnown = other.length === TIME_BYTES && error === TSIG_BAD_TIME;
  return {
    rcode: unsigned.rcode,
    tsigError: error,
    serverS: isKnown ? timeAt(new DataView(other.buffer, other.byteOffset), 0) : undefined,
    isSigned: isInTime && equalBytes(mac, expected),
  };
}

interface Tsig {
  readonly time: number;
  readonly fudge: number;
  readonly mac: Uint8Array;
  readonly originalId: number;
  readonly error: number;
  readonly other: Uint8Array;
}

/** Throws RangeError for a text that is no name. */
export function encodeDnsName(name: string): Uint8Array {
  const labels = name.toLowerCase().replace(/\.$/, '').split('.');
  const parts = labels.map((label) => {
    const text = utf8(label);
    if (text.length === 0 || text.length > MAX_LABEL_BYTES) throw new RangeError(`${name} is no DNS name`);
    return concatBytes([numbers([text.length, 1]), text]);
  });
  const wire = concatBytes([...parts, new Uint8Array(1)]);
  if (wire.length > MAX_NAME_BYTES) throw new RangeError(`${name} is no DNS name`);
  return wire;
}

/** The bytes that are hashed besides the message. */
function tsigVariables(
  { name, algorithm }: UpdateKey,
  {
    nowS,
    fudge,
    error,
    other,
  }: { readonly nowS: number; readonly fudge: number; readonly error: number; readonly other: Uint8Array },
): Uint8Array {
  return concatBytes([
    encodeDnsName(name),
    numbers([CLASS_ANY, 2], [0, 4]),
    encodeDnsName(algorithm),
    numbers([nowS, TIME_BYTES], [fudge, 2], [error, 2], [other.length, 2]),
    other,
  ]);
}

/** The offset of the last record, which is where a signature is; undefined if the records are cut off. */
function lastRecordAt(bytes: Uint8Array, view: DataView): number | undefined {
  let at: number | undefined = HEADER_BYTES;
  for (let zones = view.getUint16(4); zones > 0; zones -= 1) {
    at = nameEnd(bytes, at);
    if (at === undefined) return undefined;
    at += 4;
  }
  const records = view.getUint16(6) + view.getUint16(8) + view.getUint16(10);
  for (let left = records; left > 1; left -= 1) {
    at = nameEnd(bytes, at);
    if (at === undefined || at + 10 > bytes.length) return undefined;
    at += 10 + view.getUint16(at + 8);
  }
  return at;
}

function readTsig(bytes: Uint8Array, view: DataView, start: number): Tsig | undefined {
  const head = nameEnd(bytes, start);
  if (head === undefined || head + 10 > bytes.length || view.getUint16(head) !== TYPE_TSIG) return undefined;
  const at = nameEnd(bytes, head + 10);
  if (at === undefined || at + 10 > bytes.length) return undefined;
  const macEnd = at + 10 + view.getUint16(at + 8);
  if (macEnd + 6 > bytes.length) return undefined;
  const otherEnd = macEnd + 6 + view.getUint16(macEnd + 4);
  if (otherEnd > bytes.length) return undefined;
  return {
    time: timeAt(view, at),
    fudge: view.getUint16(at + 6),
    mac: bytes.subarray(at + 10, macEnd),
    originalId: view.getUint16(macEnd),
    error: view.getUint16(macEnd + 2),
    other: bytes.subarray(macEnd + 6, otherEnd),
  };
}

/** The offset behind a name; a pointer to another name ends it. */
function nameEnd(bytes: Uint8Array, start: number): number | undefined {
  for (let at = start; at < bytes.length;) {
    const length = bytes[at]!;
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    if (length > MAX_LABEL_BYTES) return undefined;
    at += 1 + length;
  }
  return undefined;
}

function timeAt(view: DataView, at: number): number {
  return view.getUint16(at) * 2 ** 32 + view.getUint32(at + 2);
}

/** Whole numbers in network order, each with its length in bytes. */
function numbers(...fields: readonly (readonly [value: number, bytes: number])[]): Uint8Array {
  return Uint8Array.from(
    fields.flatMap(([value, bytes]) =>
      Array.from({ length: bytes }, (_, at) => Math.floor(value / 2 ** (8 * (bytes - 1 - at))) % 256),
    ),
  );
}
