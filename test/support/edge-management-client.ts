/** An administrator who is logged in at the edge management API of a control plane. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';

export interface AdminCredentials {
  readonly username: string;
  readonly password: string;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export class EdgeManagementClient {
  readonly #url: string;
  readonly #session: string;

  private constructor(url: string, session: string) {
    this.#url = url;
    this.#session = session;
  }

  static async logIn(edgeApiUrl: string, credentials: AdminCredentials): Promise<EdgeManagementClient> {
    const url = `${edgeApiUrl}/edge/management/v1/`;
    const login = await send(`${url}authenticate?method=password`, 'POST', {}, credentials);
    assert.equal(login.status, 200, login.text);
    return new EdgeManagementClient(url, String(login.headers['zt-session']));
  }

  /** Resolves with the text of the answer. Fails if it is a refusal. */
  async call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<string> {
    const answer = await send(this.#url + path, method, { 'zt-session': this.#session }, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.text;
  }

  /** Resolves with the id of what is created. */
  async create(kind: string, body: object): Promise<string> {
    return (JSON.parse(await this.call('POST', kind, body)) as { data: { id: string } }).data.id;
  }

  /** Resolves with the id of the one that has this name. */
  async find(kind: string, name: string): Promise<string> {
    const filter = encodeURIComponent(`name = "${name}"`);
    const { data } = JSON.parse(await this.call('GET', `${kind}?filter=${filter}`)) as {
      data: readonly { id: string }[];
    };
    return data[0]!.id;
  }
}

async function send(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: object,
): Promise<Answer> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = request(url, { method, headers: { ...headers, ...type }, rejectUnauthorized: false });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode!, headers: answer.headers, text: await text(answer) };
}
