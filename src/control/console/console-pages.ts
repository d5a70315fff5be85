/**
 * The pages of the console that the control plane renders: log-in, invitation, errors. They are plain HTML, work without
 * JavaScript and with password managers, and load nothing from elsewhere. The one script takes the code of a link
 * out of the address, where no server and no log sees it.
 */
import { html, nothing, type Html } from '../html/mod.ts';
import type { InvitationRecord } from '../credentials/people/mod.ts';
import { CONSOLE_STYLE } from './console-style.ts';
import { MIN_PASSWORD_CHARS } from './password-rule.ts';
import type { ProviderOffer } from './provider-log-in.ts';

export interface ConsolePage {
  readonly status: number;
  readonly title: string;
  readonly content: Html;
  /** Whether the page takes the code of a link from its address. */
  readonly takesCode?: boolean;
  /** The path to which the browser continues by itself. */
  readonly leadsTo?: string;
  /** Whether the page has a picture, in its own text. */
  readonly showsPicture?: boolean;
}

/** Returns the page as a document. `base` is the path of the console; `nonce` allows the style. */
export function documentOf(
  { title, content, takesCode = false, leadsTo }: ConsolePage,
  base: string,
  nonce: string,
): string {
  const script = takesCode ? html`<script src="${base}/welcome.js" defer></script>` : nothing;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        ${leadsTo === undefined ? nothing : html`<meta http-equiv="refresh" content="0; url=${leadsTo}" />`}
        <title>${title} · Frontdoor</title>
        <style nonce="${nonce}">
          ${CONSOLE_STYLE}
        </style>
        ${script}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `.markup;
}

/** The script of pages that take the code of a link. */
export const WELCOME_SCRIPT = `const code = location.hash.slice(1);
if (code !== '') {
  history.replaceState(null, '', location.pathname);
  document.querySelector('input[name=code]').value = code;
  document.querySelector('form').requestSubmit();
}
`;

export function logInPage(
  base: string,
  {
    to,
    name = '',
    problem,
    offers = [],
    organizationId,
  }: {
    readonly to: string;
    readonly name?: string;
    readonly problem?: string | undefined;
    readonly offers?: readonly ProviderOffer[];
    /** The organization whose people log in; those of all by default. */
    readonly organizationId?: string | undefined;
  },
  status = 200,
): ConsolePage {
  const content = html`${wrong(problem)}
    <form method="post" action="${base}/log-in">
      ${organizationId === undefined ? '' : html`<input type="hidden" name="organization" value="${organizationId}" />`}
      <input type="hidden" name="to" value="${to}" />
      <label for="name">Email address</label>
      <input
        id="name"
        name="name"
        value="${name}"
        autocomplete="username"
        autocapitalize="none"
        spellcheck="false"
        required
        maxlength="254"
      />
      <label for="password">Password</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="current-password"
        required
        maxlength="256"
      />
      <button>Sign in</button>
    </form>
    ${offers.map(
      ({ providerId, name: label }) =>
        html`<p>
          <a href="${base}/log-in/with/${providerId}?to=${encodeURIComponent(to)}">Sign in with ${label}</a>
        </p>`,
    )}
    <p class="soft">
      You can also use the ID and token of an API account. If you have forgotten your password, ask an
      administrator of your organization for a link to set a new one.
    </p>`;
  return { status, title: 'Sign in', content };
}

/** Leads on from a page of the console itself, which sends the cookie of the session along. */
export function continuePage(to: string): ConsolePage {
  const content = html`<p><a href="${to}">Continue</a></p>`;
  return { status: 200, title: 'You are signed in', content, leadsTo: to };
}

/** Leads on to an identity provider. A redirect would not do: browsers hold it against the policy of the form before it. */
export function leadOnPage(url: string): ConsolePage {
  const content = html`<p><a href="${url}">Continue at the identity provider</a></p>`;
  return { status: 200, title: 'Sign in', content, leadsTo: url };
}

/** Asks for the code of an invitation, which the script takes from the address. */
export function codePage(base: string, problem?: string, status = 200): ConsolePage {
  const form = {
    title: 'Welcome to Frontdoor',
    path: 'welcome',
    purpose: 'It creates your account and can be used once.',
  };
  return linkCodePage(base, form, problem, status);
}

/** Asks for the code of a link that does something once, as `purpose` says in a sentence. */
export function linkCodePage(
  base: string,
  { title, path, purpose }: { readonly title: string; readonly path: string; readonly purpose: string },
  problem: string | undefined,
  status: number,
): ConsolePage {
  const content = html`${wrong(problem)}
    <p>Enter the code from your link: the part after <code>#</code>. ${purpose}</p>
    <form method="post" action="${base}/${path}">
      <label for="code">Code</label>
      <input
        id="code"
        name="code"
        autocomplete="off"
        autocapitalize="none"
        spellcheck="false"
        required
        maxlength="100"
      />
      <button>Continue</button>
    </form>`;
  return { status, title, content, takesCode: true };
}

export interface AccountForm {
  readonly code: string;
  readonly name: string;
  readonly email: string;
  readonly problem?: string | undefined;
  readonly organizationName: string | undefined;
  /** Identity providers that the person may use instead of a password. */
  readonly offers: readonly ProviderOffer[];
}

/** Names the inviter, the organization and the role. `organizationName` is undefined for an organization that was just deleted. */
function invitationText(
  { role, makerName, expiresAtMs }: InvitationRecord,
  organizationName: string | undefined,
): Html {
  const organization =
    organizationName === undefined
      ? nothing
      : html` to the organization <strong>${organizationName}</strong>`;
  const beginning =
    makerName === null ? html`You are invited` : html`<strong>${makerName}</strong> invites you`;
  const expires = new Date(expiresAtMs).toISOString().slice(0, 16).replace('T', ' ');
  return html`<p>${beginning}${organization}. Your account will have the role <strong>${role}</strong>.</p>
    <p class="soft">The invitation expires on ${expires} UTC.</p>`;
}

/** Asks for the name, the address and the password of an invited person. */
export function accountPage(
  base: string,
  invitation: InvitationRecord,
  { code, name, email, problem, offers, organizationName }: AccountForm,
  status = 200,
): ConsolePage {
  const content = html`${wrong(problem)} ${invitationText(invitation, organizationName)}
    ${offers.map(
      ({ providerId, name: label }) =>
        html`<form method="post" action="${base}/welcome/with/${providerId}">
          <input type="hidden" name="code" value="${code}" />
          <button>Continue with ${label}</button>
        </form>`,
    )}
    ${offers.length === 0 ? nothing : html`<p>Or set a password.</p>`}
    <form method="post" action="${base}/welcome">
      <input type="hidden" name="code" value="${code}" />
      <label for="name">Name</label>
      <input id="name" name="name" value="${name}" autocomplete="name" required maxlength="255" />
      <label for="email">Email address</label>
      <input
        id="email"
        name="email"
        type="email"
        value="${email}"
        autocomplete="username"
        required
        maxlength="254"
      />
      ${newPasswordInput('Password')}
      <button>Create account</button>
    </form>`;
  return { status, title: 'Your account', content };
}

/** The field of a password that someone chooses. */
export function newPasswordInput(label: string): Html {
  return html`<label for="password">${label}</label>
    <input
      id="password"
      name="password"
      type="password"
      autocomplete="new-password"
      aria-describedby="rule"
      required
      minlength="${MIN_PASSWORD_CHARS}"
      maxlength="256"
    />
    <p class="soft" id="rule">At least ${MIN_PASSWORD_CHARS} characters, for example four words.</p>`;
}

/** Instead of every page at an address whose cookies browsers do not keep. */
export function unencryptedPage(): ConsolePage {
  const content = html`<p>
      This connection to the console is not encrypted, so browsers do not keep a session. Open the console
      with
      <code>https://</code>, or on this machine with <code>http://localhost</code>.
    </p>
    <p>
      If a proxy serves this page with <code>https://</code>, the control plane option
      <code>--public-api-url</code> must also start with <code>https://</code>.
    </p>`;
  return { status: 403, title: 'Not encrypted', content };
}

/** The browser did not keep the cookie: going back to the log-in would only repeat it. */
export function cookieLostPage(base: string): ConsolePage {
  const content = html`<p>
      Your browser did not keep the session. Allow cookies for this address, then sign in again.
    </p>
    <p><a href="${base}/log-in">Sign in</a></p>`;
  return { status: 403, title: 'You are not signed in', content };
}

export function problemPage(status: number, title: string, sentence: string, base?: string): ConsolePage {
  const way = base === undefined ? nothing : html`<p><a href="${base}">Go to the console</a></p>`;
  return {
    status,
    title,
    content: html`<p>${sentence}</p>
      ${way}`,
  };
}

export function wrong(problem: string | undefined): Html {
  return problem === undefined ? nothing : html`<p class="wrong" role="alert">${problem}</p>`;
}
