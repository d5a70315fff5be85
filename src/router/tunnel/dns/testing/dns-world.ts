/** A name server on a free port of loopback, and upstreams whose answers a test decides. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { silentLog, systemClock } from '#base';
import { freePort } from '../../../../../test/support/free-port.ts';
import { DnsStreamDecoder, encodeStreamMessage } from '../dns-stream.ts';
import { NameServer, type NameServerOptions } from '../name-server.ts';
import { responseTo } from './dns-messages.ts';

type Config = NameServerOptions['config'];

export type OpenOptions = Partial<Config> & Partial<Omit<NameServerOptions, 'config'>>;

export async function openNameServer(
  t: TestContext,
  options: OpenOptions = {},
): Promise<{ server: NameServer; port: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-dns-'));
  const config: Config = {
    path: 'listeners[0]',
    // UDP and TCP have the same port, so one that the system picks for UDP may be taken for TCP.
    resolvers: [{ kind: 'udp', host: '127.0.0.1', port: await freePort() }],
    dnsSvcIpRange: '100.64.0.1/10',
    dnsUpstreams: [],
    dnsUpstreamMode: 'parallel',
    dnsUnanswerable: 'refused',
    ...options,
  };
  const server = await NameServer.open({
    file: join(folder, 'names'),
    placeOf: (path) => `router.yml:9: ${path}`,
    isInUse: () => false,
    clock: systemClock,
    log: silentLog,
    ...options,
    config,
  });
  t.after(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });
  return { server, port: server.ports[0] ?? 0 };
}

/** Returns the answer to a query, or undefined for none. */
export type UpstreamBehavior = (
  query: Buffer,
  protocol: 'udp' | 'tcp',
) => Buffer | readonly Buffer[] | undefined;

/** An upstream for UDP and TCP on one port. Probes are answered, and neither counted nor shown to the behavior. */
export class TestUpstream {
  readonly queries: { readonly protocol: 'udp' | 'tcp'; readonly message: Buffer; readonly port: number }[] =
    [];
  readonly port: number;
  behavior: UpstreamBehavior;
  probeBehavior: UpstreamBehavior = (query) => responseTo(query, { rcode: 3 });
  readonly #udp: Socket;
  readonly #tcp: Server;
  #isClosed = false;

  private constructor(udp: Socket, tcp: Server, port: number, behavior: UpstreamBehavior) {
    this.#udp = udp;
    this.#tcp = tcp;
    this.port = port;
    this.behavior = behavior;
    udp.on('message', (message, from) => {
      for (const answer of this.#answer(message, 'udp', from.port)) udp.send(answer, from.port, from.address);
    });
    tcp.on('connection', (socket) => {
      const decoder = new DnsStreamDecoder();
      socket.on('error', () => {});
      socket.on('data', (chunk: Buffer) => {
        decoder.push(chunk);
        for (let message = decoder.next(); message !== undefined; message = decoder.next())
          for (const answer of this.#answer(message, 'tcp', socket.remotePort!))
            socket.write(encodeStreamMessage(answer));
      });
    });
  }

  static async open(t: TestContext, behavior: UpstreamBehavior, fixedPort?: number): Promise<TestUpstream> {
    const port = fixedPort ?? (await freePort());
    const upstream = new TestUpstream(createSocket('udp4'), createServer(), port, behavior);
    t.after(() => upstream.close());
    await upstream.#listen();
    return upstream;
  }

  get config(): { protocol: 'udp'; host: string; port: number } {
    return { protocol: 'udp', host: '127.0.0.1', port: this.port };
  }

  /** Answers a query of UDP later, which the behavior left without an answer. */
  sendTo(port: number, answer: Buffer): void {
    this.#udp.send(answer, port, '127.0.0.1');
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#udp.close();
    this.#tcp.close();
  }

  async #listen(): Promise<void> {
    this.#udp.bind(this.port, '127.0.0.1');
    await once(this.#udp, 'listening');
    this.#tcp.listen(this.port, '127.0.0.1');
    await once(this.#tcp, 'listening');
  }

  #answer(message: Buffer, protocol: 'udp' | 'tcp', port: number): readonly Buffer[] {
    const isProbe = message.includes('frontdoor-probe');
    if (!isProbe) this.queries.push({ protocol, message, port });
    const answer = (isProbe ? this.probeBehavior : this.behavior)(message, protocol);
    return answer === undefined ? [] : Buffer.isBuffer(answer) ? [answer] : answer;
  }
}
