/** SOCKS 5 (RFC 1928), without authentication or with user and password (RFC 1929). */
import { formatHostPort } from '#base';
import { parseAddress } from '#domain';
import type { OutwardTarget, ProxyServer } from './proxy-choice.ts';
import { ProxyRefusal, type ProxyExchange } from './proxy-exchange.ts';

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const USER_AND_PASSWORD = 2;
const NONE_ACCEPTABLE = 0xff;
const AUTHENTICATION_VERSION = 1;
const CONNECT = 1;
const IPV4 = 1;
const DOMAIN_NAME = 3;
const IPV6 = 4;
const SUCCEEDED = 0;
const MAX_NAME_BYTES = 255;
const MAX_ANSWER_BYTES = 512;
/** Bytes of a reply before the address, and of the port behind it. */
const REPLY_HEAD_BYTES = 4;
const REFUSAL_BYTES = 2;
const PORT_BYTES = 2;

/** What the replies mean, by their number. */
const REPLIES: Readonly<Record<number, string>> = {
  1: 'it failed',
  2: 'it does not allow this connection',
  3: 'the network cannot be reached',
  4: 'the host cannot be reached, or its name cannot be resolved',
  5: 'the server refused the connection',
  6: 'the connection took too long',
  7: 'it does not support connections',
  8: 'it does not support this kind of address',
};

export async function askSocksProxy(
  exchange: ProxyExchange,
  proxy: Pick<ProxyServer, 'username' | 'password'>,
  to: OutwardTarget,
): Promise<void> {
  const hasUser = proxy.username !== undefined || proxy.password !== undefined;
  const methods = hasUser ? [NO_AUTHENTICATION, USER_AND_PASSWORD] : [NO_AUTHENTICATION];
  exchange.write(Uint8Array.of(VERSION, methods.length, ...methods));
  const [version, method] = await exchange.read(MAX_ANSWER_BYTES, () => 2);
  if (version !== VERSION) throw new ProxyRefusal('it is no SOCKS 5 proxy');
  if (method === NONE_ACCEPTABLE || method === undefined || !methods.includes(method)) {
    const remedy = 'it requires a user and a password, which belong into its URL';
    throw new ProxyRefusal(hasUser ? 'it accepts no user and password' : remedy);
  }
  if (method === USER_AND_PASSWORD) await authenticate(exchange, proxy);
  const address = addressOf(to.host);
  exchange.write(Uint8Array.of(VERSION, CONNECT, 0, ...address, to.port >> 8, to.port & 0xff));
  const reply = await exchange.read(MAX_ANSWER_BYTES, replyBytes);
  if (reply[0] !== VERSION) throw new ProxyRefusal('it is no SOCKS 5 proxy');
  const code = reply[1] ?? 1;
  if (code === SUCCEEDED) return;
  const why = REPLIES[code] ?? 'its answer is unknown';
  throw new ProxyRefusal(`it did not connect to ${formatHostPort(to.host, to.port)}: ${why} (${code})`);
}

async function authenticate(
  exchange: ProxyExchange,
  { username = '', password }: Pick<ProxyServer, 'username' | 'password'>,
): Promise<void> {
  const [user, secret] = [Buffer.from(username), Buffer.from(password?.reveal() ?? '')];
  exchange.write(
    Buffer.concat([
      Uint8Array.of(AUTHENTICATION_VERSION, user.length),
      user,
      Uint8Array.of(secret.length),
      secret,
    ]),
  );
  const [, status] = await exchange.read(MAX_ANSWER_BYTES, () => 2);
  if (status !== SUCCEEDED) throw new ProxyRefusal('it does not accept the user and the password');
}

/** Type and address, without the port. */
function addressOf(host: string): Uint8Array {
  const address = parseAddress(host);
  if (address !== undefined) return Uint8Array.of(address.length === 4 ? IPV4 : IPV6, ...address);
  const name = Buffer.from(host);
  if (name.length > MAX_NAME_BYTES) throw new ProxyRefusal('the name of the server is too long');
  return Uint8Array.of(DOMAIN_NAME, name.length, ...name);
}

/** Undefined while the length is unknown. A refusal is complete with its code, and so is a reply with an unknown address. */
function replyBytes(bytes: Uint8Array): number | undefined {
  if (bytes.length >= REFUSAL_BYTES && bytes[1] !== SUCCEEDED) return REFUSAL_BYTES;
  if (bytes.length <= REPLY_HEAD_BYTES) return undefined;
  const sizes: Readonly<Record<number, number>> = {
    [IPV4]: 4,
    [IPV6]: 16,
    [DOMAIN_NAME]: 1 + bytes[REPLY_HEAD_BYTES]!,
  };
  const size = sizes[bytes[3]!];
  return size === undefined ? REPLY_HEAD_BYTES : REPLY_HEAD_BYTES + size + PORT_BYTES;
}
