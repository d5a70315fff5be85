/** What log-ins use of GitHub, on loopback: OAuth with PKCE and codes that work once, and two calls of the API. */
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface GithubProvider extends AsyncDisposable {
  /** `base_url` and `api_url` of a GITHUB provider. */
  readonly url: string;
  readonly port: number;
  user: { readonly id: number; readonly login: string; readonly name: string | null };
  emails: readonly { readonly email: string; readonly primary: boolean; readonly verified: boolean }[];
  readonly requests: string[];
  close(): Promise<void>;
}

export const GITHUB_CLIENT = { id: 'github-client', secret: 'the-secret-of-github' } as const;

export async function startGithubProvider(): Promise<GithubProvider> {
  const codes = new Map<string, { readonly challenge: string; readonly redirectUri: string }>();
  const tokens = new Set<string>();
  const server = createServer((request, response) => {
    // The client may be gone before the whole body came.
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const github: GithubProvider = {
    url: `http://localhost:${port}`,
    port,
    user: { id: 583_231, login: 'octocat', name: 'The Octocat' },
    emails: [
      { email: 'old@example.com', primary: false, verified: true },
      { email: 'Octocat@Example.com', primary: true, verified: true },
    ],
    requests: [],
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
    [Symbol.asyncDispose]: () => github.close(),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', github.url);
    github.requests.push(url.pathname);
    const json = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (url.pathname === '/login/oauth/authorize') {
      const { searchParams } = url;
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      const code = randomUUID();
      const challenge = searchParams.get('code_challenge') ?? '';
      codes.set(code, { challenge, redirectUri: back.href });
      back.searchParams.set('code', code);
      back.searchParams.set('state', searchParams.get('state') ?? '');
      response.writeHead(302, { location: back.href });
      response.end();
    } else if (url.pathname === '/login/oauth/access_token') {
      const form = await formOf(request);
      const known = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const challenge = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const isGood =
        known !== undefined &&
        known.challenge === challenge &&
        known.redirectUri === form.get('redirect_uri') &&
        form.get('client_id') === GITHUB_CLIENT.id &&
        form.get('client_secret') === GITHUB_CLIENT.secret;
      // GitHub answers 200 for errors too.
      if (!isGood) json(200, { error: 'bad_verification_code' });
      else {
        const access_token = `gho_${randomUUID()}`;
        tokens.add(access_token);
        json(200, { access_token, token_type: 'bearer', scope: 'read:user,user:email' });
      }
    } else if (!tokens.has((request.headers.authorization ?? '').replace('Bearer ', '')))
      json(401, { message: 'Bad credentials' });
    else if (url.pathname === '/user') json(200, github.user);
    else if (url.pathname === '/user/emails') json(200, github.emails);
    else json(404, { message: 'Not Found' });
  }
  return github;
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString());
}
