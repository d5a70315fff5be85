/** Pages instead of the browser program: for people without a role, for their account, and where the program is not built. */
import { html, type Html } from '../html/mod.ts';
import type { ConsoleSession } from '../credentials/people/mod.ts';
import type { ConsolePage } from './console-pages.ts';

/** What a person sees until a role is given. */
export function noRolePage(base: string, { name }: ConsoleSession, offer: Html): ConsolePage {
  const content = html`<p>${name}</p>
    <p>
      You do not have a role yet. Ask an administrator of your organization to assign one, then reload this
      page.
    </p>
    ${offer} ${logOutForm(base)}`;
  return { status: 200, title: 'Frontdoor', content };
}

/** The person's own log-in, with its second factor. */
export function accountHomePage(base: string, { name }: ConsoleSession, offer: Html): ConsolePage {
  const content = html`<p>${name}</p>
    ${offer}
    <p><a href="${base}">Go to the console</a></p>
    ${logOutForm(base)}`;
  return { status: 200, title: 'Your account', content };
}

/** Where the program is not built. */
export function noConsolePage(): ConsolePage {
  const content = html`<p>The console has not been built. The command line and the API work without it.</p>
    <p>
      Run <code>npm ci</code> and <code>npm run build</code> in the directory of this installation, then
      restart it. Or build the same version on another machine, copy its directory
      <code>dist/console</code> here, and restart.
    </p>`;
  return { status: 503, title: 'The console has not been built', content };
}

function logOutForm(base: string): Html {
  return html`<form method="post" action="${base}/log-out"><button>Sign out</button></form>`;
}
