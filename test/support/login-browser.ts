/**
 * Goes through an identity provider as a browser would: follows its redirects with its cookies, presses the button of
 * its form, and stops where it is sent to a share's log-in host. Trusts `ca` when there is TLS.
 */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';

export interface LoginBrowserOptions {
  readonly ca?: string;
  /** The button that it presses. */
  readonly user?: string;
  /** Kept between log-ins, so that the provider recognizes the browser. */
  readonly cookies?: Map<string, string>;
  /** Confirms the question whether to log out. */
  readonly logsOut?: true;
}

const MAX_STEPS = 20;

/** The first address that is of no identity provider: where the answer is to go. */
export async function goThroughProvider(start: string, options: LoginBrowserOptions = {}): Promise<URL> {
  const { cookies = new Map<string, string>() } = options;
  let url = new URL(start);
  const { origin } = url;
  let form: string | undefined;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    if (url.origin !== origin) return url;
    const { status, location, text } = await ask(url, cookies, form, options.ca);
    form = undefined;
    if (status >= 300 && status < 400 && location !== undefined) {
      url = new URL(location, url);
    } else if (status === 200 && options.logsOut === true) {
      url = new URL(fieldOf(text, /<form[^>]* action="([^"]+)"/), url);
      form = new URLSearchParams({
        xsrf: fieldOf(text, /name="xsrf" value="([^"]+)"/),
        logout: 'yes',
      }).toString();
    } else if (status === 200 && options.user !== undefined) {
      const [, action] = /<form method="post" action="([^"]+)"/.exec(text) ?? [];
      if (action === undefined) throw new Error(`no form at ${url.href}: ${text.slice(0, 300)}`);
      url = new URL(action, url);
      form = new URLSearchParams({ user: options.user }).toString();
    } else throw new Error(`${status} at ${url.href}: ${text.slice(0, 300)}`);
  }
  throw new Error(`more than ${MAX_STEPS} steps`);
}

function fieldOf(text: string, pattern: RegExp): string {
  const value = pattern.exec(text)?.[1];
  if (value === undefined) throw new Error(`nothing like ${pattern.source} in ${text.slice(0, 300)}`);
  return value;
}

async function ask(url: URL, cookies: Map<string, string>, form: string | undefined, ca: string | undefined) {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const sent = send(url, {
    method: form === undefined ? 'GET' : 'POST',
    agent: false,
    headers: {
      accept: 'text/html',
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    ca,
  });
  // The answer reports a connection that breaks off later.
  sent.on('error', () => {});
  sent.end(form);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  for (const line of response.headers['set-cookie'] ?? []) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value === '') cookies.delete(name);
    else cookies.set(name, value);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return { status: response.statusCode ?? 0, location: response.headers.location, text };
}
