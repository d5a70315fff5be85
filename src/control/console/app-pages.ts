/** Pages instead of the browser program: for people without a role, for their account, and where the program is not built. */
import { html, withCode, type Html } from '../html/mod.ts';
import type { ConsoleSession } from '../credentials/people/mod.ts';
import type { ConsolePage } from './page-document.ts';
import type { PageText } from './english-page-text.ts';

type Offer = (text: PageText) => Html;

/** What a person sees until a role is given. */
export function noRolePage(base: string, { name, owner }: ConsoleSession, offer: Offer): ConsolePage {
  const content = (text: PageText) =>
    html`<p>${name}</p>
      <p>${text.noRole}</p>
      ${offer(text)} ${logOutForm(text, base)}`;
  const { organizationId } = owner;
  return { status: 200, title: () => 'Frontdoor', content, organizationId };
}

/** The person's own log-in, with its second factor. */
export function accountHomePage(base: string, { name, owner }: ConsoleSession, offer: Offer): ConsolePage {
  const content = (text: PageText) =>
    html`<p>${name}</p>
      ${offer(text)}
      <p><a href="${base}">${text.goToConsole}</a></p>
      ${logOutForm(text, base)}`;
  const { organizationId } = owner;
  return { status: 200, title: ({ yourAccount }) => yourAccount, content, organizationId };
}

/** Where the program is not built. */
export function noConsolePage(): ConsolePage {
  const content = (text: PageText) =>
    html`<p>${text.notBuiltText}</p>
      <p>${withCode(text.buildIt)}</p>`;
  return { status: 503, title: ({ notBuilt }) => notBuilt, content };
}

function logOutForm(text: PageText, base: string): Html {
  return html`<form method="post" action="${base}/log-out"><button>${text.signOut}</button></form>`;
}
