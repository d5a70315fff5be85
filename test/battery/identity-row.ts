/**
 * H4: headers whose values the gateway vouches for. A client may send such a name in any spelling, doubled, as a
 * trailer, listed by Connection or in HTTP/1.0: the origin receives our value once, or none.
 */
import { hostOf, LISTENER_KINDS, type BatteryProduct, type ListenerKind } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { askBytes, statusOf } from './bytes-client.ts';
import { RawOrigin } from './raw-origin.ts';

/** Set by the gateway for every request. */
const SET = ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host'];
/** Set by the gateway with a value that differs from request to request. */
const UNIQUE = ['frontdoor-request-id'];
/** Reserved: set for callers that an auth provider admitted, or never. */
const RESERVED = [
  'X-Forwarded-Port',
  'X-Forwarded-Server',
  'X-Forwarded-User',
  'X-Forwarded-Email',
  'X-Forwarded-Groups',
  'X-Forwarded-Access-Token',
  'X-Forwarded-Prefix',
  'X-Forwarded-Uri',
  'X-Forwarded-Client-Cert',
  'Forwarded',
  'Zrok-Auth-Email',
  'Zrok-Auth-Provider',
  'Zrok-Auth-Expires',
  'Zrok-Auth-Groups',
  'Zrok-Auth-X',
  'Frontdoor-Identity',
  'Frontdoor-Email',
  'Frontdoor-Jwt',
  'Frontdoor-Request-Id',
  'Frontdoor-X',
];

interface Spelling {
  readonly name: string;
  readonly request: (field: string, host: string) => string;
  /** Refusing is right as well. */
  readonly mayRefuse?: boolean;
}

function withLines(lines: (field: string) => string): Spelling['request'] {
  return (field, host) => `GET / HTTP/1.1\r\nHost: ${host}\r\n${lines(field)}Connection: close\r\n\r\n`;
}

const mixed = (field: string): string =>
  [...field].map((char, i) => (i % 2 === 0 ? char.toLowerCase() : char.toUpperCase())).join('');

const SPELLINGS: readonly Spelling[] = [
  { name: 'as it is', request: withLines((field) => `${field}: evil\r\n`) },
  { name: 'in lower case', request: withLines((field) => `${field.toLowerCase()}: evil\r\n`) },
  { name: 'in capitals', request: withLines((field) => `${field.toUpperCase()}: evil\r\n`) },
  { name: 'in both', request: withLines((field) => `${mixed(field)}: evil\r\n`) },
  { name: 'with underscores', request: withLines((field) => `${field.replaceAll('-', '_')}: evil\r\n`) },
  { name: 'with one underscore', request: withLines((field) => `${field.replace('-', '_')}: evil\r\n`) },
  {
    name: 'with underscores, in capitals',
    request: withLines((field) => `${field.replaceAll('-', '_').toUpperCase()}: evil\r\n`),
  },
  { name: 'empty', request: withLines((field) => `${field}:\r\n`) },
  { name: 'without a space', request: withLines((field) => `${field}:evil\r\n`) },
  { name: 'doubled', request: withLines((field) => `${field}: evil\r\n${field}: evil2\r\n`) },
  {
    name: 'doubled in two spellings',
    request: withLines((field) => `${field}: evil\r\n${field.replaceAll('-', '_').toLowerCase()}: evil2\r\n`),
  },
  {
    name: 'before the Host',
    request: (field, host) =>
      `GET / HTTP/1.1\r\n${field}: evil\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
  },
  {
    name: 'with a space before the colon',
    request: withLines((field) => `${field} : evil\r\n`),
    mayRefuse: true,
  },
  { name: 'folded', request: withLines((field) => `${field}:\r\n evil\r\n`), mayRefuse: true },
  { name: 'behind a bare CR', request: withLines((field) => `X: y\r${field}: evil\r\n`), mayRefuse: true },
  {
    name: 'as a trailer',
    request: (field, host) =>
      `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\nTrailer: ${field}\r\nConnection: close\r\n\r\n1\r\nx\r\n0\r\n${field}: evil\r\n\r\n`,
  },
  {
    name: 'as a trailer that nobody announced',
    request: (field, host) =>
      `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\nx\r\n0\r\n${field.toLowerCase()}: evil\r\n\r\n`,
  },
  ...[
    (field: string) => field,
    (field: string) => field.toLowerCase(),
    (field: string) => field.toUpperCase(),
  ].map((spell, i) => ({
    name: `listed by Connection (${i + 1})`,
    request: (field: string, host: string) =>
      `GET / HTTP/1.1\r\nHost: ${host}\r\n${field}: evil\r\nConnection: close, ${spell(field)}\r\n\r\n`,
  })),
  {
    name: 'listed by Connection alone',
    request: (field, host) =>
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close, ${SET.join(', ')}, ${field}\r\n\r\n`,
  },
  {
    name: 'in HTTP/1.0',
    request: (field, host) => `GET / HTTP/1.0\r\nHost: ${host}\r\n${field}: evil\r\n\r\n`,
  },
  {
    name: 'on an upgrade',
    request: (field, host) =>
      `GET / HTTP/1.1\r\nHost: ${host}\r\n${field}: evil\r\nConnection: Upgrade, close, ${field}\r\nUpgrade: websocket\r\n\r\n`,
  },
];

export const IDENTITY_ROW: BatteryRow = {
  id: 'H4',
  title: 'a header that the gateway vouches for arrives with its own value once, or not at all',
  run: async (context, product) => {
    const tally = new Tally();
    const origin = await RawOrigin.start();
    origin.answer = (_request, socket) =>
      void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
    try {
      await product.share('h4-raw', origin.port);
      for (const kind of LISTENER_KINDS) {
        for (const [index, field] of [...SET, ...RESERVED].entries()) {
          // One parser serves both listeners: over TLS the quick form has each header and each spelling once.
          const spellings =
            context.quick && kind === 'tls' ? [SPELLINGS[index % SPELLINGS.length]!] : SPELLINGS;
          for (const spelling of spellings) await runSpelling(tally, product, origin, kind, field, spelling);
          context.progress(`${kind} ${field}`);
        }
      }
    } finally {
      await origin.close();
    }
    return tally;
  },
};

async function runSpelling(
  tally: Tally,
  product: BatteryProduct,
  origin: RawOrigin,
  kind: ListenerKind,
  field: string,
  { name, request, mayRefuse }: Spelling,
): Promise<void> {
  origin.forget();
  const host = hostOf('h4-raw');
  const answer = await askBytes(product.target(kind, 'h4-raw'), request(field, host)).catch(
    (error: unknown) => String(error),
  );
  const ours: Readonly<Record<string, string>> = {
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': kind === 'plain' ? 'http' : 'https',
    'x-forwarded-host': host,
  };
  const [seen] = origin.requests;
  const problem = (): string | undefined => {
    if (seen === undefined)
      return mayRefuse === true && statusOf(answer) === 400 && origin.begun === 0
        ? undefined
        : 'never arrived';
    if (seen.raw.includes('evil')) return `passed: ${JSON.stringify(seen.raw)}`;
    for (const [canonical, value] of Object.entries(ours)) {
      const values = seen.fields.filter(([other]) => fold(other) === canonical).map(([, found]) => found);
      if (values.length !== 1 || values[0] !== value) return `${canonical}: ${JSON.stringify(values)}`;
    }
    const other = fold(field);
    const found = seen.fields.filter(([name]) => fold(name) === other);
    if (UNIQUE.includes(other) && found.length === 1 && found[0]![1] !== '') return undefined;
    return found.length === 0 || other in ours ? undefined : `forged: ${JSON.stringify(found)}`;
  };
  const found = problem();
  tally.check(found === undefined, `${kind} ${field} ${name}`, () => `${found}; ${answer.slice(0, 80)}`);
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}
