/** The pages on which people log in at the console, or follow an invitation, and pages of failures. */
import { html, nothing, withCode, type Html } from '../html/mod.ts';
import type { InvitationRecord } from '../credentials/people/mod.ts';
import type { ConsolePage } from './page-document.ts';
import type { PageText, Said } from './english-page-text.ts';
import { MIN_PASSWORD_CHARS } from './password-rule.ts';
import type { ProviderOffer } from './provider-log-in.ts';

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
    readonly problem?: Said | undefined;
    readonly offers?: readonly ProviderOffer[];
    /** The organization whose people log in; those of all by default. */
    readonly organizationId?: string | undefined;
  },
  status = 200,
): ConsolePage {
  const content = (text: PageText) =>
    html`${wrong(text, problem)}
      <form method="post" action="${base}/log-in">
        ${organizationId === undefined ? '' : html`<input type="hidden" name="organization" value="${organizationId}" />`}
        <input type="hidden" name="to" value="${to}" />
        <label for="name">${text.emailAddress}</label>
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
        ${passwordInput(text, { id: 'password', label: text.password, autocomplete: 'current-password' })}
        <button>${text.signIn}</button>
      </form>
      ${offers.map(
        ({ providerId, name: label }) =>
          html`<p>
            <a href="${base}/log-in/with/${providerId}?to=${encodeURIComponent(to)}"
              >${text.signInWith(label)}</a
            >
          </p>`,
      )}
      <p class="soft">${text.logInHelp}</p>`;
  return { status, title: ({ signIn }) => signIn, content, usesScript: true, organizationId };
}

/** Leads on from a page of the console itself, which sends the cookie of the session along. */
export function continuePage(to: string): ConsolePage {
  const content = (text: PageText) => html`<p><a href="${to}">${text.continue}</a></p>`;
  return { status: 200, title: ({ signedIn }) => signedIn, content, leadsTo: to };
}

/** Leads on to an identity provider. A redirect would not do: browsers hold it against the policy of the form before it. */
export function leadOnPage(url: string): ConsolePage {
  const content = (text: PageText) => html`<p><a href="${url}">${text.continueAtProvider}</a></p>`;
  return { status: 200, title: ({ signIn }) => signIn, content, leadsTo: url };
}

/** Asks for the code of an invitation, which the script takes from the address. */
export function codePage(base: string, problem?: Said, status = 200): ConsolePage {
  const form = {
    title: ({ welcome }: PageText) => welcome,
    path: 'welcome',
    purpose: ({ invitationPurpose }: PageText) => invitationPurpose,
  };
  return linkCodePage(base, form, problem, status);
}

/** Asks for the code of a link that does something once, as `purpose` says in a sentence. */
export function linkCodePage(
  base: string,
  { title, path, purpose }: { readonly title: Said; readonly path: string; readonly purpose: Said },
  problem: Said | undefined,
  status: number,
): ConsolePage {
  const content = (text: PageText) =>
    html`${wrong(text, problem)}
      <p>${withCode(text.enterCode(purpose(text)))}</p>
      <form method="post" action="${base}/${path}">
        <label for="code">${text.code}</label>
        <input
          id="code"
          name="code"
          autocomplete="off"
          autocapitalize="none"
          spellcheck="false"
          required
          maxlength="100"
        />
        <button>${text.continue}</button>
      </form>`;
  return { status, title, content, usesScript: true, takesCode: true };
}

export interface AccountForm {
  readonly code: string;
  readonly name: string;
  readonly email: string;
  readonly problem?: Said | undefined;
  readonly organizationName: string | undefined;
  /** Identity providers that the person may use instead of a password. */
  readonly offers: readonly ProviderOffer[];
}

/** Names the inviter, the organization and the role. `organizationName` is undefined for an organization that was just deleted. */
function invitationText(
  text: PageText,
  { role, makerName, expiresAtMs }: InvitationRecord,
  organizationName: string | undefined,
): Html {
  const expires = new Date(expiresAtMs).toISOString().slice(0, 16).replace('T', ' ');
  return html`<p>
      ${text.invited(makerName ?? undefined, organizationName)} ${text.invitedRole(text.roles[role])}
    </p>
    <p class="soft">${text.invitationExpires(expires)}</p>`;
}

/** Asks for the name, the address and the password of an invited person. */
export function accountPage(
  base: string,
  invitation: InvitationRecord,
  { code, name, email, problem, offers, organizationName }: AccountForm,
  status = 200,
): ConsolePage {
  const content = (text: PageText) =>
    html`${wrong(text, problem)} ${invitationText(text, invitation, organizationName)}
      ${offers.map(
        ({ providerId, name: label }) =>
          html`<form method="post" action="${base}/welcome/with/${providerId}">
            <input type="hidden" name="code" value="${code}" />
            <button>${text.continueWith(label)}</button>
          </form>`,
      )}
      ${offers.length === 0 ? nothing : html`<p>${text.orPassword}</p>`}
      <form method="post" action="${base}/welcome">
        <input type="hidden" name="code" value="${code}" />
        <label for="name">${text.name}</label>
        <input id="name" name="name" value="${name}" autocomplete="name" required maxlength="255" />
        <label for="email">${text.emailAddress}</label>
        <input
          id="email"
          name="email"
          type="email"
          value="${email}"
          autocomplete="username"
          required
          maxlength="254"
        />
        ${newPasswordInput(text, text.password)}
        <button>${text.createAccount}</button>
      </form>`;
  const { organizationId } = invitation;
  return { status, title: ({ yourAccount }) => yourAccount, content, usesScript: true, organizationId };
}

/** A field for a password, which the person can show while typing. */
export function passwordInput(
  text: PageText,
  field: {
    readonly id: 'password' | 'current';
    readonly label: string;
    readonly autocomplete: 'current-password' | 'new-password';
  },
): Html {
  const { id, label, autocomplete } = field;
  const rule =
    autocomplete === 'new-password'
      ? html`minlength="${MIN_PASSWORD_CHARS}" aria-describedby="rule"`
      : nothing;
  return html`<label for="${id}">${label}</label>
    <input
      id="${id}"
      name="${id}"
      type="password"
      autocomplete="${autocomplete}"
      required
      maxlength="256"
      ${rule}
    />
    <button
      type="button"
      class="shows"
      data-shows="${id}"
      data-hide="${text.hidePassword}"
      aria-controls="${id}"
      hidden
    >
      ${text.showPassword}
    </button>`;
}

/** The field of a password that someone chooses. */
export function newPasswordInput(text: PageText, label: string): Html {
  return html`${passwordInput(text, { id: 'password', label, autocomplete: 'new-password' })}
    <p class="soft" id="rule">${text.passwordRule}</p>`;
}

/** Instead of every page at an address whose cookies browsers do not keep. */
export function unencryptedPage(): ConsolePage {
  const content = (text: PageText) =>
    html`<p>${withCode(text.notEncryptedText)}</p>
      <p>${withCode(text.proxyText)}</p>`;
  return { status: 403, title: ({ notEncrypted }) => notEncrypted, content };
}

/** The browser did not keep the cookie: going back to the log-in would only repeat it. */
export function cookieLostPage(base: string): ConsolePage {
  const content = (text: PageText) =>
    html`<p>${text.cookieLost}</p>
      <p><a href="${base}/log-in">${text.signIn}</a></p>`;
  return { status: 403, title: ({ notSignedIn }) => notSignedIn, content };
}

/** `sentence` may have code between backticks. With `base`, a link leads on from there. */
export function problemPage(status: number, title: Said, sentence: Said, base?: string): ConsolePage {
  const content = (text: PageText) =>
    html`<p>${withCode(sentence(text))}</p>
      ${base === undefined ? nothing : html`<p><a href="${base}">${text.goToConsole}</a></p>`}`;
  return { status, title, content };
}

export function wrong(text: PageText, problem: Said | undefined): Html {
  return problem === undefined ? nothing : html`<p class="wrong" role="alert">${problem(text)}</p>`;
}
