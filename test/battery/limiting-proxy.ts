/** A front of pebble that refuses new orders with 429 while it is asked to, as an authority does beyond its rate limits. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const NEW_ORDER = '/order-plz';
const PROBLEM = JSON.stringify({
  type: 'urn:ietf:params:acme:error:rateLimited',
  detail: 'too many new orders recently',
  status: 429,
});

export class LimitingProxy {
  isLimited = false;
  /** Orders that were refused. */
  refused = 0;
  /** Orders that were passed on. */
  passed = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** `folder`: that of pebble, whose certificate it shows. */
  static async start(folder: string, directoryUrl: string): Promise<LimitingProxy> {
    const [cert, key] = [readFileSync(join(folder, 'pebble.crt')), readFileSync(join(folder, 'pebble.key'))];
    const ca = readFileSync(join(folder, 'pebble-ca.pem'));
    const { port } = new URL(directoryUrl);
    const server = createServer({ cert, key });
    const proxy = new LimitingProxy(server);
    server.on('request', (asked, answer) => {
      if (asked.url === NEW_ORDER) {
        if (proxy.isLimited) {
          proxy.refused += 1;
          answer.writeHead(429, { 'content-type': 'application/problem+json', 'retry-after': '3600' });
          answer.end(PROBLEM);
          return;
        }
        proxy.passed += 1;
      }
      const { method, url, headers } = asked;
      // Pebble makes its addresses from the Host field.
      const onward = request({ host: 'localhost', port, ca, method, path: url, headers }, (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      });
      onward.on('error', () => answer.destroy());
      asked.pipe(onward);
    });
    server.listen(0, 'localhost');
    await once(server, 'listening');
    return proxy;
  }

  get directoryUrl(): string {
    return `https://localhost:${(this.#server.address() as AddressInfo).port}/dir`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
