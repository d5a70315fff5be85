/** A browser at the console of a control plane, without a screen: it keeps the cookie of its session. */
import type { JsonAnswer, JsonClient } from '#net/http';

const COOKIE = '__Host-frontdoor-console';

export class HeadlessConsole {
  readonly #client: JsonClient;
  readonly #origin: string;
  #cookie = '';

  constructor(client: JsonClient, baseUrl: string) {
    this.#client = client;
    this.#origin = new URL(baseUrl).origin;
  }

  /** Sends a form as a page of the console does. Returns the status. */
  async post(path: string, fields: Readonly<Record<string, string>>): Promise<number> {
    const { status, headers } = await this.#client.request({
      method: 'POST',
      path: `/console${path}`,
      headers: {
        origin: this.#origin,
        'sec-fetch-site': 'same-origin',
        cookie: this.#cookie,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams(fields).toString(),
    });
    for (const line of [headers['set-cookie'] ?? []].flat()) {
      const [pair] = line.split(';');
      if (pair!.startsWith(`${COOKIE}=`)) this.#cookie = pair!;
    }
    return status;
  }

  call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<JsonAnswer> {
    const headers = { cookie: this.#cookie, 'sec-fetch-site': 'same-origin', 'frontdoor-console': '1' };
    return this.#client.request({ method, path: `/console/api${path}`, headers, body });
  }
}
