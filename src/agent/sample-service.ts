/**
 * The demo's private service: a small page that shows requests as they arrive behind the frontdoor, an echo, a
 * stream of events, and any number of bytes. Plain node:http on loopback; not part of the product's data path.
 * Run directly, it accepts `--host` and `--port` and prints one JSON line with its port.
 */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';

// As in `src/net/http/node-http.ts`, whose part would be more than all of this program.
const { createServer } = process.getBuiltinModule('node:http');

export interface SampleService {
  readonly port: number;
  close(): Promise<void>;
}

const MAX_ECHO_BYTES = 16 * 1024 * 1024;
const MAX_BYTES = 10 * 1024 ** 3;
const STREAM_EVENTS = 10;
const BLOCK = Buffer.from(Uint8Array.from({ length: 65_536 }, (_, i) => i % 251));

export async function startSampleService(
  options: { host?: string; port?: number; streamMs?: number } = {},
): Promise<SampleService> {
  const { host = '127.0.0.1', port = 0, streamMs = 1_000 } = options;
  const server = createServer((request, response) => serve(request, response, streamMs));
  server.on('clientError', (_error, socket) => socket.destroy());
  server.listen(port, host);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) };
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

function serve(request: IncomingMessage, response: ServerResponse, streamMs: number): void {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
  const bytes = /^\/bytes\/(\d{1,11})$/.exec(path);
  if (path === '/echo') echo(request, response);
  else if (request.method !== 'GET' && request.method !== 'HEAD') {
    request.resume();
    response
      .writeHead(405, { 'content-type': 'text/plain', allow: 'GET, HEAD' })
      .end('only GET and HEAD here\n');
  } else if (path === '/') page(request, response);
  else if (path === '/stream') stream(request, response, streamMs);
  else if (bytes !== null) sendBytes(request, response, Number(bytes[1]));
  else
    response
      .writeHead(404, { 'content-type': 'text/plain' })
      .end('not found; try /, /echo, /stream or /bytes/1000\n');
}

/** Streams the body back with its content type. */
function echo(request: IncomingMessage, response: ServerResponse): void {
  const length = request.headers['content-length'];
  if (Number(length ?? 0) > MAX_ECHO_BYTES) {
    response.writeHead(413, { 'content-type': 'text/plain', connection: 'close' }).end('too long to echo\n');
    return;
  }
  response.writeHead(200, {
    'content-type': request.headers['content-type'] ?? 'application/octet-stream',
    ...(length === undefined ? {} : { 'content-length': length }),
  });
  let received = 0;
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > MAX_ECHO_BYTES) response.destroy();
  });
  request.on('error', () => response.destroy());
  request.pipe(response);
}

function stream(request: IncomingMessage, response: ServerResponse, everyMs: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  let sent = 0;
  const send = (): void => {
    sent += 1;
    response.write(`id: ${sent}\ndata: ${new Date().toISOString()} event ${sent} of ${STREAM_EVENTS}\n\n`);
    if (sent < STREAM_EVENTS) return;
    clearInterval(timer);
    response.end();
  };
  const timer = setInterval(send, everyMs);
  response.on('close', () => clearInterval(timer));
  send();
}

/** Byte `i` of the body is `i % 65536 % 251`, so that a receiver can verify every byte. */
function sendBytes(request: IncomingMessage, response: ServerResponse, length: number): void {
  if (length > MAX_BYTES) {
    response.writeHead(400, { 'content-type': 'text/plain' }).end(`at most ${MAX_BYTES} bytes\n`);
    return;
  }
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': length });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  let left = length;
  const pump = (): void => {
    while (left > 0) {
      const block = left >= BLOCK.length ? BLOCK : BLOCK.subarray(0, left);
      left -= block.length;
      if (!response.write(block)) {
        response.once('drain', pump);
        return;
      }
    }
    response.end();
  };
  pump();
}

function page(request: IncomingMessage, response: ServerResponse): void {
  const rows: string[] = [];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    rows.push(
      `<tr><th>${escape(request.rawHeaders[i] ?? '')}</th><td>${escape(request.rawHeaders[i + 1] ?? '')}</td></tr>`,
    );
  }
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>A private service</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; color: #1c2733; }
h1 { font-size: 1.6rem; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d9e0e6; overflow-wrap: anywhere; }
th { white-space: nowrap; color: #51616f; font-weight: 500; } code { background: #eef2f5; padding: .1rem .3rem; }
@media (prefers-color-scheme: dark) { body { background: #12181e; color: #dce4ea; } code { background: #232d36; }
th, td { border-color: #2c3842; } th { color: #93a3b0; } }
</style>
</head>
<body>
<h1>It works: this page is served privately</h1>
<p>The service that wrote it listens on loopback only and has opened no port to you. An agent beside it dialed out,
and the frontdoor brought your request here through the overlay.</p>
<p>Try also <a href="/stream"><code>/stream</code></a> (server-sent events), <a href="/bytes/100000"><code>/bytes/N</code></a>
and <code>curl -d hello …/echo</code>.</p>
<h2>Your request as it arrived</h2>
<p><code>${escape(request.method ?? '')} ${escape(request.url ?? '')}</code></p>
<table>${rows.join('')}</table>
</body>
</html>
`;
  response
    .writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      'cache-control': 'no-store',
    })
    .end(request.method === 'HEAD' ? undefined : body);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/**
 * The process prints one JSON line when it is ready, and ends cleanly on a signal or when the parent's channel
 * closes.
 */
export async function runSampleService(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { host: { type: 'string' }, port: { type: 'string' } } });
  const port = Number(values.port ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('--port must be 0 to 65535');
  const service = await startSampleService({ host: values.host ?? '127.0.0.1', port });
  process.stdout.write(`${JSON.stringify({ port: service.port, pid: process.pid })}\n`);
  const stop = (): void => {
    void service.close().then(() => process.exit(0));
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  process.once('disconnect', stop);
  // There is nothing to reload, and the signal must not end the process.
  process.on('SIGHUP', () => {});
}

if (import.meta.main) await runSampleService(process.argv.slice(2));
