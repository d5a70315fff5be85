/** Sessions at the console and their streams of changes, for benchmarks. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type Agent, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { FirstStart } from '#control';

/** The API bounds the streams of one account. */
const STREAMS_OF_ACCOUNT = 40;

export interface ConsoleInstallation {
  readonly apiUrl: string;
  readonly frontdoorId: string;
  /** Credentials with `frontdoor.admin` for the Management API. */
  readonly authorization: string;
}

interface Account {
  readonly id: string;
  readonly token: string;
}

/** `dataDir` is that of a control plane, with the credentials of its first start. */
export function consoleInstallation(dataDir: string, apiUrl: string): ConsoleInstallation {
  const text = readFileSync(join(dataDir, 'first-secrets.json'), 'utf8');
  const { frontdoorId, accountId, apiToken } = JSON.parse(text) as FirstStart;
  return { apiUrl, frontdoorId, authorization: `Basic ${accountId}:${apiToken}` };
}

/** Returns the cookies of so many sessions. */
export async function openSessions(installation: ConsoleInstallation, count: number): Promise<string[]> {
  const cookies: string[] = [];
  let account: Account | undefined;
  for (let at = 0; at < count; at += 1) {
    if (at % STREAMS_OF_ACCOUNT === 0) account = await makeAccount(installation);
    cookies.push(await logIn(installation, account!));
  }
  return cookies;
}

export async function openStreams(
  installation: ConsoleInstallation,
  cookies: readonly string[],
  agent: Agent,
): Promise<OpenStream[]> {
  const streams: OpenStream[] = [];
  // Connections without a proven caller are bounded.
  for (const cookie of cookies) streams.push(await openStream(installation, cookie, agent));
  return streams;
}

export interface OpenStream {
  readonly response: IncomingMessage;
  events: number;
}

async function openStream(
  { apiUrl, frontdoorId }: ConsoleInstallation,
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

async function makeAccount(installation: ConsoleInstallation): Promise<Account> {
  const { organizationId } = (await call(installation, 'GET', '/caller')) as { organizationId: string };
  const body = { name: 'reader', organizationId, scopes: ['frontdoor.read'] };
  return (await call(installation, 'POST', '/api-accounts', body)) as Account;
}

/** Returns the cookie of a new session, as a header has it. */
export async function logIn(
  { apiUrl }: Pick<ConsoleInstallation, 'apiUrl'>,
  { id: name, token: password }: Account,
): Promise<string> {
  const answer = await fetch(`${apiUrl}/console/log-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: apiUrl },
    body: new URLSearchParams({ name, password }),
  });
  if (answer.status !== 303) throw new Error(`a log-in was answered ${answer.status}`);
  return answer.headers.get('set-cookie')!.split(';')[0]!;
}

/** Makes a person with this password, by an invitation. */
export async function makePerson(
  installation: ConsoleInstallation,
  { email, password }: { readonly email: string; readonly password: string },
): Promise<void> {
  const invitation = { name: 'Ann', role: 'reader' };
  const { link } = (await call(installation, 'POST', '/invitations', invitation)) as { link: string };
  const answer = await fetch(`${installation.apiUrl}/console/welcome`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: installation.apiUrl },
    body: new URLSearchParams({ code: link.split('#')[1]!, name: 'Ann', email, password }),
  });
  if (answer.status !== 303) throw new Error(`an invitation was answered ${answer.status}`);
}

/** Each creates a provider, and so has an event of its own. */
export async function makeChanges(installation: ConsoleInstallation, count: number): Promise<void> {
  const data = { placement: 'header', name: 'X-Key', keys: [{ name: 'a' }] };
  for (let at = 0; at < count; at += 1)
    await call(installation, 'POST', `/frontdoor/${installation.frontdoorId}/auth-providers`, {
      ...{ name: randomUUID(), type: 'API_KEY', data },
    });
}

async function call(
  installation: ConsoleInstallation,
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<unknown> {
  const headers = { 'content-type': 'application/json', authorization: installation.authorization };
  const sent: RequestInit = body === undefined ? { headers } : { headers, body: JSON.stringify(body) };
  const answer = await fetch(installation.apiUrl + path, { ...sent, method });
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
