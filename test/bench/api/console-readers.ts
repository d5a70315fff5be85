/** Sessions at the console and their streams of changes, for benchmarks. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { get, type Agent, type IncomingMessage } from 'node:http';
import { callApi, type ApiAccess } from '../product.ts';

/** The API bounds the streams of one account. */
const STREAMS_OF_ACCOUNT = 40;

interface Account {
  readonly id: string;
  readonly token: string;
}

/** The account whose credentials it has. */
export function accountOf({ authorization }: ApiAccess): Account {
  const [, id = '', token = ''] = /^Basic ([^:]+):(.+)$/.exec(authorization)!;
  return { id, token };
}

/** Returns the cookies of so many sessions. */
export async function openSessions(access: ApiAccess, count: number): Promise<string[]> {
  const cookies: string[] = [];
  let account: Account | undefined;
  for (let at = 0; at < count; at += 1) {
    if (at % STREAMS_OF_ACCOUNT === 0) account = await makeAccount(access);
    cookies.push(await logIn(access, account!));
  }
  return cookies;
}

export async function openStreams(
  access: ApiAccess,
  cookies: readonly string[],
  agent: Agent,
): Promise<OpenStream[]> {
  const streams: OpenStream[] = [];
  // Connections without a proven caller are bounded.
  for (const cookie of cookies) streams.push(await openStream(access, cookie, agent));
  return streams;
}

export interface OpenStream {
  readonly response: IncomingMessage;
  events: number;
}

async function openStream(
  { apiUrl, frontdoorId }: ApiAccess,
  cookie: string,
  agent: Agent,
): Promise<OpenStream> {
  const headers = { cookie, origin: apiUrl, accept: 'text/event-stream' };
  const asked = get(`${apiUrl}/console/api/frontdoor/${frontdoorId}/changes`, { headers, agent });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`a stream was answered ${response.statusCode}`);
  const stream: OpenStream = { response, events: 0 };
  response.setEncoding('utf8').on('error', () => {});
  response.on('data', (text: string) => (stream.events += text.split('event: change').length - 1));
  await once(response, 'data');
  return stream;
}

async function makeAccount(access: ApiAccess): Promise<Account> {
  const { organizationId } = await callApi(access, 'GET', '/caller');
  const body = { name: 'reader', organizationId, scopes: ['frontdoor.read'] };
  const { id, token } = await callApi(access, 'POST', '/api-accounts', body);
  return { id: String(id), token: String(token) };
}

/** Returns the cookie of a new session, as a header has it. */
export async function logIn(access: ApiAccess, { id: name, token: password }: Account): Promise<string> {
  const answer = await submit(access, 'log-in', { name, password });
  return answer.headers.get('set-cookie')!.split(';')[0]!;
}

/** Makes a person with this password, by an invitation. */
export async function makePerson(
  access: ApiAccess,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  const invitation = { name: 'Ann', role: 'reader' };
  const { link } = await callApi(access, 'POST', '/invitations', invitation);
  const code = String(link).split('#')[1]!;
  await submit(access, 'welcome', { code, name: 'Ann', email, password });
}

/** Each creates a provider, and so has an event of its own. */
export async function makeChanges(access: ApiAccess, count: number): Promise<void> {
  const data = { placement: 'header', name: 'X-Key', keys: [{ name: 'a' }] };
  for (let at = 0; at < count; at += 1)
    await callApi(access, 'POST', `/frontdoor/${access.frontdoorId}/auth-providers`, {
      ...{ name: randomUUID(), type: 'API_KEY', data },
    });
}

/** Submits a form of the console, which leads to the next page. */
async function submit(
  { apiUrl }: ApiAccess,
  page: string,
  fields: Readonly<Record<string, string>>,
): Promise<Response> {
  const answer = await fetch(`${apiUrl}/console/${page}`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: apiUrl },
    body: new URLSearchParams(fields),
  });
  if (answer.status !== 303) throw new Error(`${page} of the console was answered ${answer.status}`);
  return answer;
}
