/** A server that stands for the API of a DNS provider: it keeps the requests and answers by a function. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Secret } from '#base';
import { OutwardDialer } from '#net';
import type { ChallengeRecord } from './dns-provider.ts';
import type { ProviderContext } from './provider-context.ts';

export interface DnsApiRequest {
  /** `METHOD /path?query`. */
  readonly line: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface DnsApiAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is, everything else as JSON. */
  readonly body: unknown;
}

export interface ProviderApi {
  readonly origin: string;
  readonly requests: DnsApiRequest[];
  /** The pauses before the tries of requests that failed, in milliseconds. */
  readonly pauses: number[];
  /** The context of a provider at this server; `secret` is the content of its file. */
  context(
    secret: string | undefined,
    settings?: Readonly<Record<string, string>>,
    folder?: string,
  ): ProviderContext;
  close(): void;
}

export async function openProviderApi(
  answer: (request: DnsApiRequest) => DnsApiAnswer | Promise<DnsApiAnswer>,
): Promise<ProviderApi> {
  const requests: DnsApiRequest[] = [];
  const pauses: number[] = [];
  const server = createServer(async (incoming, response) => {
    const body = (await incoming.toArray()).join('');
    const request = { line: `${incoming.method} ${incoming.url}`, headers: incoming.headers, body };
    requests.push(request);
    const { status = 200, headers = {}, body: text } = await answer(request);
    response.writeHead(status, { ...headers });
    response.end(typeof text === 'string' ? text : JSON.stringify(text));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    requests,
    pauses,
    context: (secret, settings = {}, folder = '/nowhere') => ({
      settings,
      secret:
        secret === undefined
          ? undefined
          : { source: 'token-file=/etc/token', file: new Secret(secret), variables: {} },
      rights: 'the right R',
      folder,
      outward: new OutwardDialer(),
      origin,
      pause: async (ms) => void pauses.push(ms),
    }),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A record at a name without an alias. */
export function recordAt(name: string, value: string): ChallengeRecord {
  return { name, target: name, value };
}

export const NEVER = new AbortController().signal;
