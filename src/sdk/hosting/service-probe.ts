/**
 * One health check of a hosted service: whether a port takes a connection, or what an HTTP server responds. Each ends by
 * itself at its time limit; of a response, a bounded part is read.
 */
import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, type LookupFunction } from 'node:net';
import { messageOf } from '#base';
import { systemAnchors } from '#net';
import { httpRequest } from '#net/http';
import type { HealthCheckConfig, HttpCheck, PortCheck } from './host-config.ts';

/** Returns why the service is unhealthy, or undefined if it is healthy. Never rejects. */
export type ServiceProbe = (check: HealthCheckConfig) => Promise<string | undefined>;

/** `expectInBody` has to be in this part of a response, of which nothing is kept. */
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 10;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** How a check connects. */
interface Connecting {
  readonly signal: AbortSignal;
  readonly lookup: LookupFunction;
}

/** `lookup` resolves the names of the targets. */
export function serviceProbe(lookup: LookupFunction): ServiceProbe {
  return async (check) => {
    const signal = AbortSignal.timeout(Math.ceil(check.timeoutMs));
    const connecting = { signal, lookup };
    try {
      return await (check.kind === 'port' ? probePort(check, connecting) : probeHttp(check, connecting));
    } catch (error) {
      return signal.aborted ? `no response within ${check.timeoutMs} ms` : messageOf(error);
    }
  };
}

function probePort({ host, port }: PortCheck, connecting: Connecting): Promise<undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const socket = connect({ host, port, ...connecting });
  socket.once('error', reject);
  socket.once('connect', () => {
    socket.destroy();
    resolve(undefined);
  });
  return promise;
}

async function probeHttp(check: HttpCheck, connecting: Connecting): Promise<string | undefined> {
  let { url, method, body } = check;
  for (let left = MAX_REDIRECTS; ; left -= 1) {
    const response = await open(url, { method, ...connecting }, body);
    const status = response.statusCode ?? 0;
    const { location } = response.headers;
    if (REDIRECTS.has(status) && location !== undefined && status !== check.expectStatus) {
      response.destroy();
      if (left === 0) return `more than ${MAX_REDIRECTS} redirects`;
      url = new URL(location, url);
      // As browsers do it: only 307 and 308 repeat the request as it was.
      if (status < 307) [method, body] = ['GET', ''];
      continue;
    }
    if (status !== check.expectStatus) {
      response.destroy();
      return `status ${status} instead of ${check.expectStatus}`;
    }
    return bodyFault(response, check.expectInBody);
  }
}

function open(url: URL, options: RequestOptions, body: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request =
    url.protocol === 'https:'
      ? httpsRequest(url, { ...options, agent: false, ca: systemAnchors() })
      : httpRequest(url, { ...options, agent: false });
  request.once('response', resolve);
  request.on('error', reject);
  request.end(body);
  return promise;
}

async function bodyFault(response: IncomingMessage, expected: string): Promise<string | undefined> {
  if (expected === '') {
    response.destroy();
    return undefined;
  }
  const sought = Buffer.from(expected);
  let tail = Buffer.alloc(0);
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const part = Buffer.concat([tail, chunk]);
    if (part.includes(sought)) return undefined;
    tail = Buffer.from(part.subarray(Math.max(0, part.length - sought.length + 1)));
    length += chunk.length;
    if (length >= MAX_BODY_BYTES) break;
  }
  return 'the body does not contain the expected text';
}
