/** Pages in place of the browser program: for people without a role, for their account, and until the program is built. */
import type { ConsoleAppState } from '../console-app/mod.ts';
import { html, type Html } from '../html/mod.ts';
import type { ConsoleSession } from '../store/mod.ts';
import type { ConsolePage } from './console-pages.ts';

const REFRESH_S = 1;

/** What a person sees until a role is given. */
export function noRolePage(base: string, { name }: ConsoleSession, offer: Html): ConsolePage {
  const content = html`<p>${name}</p>
    <p>
      You have no role yet. Ask an administrator of your organization to give you one, then reload this page.
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
  return { status: 200, title: 'Your log-in', content };
}

/** While the program is built, which takes a few seconds after the first start and after an update. */
export function comingPage(): ConsolePage {
  const content = html`<p>
    The console is being built. This takes a few seconds, once after an update. The page comes back by itself.
  </p>`;
  return { status: 503, title: 'One moment', content, refreshSeconds: REFRESH_S };
}

export function noConsolePage(state: ConsoleAppState): ConsolePage {
  if (state === 'missing') {
    const content = html`<p>
        This installation has no built console, and not what builds one: it was installed without its
        development dependencies.
      </p>
      <p>
        Run <code>npm ci</code> in its folder and start it again. Or build the console on another machine,
        with the same version and <code>npm run console</code>, copy
        <code>node_modules/.cache/frontdoor-console</code> from there, and start this one again. The command
        line and the API work without it.
      </p>`;
    return { status: 503, title: 'No console here', content };
  }
  const content = html`<p>
    The console could not be built. The log of the control plane names the cause, and reloading this page
    after a minute tries again. The command line and the API work without it.
  </p>`;
  return { status: 503, title: 'The console is not built', content };
}

function logOutForm(base: string): Html {
  return html`<form method="post" action="${base}/log-out"><button>Log out</button></form>`;
}
