/** The pages of a log-in's second factor. They work without JavaScript, and fill in codes that a phone offers. */
import { html, nothing, type Html } from '../html/mod.ts';
import { wrong } from './console-pages.ts';
import type { ConsolePage } from './page-document.ts';
import type { PageText, Said } from './english-page-text.ts';

export interface FactorForm {
  readonly base: string;
  /** Where the browser goes after the log-in. */
  readonly to: string;
  readonly problem?: Said | undefined;
  readonly status?: number;
}

const MAX_CODE_CHARS = 64;

/** Asks for a code of the app, or for a recovery code. */
export function factorCodePage(form: FactorForm, asksRecovery: boolean): ConsolePage {
  const { base, to, problem, status = 200 } = form;
  const query = `to=${encodeURIComponent(to)}`;
  const own = `${base}/log-in/second-factor?${query}`;
  const fieldsOf = (text: PageText) =>
    asksRecovery
      ? html`<label for="code">${text.recoveryCode}</label>
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
      : html`<label for="code">${text.appCode}</label> ${codeInput}`;
  const content = (text: PageText) =>
    html`${wrong(text, problem)}
      <form method="post" action="${base}/log-in/second-factor">
        <input type="hidden" name="to" value="${to}" />
        ${fieldsOf(text)}
        <button>${text.signIn}</button>
      </form>
      <p>
        ${
          asksRecovery
            ? html`<a href="${own}">${text.useAppCode}</a>`
            : html`<a href="${own}&amp;recovery=1">${text.useRecoveryCode}</a>`
        }
      </p>
      <p class="soft">${text.noCode}</p>`;
  return { status, title: ({ secondFactor }) => secondFactor, content };
}

/** Shows the secret, as picture and as text, and asks for its first code. */
export function enrollmentPage(form: FactorForm, { url, picture }: EnrollmentView): ConsolePage {
  const { base, to, problem, status = 200 } = form;
  const secret = new URL(url).searchParams.get('secret') ?? '';
  const content = (text: PageText) =>
    html`${wrong(text, problem)}
      <p>${text.scanCode}</p>
      <p><img class="qr" src="${picture}" alt="${text.qrCode}" /></p>
      <p>${text.orSecret} <code id="secret">${inGroups(secret)}</code></p>
      <form method="post" action="${base}/log-in/second-factor">
        <input type="hidden" name="to" value="${to}" />
        <label for="code">${text.currentCode}</label>
        ${codeInput}
        <button>${text.continue}</button>
      </form>`;
  return { status, title: ({ setUpFactor }) => setUpFactor, content };
}

export interface EnrollmentView {
  readonly url: string;
  /** The URL as QR code: a data URL. */
  readonly picture: string;
}

/** Shows the recovery codes, once. */
export function recoveryCodesPage(base: string, to: string, codes: readonly string[]): ConsolePage {
  const next = `${base}/logged-in?to=${encodeURIComponent(to)}`;
  const lines = `${codes.join('\n')}\n`;
  // The page itself has the file, so that no server has it, and no script is needed.
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(lines)}`;
  const content = (text: PageText) =>
    html`<p>${text.recoveryText}</p>
      <ul class="codes">
        ${codes.map((code) => html`<li><code>${code}</code></li>`)}
      </ul>
      <p class="actions">
        <button type="button" class="plain" data-copies="${lines}" data-done="${text.copied}" hidden>
          ${text.copy}
        </button>
        <a download="frontdoor-recovery-codes.txt" href="${file}">${text.saveAsFile}</a>
        <span id="copied" role="status"></span>
      </p>
      <p><a href="${next}">${text.haveStored}</a></p>`;
  return { status: 200, title: ({ recoveryCodes }) => recoveryCodes, content, usesScript: true };
}

/** What the page of a session offers a person with a password. */
export function passwordOffer(
  base: string,
  state: 'none' | 'enrolled' | undefined,
): (text: PageText) => Html {
  if (state === undefined) return () => nothing;
  return (text) =>
    html`<form method="post" action="${base}/second-factor">
        <button>${state === 'none' ? text.setUpFactor : text.setUpOtherApp}</button>
      </form>
      ${
        state === 'none'
          ? nothing
          : html`<form method="post" action="${base}/second-factor/recovery-codes">
              <button>${text.newRecoveryCodes}</button>
            </form>`
      }
      <p><a href="${base}/password">${text.changePassword}</a></p>`;
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
