/** The log-in through OpenID Connect as a client makes it, for tests: from `authorize` to tokens, and their refresh. */
import { createHash, randomBytes } from 'node:crypto';
import { rawRequest } from './edge-api-fixture.ts';

const REDIRECT = 'http://127.0.0.1:41815/auth/callback';
const FORM = 'application/x-www-form-urlencoded';

export interface OidcTokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

export interface OidcAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly json: unknown;
}

interface OidcClient {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

type Target = Parameters<typeof rawRequest>[0];
type Fields = Readonly<Record<string, string>>;

export class OidcFlow {
  readonly #target: Target;
  readonly #client: OidcClient;
  readonly #verifier = randomBytes(32).toString('base64url');

  /** `client` is a certificate with its key, if the client presents one. */
  constructor(target: Target, client: OidcClient = {}) {
    this.#target = target;
    this.#client = client;
  }

  /** Returns the id of a new request. */
  async begin(method: string): Promise<string> {
    const query = new URLSearchParams({
      client_id: 'native',
      code_challenge: createHash('sha256').update(this.#verifier).digest('base64url'),
      code_challenge_method: 'S256',
      method,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid offline_access',
      state: 'a-state',
    });
    const { headers } = await this.#send('GET', `/oidc/authorize?${query.toString()}`);
    return new URL(String(headers['location']), 'https://localhost').searchParams.get('authRequestID') ?? '';
  }

  /** Posts one step: `cert`, `password`, `ext-jwt`, `totp`. `bearer` is a token of another party. */
  step(step: string, form: Fields, bearer?: string): Promise<OidcAnswer> {
    const headers: Fields = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
    return this.#send('POST', `/oidc/login/${step}`, form, headers);
  }

  /** Ends the log-in whose last step led to the callback. */
  async tokens(last: OidcAnswer): Promise<OidcTokens> {
    if (last.status !== 302) throw new Error(`the log-in continues: ${last.status}`);
    const callback = new URL(String(last.headers['location']));
    const { headers } = await this.#send('GET', `${callback.pathname}${callback.search}`);
    const code = new URL(String(headers['location'])).searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', code, code_verifier: this.#verifier };
    const answer = await this.#send('POST', '/oidc/oauth/token', {
      ...form,
      client_id: 'native',
      redirect_uri: REDIRECT,
    });
    if (answer.status !== 200) throw new Error(`no tokens: ${JSON.stringify(answer.json)}`);
    return answer.json as OidcTokens;
  }

  refresh({ refresh_token }: OidcTokens): Promise<OidcAnswer> {
    const form = { grant_type: 'refresh_token', refresh_token, client_id: 'native' };
    return this.#send('POST', '/oidc/oauth/token', form);
  }

  /** Lists services with an access token. */
  async services({ access_token }: OidcTokens): Promise<number> {
    const headers = { authorization: `Bearer ${access_token}` };
    return (await this.#send('GET', '/edge/client/v1/services', undefined, headers)).status;
  }

  #send(method: string, path: string, form?: Fields, headers: Fields = {}): Promise<OidcAnswer> {
    const body = form === undefined ? undefined : new URLSearchParams(form).toString();
    const sent = { accept: 'application/json', ...(form === undefined ? {} : { 'content-type': FORM }) };
    return rawRequest(this.#target, {
      method,
      path,
      body,
      headers: { ...sent, ...headers },
      ...this.#client,
    });
  }
}
