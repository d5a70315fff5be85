/**
 * H5: hop-by-hop headers are not forwarded, and upgrades follow RFC 9112 and 9110 §7.6. Examples, and a WebSocket
 * with real frames through both listeners.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { within } from '../support/deadline.ts';
import { hostOf, LISTENER_KINDS, type BatteryProduct, type ListenerKind } from './battery-product.ts';
import { Tally, type BatteryRow } from './battery-row.ts';
import { askBytes, BytesClient, statusOf } from './bytes-client.ts';
import { RawOrigin, type AnswerScript } from './raw-origin.ts';

const FRAMES = 10_000;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';

interface HopCase {
  readonly name: string;
  readonly lines: string;
  readonly requestLine?: string;
  readonly body?: string;
  readonly answer?: AnswerScript | string;
  /**
   * Checks the request at the origin (`seen`; undefined when none came) and the client's answer. Returns the problem,
   * if any.
   */
  readonly judge: (seen: string | undefined, answer: string, strays: readonly string[]) => string | undefined;
}

/** The origin got a request without any of `words`, and the client its answer. */
function without(...words: readonly string[]): HopCase['judge'] {
  return (seen, answer) => {
    if (seen === undefined) return 'no request came';
    const found = words.filter((word) => seen.toLowerCase().includes(word.toLowerCase()));
    if (found.length > 0) return `passed on: ${found.join(', ')}`;
    return statusOf(answer) === 200 ? undefined : `status ${statusOf(answer)}`;
  };
}

function answers(pattern: RegExp, ...absent: readonly string[]): HopCase['judge'] {
  return (_seen, answer) => {
    const found = absent.filter((word) => answer.includes(word));
    if (found.length > 0) return `in the answer: ${found.join(', ')}`;
    return pattern.test(answer) ? undefined : 'another answer';
  };
}

const CLOSE = 'Connection: close\r\n';

export const HOP_CASES: readonly HopCase[] = [
  { name: 'Connection itself', lines: CLOSE, judge: without('connection:') },
  { name: 'Keep-Alive', lines: `${CLOSE}Keep-Alive: timeout=5\r\n`, judge: without('keep-alive') },
  { name: 'TE', lines: 'Connection: close, TE\r\nTE: deflate, gzip\r\n', judge: without('\r\nte:') },
  // Trailers are what the gateway itself accepts from the service then.
  {
    name: 'TE beside trailers',
    lines: 'Connection: close, TE\r\nTE: deflate, trailers\r\n',
    judge: without('deflate', 'close'),
  },
  { name: 'TE that Connection does not name', lines: `${CLOSE}TE: gzip\r\n`, judge: without('\r\nte:') },
  { name: 'Trailer', lines: `${CLOSE}Trailer: X-T\r\n`, judge: without('x-t') },
  { name: 'Proxy-Connection', lines: `${CLOSE}Proxy-Connection: keep-alive\r\n`, judge: without('proxy-') },
  {
    name: 'Proxy-Authorization',
    lines: `${CLOSE}Proxy-Authorization: Basic x\r\n`,
    judge: without('proxy-'),
  },
  {
    name: 'what Connection lists',
    lines: 'Connection: close, X-A,x-b\r\nX-A: gone\r\nX-B: gone\r\n',
    judge: without('gone'),
  },
  {
    name: 'what two Connection headers list',
    lines: 'Connection: X-A\r\nConnection: close, X-B\r\nX-A: gone\r\nX-B: gone\r\n',
    judge: without('gone'),
  },
  {
    name: 'a cookie, which Connection may not remove unseen',
    lines: 'Connection: close\r\nCookie: a=b\r\n',
    judge: (seen) => (seen?.includes('Cookie: a=b') === true ? undefined : 'no cookie'),
  },
  {
    name: 'h2c',
    lines: 'Connection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n',
    judge: without('upgrade', 'http2-settings', 'h2c'),
  },
  {
    name: 'h2c in capitals',
    lines: 'Connection: close, Upgrade\r\nUpgrade: H2C\r\n',
    judge: without('upgrade', 'h2c'),
  },
  {
    name: 'h2c in a list',
    lines: 'Connection: close, Upgrade\r\nUpgrade: websocket, h2c\r\n',
    judge: without('upgrade', 'h2c'),
  },
  {
    name: 'an upgrade to TLS',
    lines: 'Connection: close, Upgrade\r\nUpgrade: TLS/1.2\r\n',
    judge: without('upgrade'),
  },
  {
    name: 'an upgrade that Connection does not name',
    lines: `${CLOSE}Upgrade: websocket\r\n`,
    judge: without('upgrade'),
  },
  {
    name: 'an upgrade in HTTP/1.0',
    lines: UPGRADE,
    requestLine: 'GET / HTTP/1.0',
    judge: without('upgrade'),
  },
  {
    name: 'an upgrade with a body',
    lines: `Connection: close, Upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n`,
    body: 'x',
    judge: without('upgrade'),
  },
  {
    name: '100 that the origin sends',
    lines: `${CLOSE}Expect: 100-continue\r\nContent-Length: 1\r\n`,
    body: 'x',
    answer: `HTTP/1.1 100 Continue\r\n\r\n${OK}`,
    judge: answers(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/),
  },
  {
    name: '103 that the origin sends',
    lines: CLOSE,
    answer: `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}`,
    judge: answers(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a>\r\n\r\nHTTP\/1\.1 200 OK/),
  },
  {
    name: 'no interim answer for HTTP/1.0',
    lines: '',
    requestLine: 'GET / HTTP/1.0',
    answer: `HTTP/1.1 103 Early Hints\r\n\r\n${OK}`,
    judge: answers(/^HTTP\/1\.1 200 OK/, ' 103 '),
  },
  {
    name: 'no chunks for HTTP/1.0',
    lines: '',
    requestLine: 'GET / HTTP/1.0',
    answer: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    judge: answers(/^HTTP\/1\.1 200 OK[^]*\r\n\r\nok$/, 'chunked'),
  },
  {
    name: 'an expectation in HTTP/1.0',
    lines: 'Expect: 100-continue\r\nContent-Length: 1\r\n',
    requestLine: 'POST / HTTP/1.0',
    body: 'x',
    judge: answers(/^HTTP\/1\.1 200 OK/, ' 100 '),
  },
  {
    name: 'an early answer',
    lines: 'Content-Length: 1000000\r\n',
    requestLine: 'POST / HTTP/1.1',
    body: 'x',
    answer: 'early',
    judge: answers(/^HTTP\/1\.1 403 [^]*\r\nConnection: close\r\n[^]*no$/),
  },
  {
    name: '204 without a length',
    lines: CLOSE,
    answer: 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n',
    judge: answers(/^HTTP\/1\.1 204 No Content\r\n[^]*\r\n\r\n$/, 'Content-Length', 'Transfer-Encoding'),
  },
  {
    name: '304 without a body',
    lines: CLOSE,
    answer: 'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 100\r\n\r\n',
    judge: answers(/^HTTP\/1\.1 304 [^]*ETag: "x"[^]*\r\n\r\n$/),
  },
  {
    name: 'HEAD keeps its length',
    lines: CLOSE,
    requestLine: 'HEAD / HTTP/1.1',
    answer: 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n',
    judge: answers(/\r\nContent-Length: 100\r\n[^]*\r\n\r\n$/),
  },
  {
    name: 'hop-by-hop headers of the answer',
    lines: CLOSE,
    answer:
      'HTTP/1.1 200 OK\r\nConnection: X-A\r\nX-A: gone\r\nKeep-Alive: timeout=5\r\nProxy-Authenticate: Basic\r\nContent-Length: 2\r\n\r\nok',
    judge: answers(/^HTTP\/1\.1 200 OK/, 'gone', 'Keep-Alive', 'Proxy-'),
  },
  {
    name: 'bytes behind an upgrade that is not granted',
    lines: UPGRADE,
    body: 'GET /poison HTTP/1.1\r\nHost: x\r\n\r\n',
    answer: 'HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno',
    judge: (seen, answer, strays) =>
      seen?.includes('poison') === true || strays.length > 0
        ? 'they reached the origin'
        : answers(/^HTTP\/1\.1 403 [^]*\r\nConnection: close\r\n\r\nno$/)(seen, answer, strays),
  },
  {
    name: 'a switch to another protocol than asked',
    lines: UPGRADE,
    answer: 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
    judge: answers(/^HTTP\/1\.1 502 /, 'HTTP/1.1 101'),
  },
];

export const HOP_ROW: BatteryRow = {
  id: 'H5',
  title: 'hop-by-hop headers are not forwarded, and only the origin grants an upgrade',
  run: async (context, product) => {
    const tally = new Tally();
    const origin = await RawOrigin.start();
    try {
      await product.share('h5-raw', origin.port);
      for (const kind of LISTENER_KINDS) {
        for (const hopCase of HOP_CASES) await runCase(tally, product, origin, kind, hopCase);
        await runHeldBytes(tally, product, origin, kind);
        await runExpectation(tally, product, origin, kind);
      }
    } finally {
      await origin.close();
    }
    await runWebSocket(tally, product, context.quick ? FRAMES / 10 : FRAMES);
    return tally;
  },
};

async function runCase(
  tally: Tally,
  product: BatteryProduct,
  origin: RawOrigin,
  kind: ListenerKind,
  { name, lines, requestLine = 'GET / HTTP/1.1', body = '', answer = OK, judge }: HopCase,
): Promise<void> {
  origin.forget();
  const isEarly = answer === 'early';
  origin.answer = typeof answer === 'string' ? (_request, socket) => void socket.write(answer) : answer;
  const client = await BytesClient.open(product.target(kind, 'h5-raw'));
  try {
    client.send(`${requestLine}\r\nHost: ${hostOf('h5-raw')}\r\n${lines}\r\n${body}`);
    if (isEarly) await answerEarly(origin);
    const text = await client.ended().catch((error: unknown) => `${String(error)} ${client.received}`);
    const problem = judge(origin.requests[0]?.raw, text, origin.strays);
    tally.check(
      problem === undefined,
      `${kind} ${name}`,
      () => `${problem}: ${JSON.stringify(text.slice(0, 200))}`,
    );
  } finally {
    client.close();
  }
}

async function answerEarly(origin: RawOrigin): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = setInterval(() => {
    if (origin.begun > 0) resolve();
  }, 5);
  await within('the request begins', promise).finally(() => clearInterval(look));
  // The raw origin itself answers whole requests alone.
  origin.begunOn?.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
}

/** Bytes that a client sends behind an upgrade are held until the origin answers. */
async function runHeldBytes(
  tally: Tally,
  product: BatteryProduct,
  origin: RawOrigin,
  kind: ListenerKind,
): Promise<void> {
  origin.forget();
  let early = '';
  let late = '';
  const asked = Promise.withResolvers<() => void>();
  const arrived = Promise.withResolvers<void>();
  origin.answer = (_request, socket) => {
    socket.removeAllListeners('data');
    let isSwitched = false;
    socket.on('data', (bytes: Buffer) => {
      if (isSwitched) late += bytes.toString();
      else early += bytes.toString();
      if (late === 'EARLY') arrived.resolve();
    });
    asked.resolve(() => {
      isSwitched = true;
      socket.write(SWITCH);
    });
  };
  const client = await BytesClient.open(product.target(kind, 'h5-raw'));
  try {
    client.send(`GET / HTTP/1.1\r\nHost: ${hostOf('h5-raw')}\r\n${UPGRADE}\r\nEARLY`);
    const grant = await within('the upgrade arrives', asked.promise);
    tally.check(early === '', `${kind}: nothing reaches the origin before 101`, () => early);
    grant();
    await within('the held bytes arrive', arrived.promise).catch(() => {});
    tally.check(late === 'EARLY', `${kind}: the held bytes follow 101`, () => late);
  } finally {
    client.close();
  }
}

/** The body waits for 100, and an origin that refuses at once receives nothing of it. */
async function runExpectation(
  tally: Tally,
  product: BatteryProduct,
  origin: RawOrigin,
  kind: ListenerKind,
): Promise<void> {
  origin.forget();
  const client = await BytesClient.open(product.target(kind, 'h5-raw'));
  try {
    client.send(
      `POST / HTTP/1.1\r\nHost: ${hostOf('h5-raw')}\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
    );
    await answerEarly(origin);
    const text = await client.ended();
    const isGood = statusOf(text) === 403 && /\r\nConnection: close\r\n/.test(text);
    tally.check(isGood, `${kind}: a refused expectation closes`, () => JSON.stringify(text.slice(0, 200)));
    tally.check(origin.requests.length === 0, `${kind}: no body was made up`);
  } finally {
    client.close();
  }
  origin.answer = (_request, socket) => void socket.write(OK);
  const next = await askBytes(
    product.target(kind, 'h5-raw'),
    `GET / HTTP/1.1\r\nHost: ${hostOf('h5-raw')}\r\n${CLOSE}\r\n`,
  ).catch((error: unknown) => String(error));
  tally.check(statusOf(next) === 200, `${kind}: the next request is not answered by it`);
}

async function runWebSocket(tally: Tally, product: BatteryProduct, frames: number): Promise<void> {
  const server = createServer({ keepAliveTimeout: 120_000 }, (_request, response) => response.end('ready'));
  const echo = new WebSocketServer({ server });
  echo.on('connection', (socket) =>
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await product.share('h5-ws', (server.address() as AddressInfo).port);
    for (const kind of LISTENER_KINDS) {
      const url =
        kind === 'plain' ? `ws://127.0.0.1:${product.plainPort}` : `wss://127.0.0.1:${product.securePort}`;
      const client = new WebSocket(url, {
        headers: { Host: hostOf('h5-ws') },
        ca: product.ca,
        // The name that the certificate is for, and that the gateway is asked by.
        ...(kind === 'plain' ? {} : { servername: hostOf('h5-ws') }),
      });
      await within('an open WebSocket', once(client, 'open'));
      let good = 0;
      let wrong = 0;
      const all = new Promise<void>((resolve) => {
        client.on('message', (data) => {
          if ((data as Buffer).toString() === `frame ${good + wrong}`) good += 1;
          else wrong += 1;
          if (good + wrong === frames) resolve();
        });
      });
      for (let i = 0; i < frames; i += 1) client.send(`frame ${i}`);
      await within('all frames', all).catch(() => {});
      tally.count(good, frames - good, `${kind}: WebSocket frames echoed in order`);
      client.terminate();
    }
  } finally {
    for (const socket of echo.clients) socket.terminate();
    echo.close();
    server.close();
    server.closeAllConnections();
  }
}
