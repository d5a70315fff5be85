/** The pages of a log-in's second factor. They work without JavaScript, and fill in codes that a phone offers. */
import { html, nothing, type Html } from '../html/mod.ts';
import { wrong, type ConsolePage } from './console-pages.ts';

export interface FactorForm {
  readonly base: string;
  /** Where the browser goes after the log-in. */
  readonly to: string;
  readonly problem?: string | undefined;
  readonly status?: number;
}

const MAX_CODE_CHARS = 64;

/** Asks for a code of the app, or for a recovery code. */
export function factorCodePage(form: FactorForm, asksRecovery: boolean): ConsolePage {
  const { base, to, problem, status = 200 } = form;
  const query = `to=${encodeURIComponent(to)}`;
  const own = `${base}/log-in/second-factor?${query}`;
  const fields = asksRecovery
    ? html`<label for="code">Recovery code</label>
        <input
          id="code"
          name="code"
          autocomplete="off"
          autocapitalize="characters"
          spellcheck="false"
          required
          maxlength="${MAX_CODE_CHARS}"
        />
        <input type="hidden" name="recovery" value="1" />`
    : html`<label for="code">Code from your authenticator app</label> ${codeInput}`;
  const other = asksRecovery
    ? html`<a href="${own}">Use a code from your app</a>`
    : html`<a href="${own}&amp;recovery=1">Use a recovery code</a>`;
  const content = html`${wrong(problem)}
    <form method="post" action="${base}/log-in/second-factor">
      <input type="hidden" name="to" value="${to}" />
      ${fields}
      <button>Sign in</button>
    </form>
    <p>${other}</p>
    <p class="soft">If you have neither, ask an administrator of your organization for help.</p>`;
  return { status, title: 'Second factor', content };
}

/** Shows the secret, as picture and as text, and asks for its first code. */
export function enrollmentPage(form: FactorForm, { url, picture }: EnrollmentView): ConsolePage {
  const { base, to, problem, status = 200 } = form;
  const secret = new URL(url).searchParams.get('secret') ?? '';
  const content = html`${wrong(problem)}
    <p>
      From now on, signing in with your password also requires a code. Scan the QR code with an authenticator
      app.
    </p>
    <p><img src="${picture}" alt="QR code with the secret below" /></p>
    <p>Or enter this secret in the app: <code id="secret">${inGroups(secret)}</code></p>
    <form method="post" action="${base}/log-in/second-factor">
      <input type="hidden" name="to" value="${to}" />
      <label for="code">Current code from the app</label>
      ${codeInput}
      <button>Continue</button>
    </form>`;
  return { status, title: 'Set up a second factor', content, showsPicture: true };
}

export interface EnrollmentView {
  readonly url: string;
  /** The URL as QR code: a data URL. */
  readonly picture: string;
}

/** Shows the recovery codes, once. */
export function recoveryCodesPage(base: string, to: string, codes: readonly string[]): ConsolePage {
  const next = `${base}/logged-in?to=${encodeURIComponent(to)}`;
  // The page itself has the file, so that no server has it, and no script is needed.
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(`${codes.join('\n')}\n`)}`;
  const content = html`<p>
      Store these recovery codes in a safe place. Each can be used once instead of a code from your app. They
      are not shown again.
    </p>
    <ul class="codes">
      ${codes.map((code) => html`<li><code>${code}</code></li>`)}
    </ul>
    <p><a download="frontdoor-recovery-codes.txt" href="${file}">Save as a file</a></p>
    <p><a href="${next}">I have stored them</a></p>`;
  return { status: 200, title: 'Recovery codes', content };
}

/** What the page of a session offers a person with a password. */
export function passwordOffer(base: string, state: 'none' | 'enrolled' | undefined): Html {
  if (state === undefined) return nothing;
  const label = state === 'none' ? 'Set up a second factor' : 'Set up another authenticator app';
  const renewal =
    state === 'none'
      ? nothing
      : html`<form method="post" action="${base}/second-factor/recovery-codes">
          <button>Create new recovery codes</button>
        </form>`;
  return html`<form method="post" action="${base}/second-factor"><button>${label}</button></form>
    ${renewal}
    <p><a href="${base}/password">Change password</a></p>`;
}

const codeInput = html`<input
  id="code"
  name="code"
  autocomplete="one-time-code"
  inputmode="numeric"
  spellcheck="false"
  required
  autofocus
  maxlength="${MAX_CODE_CHARS}"
/>`;

function inGroups(secret: string): string {
  return (secret.match(/.{1,4}/g) ?? []).join(' ');
}
