/**
 * A page that the control plane renders, and its document: plain HTML with the name and logo of the organization, in the language of
 * the browser or of its person. It works without JavaScript and with password managers, and loads nothing from elsewhere.
 */
import { html, nothing, type Html } from '../html/mod.ts';
import type { SignInLook } from '../credentials/people/mod.ts';
import { CONSOLE_STYLE } from './console-style.ts';
import { DOOR_ICON } from './door-icon.ts';
import type { PageText, Said } from './english-page-text.ts';
import type { PageLanguage } from './page-text.ts';

export interface ConsolePage {
  readonly status: number;
  readonly title: Said;
  readonly content: (text: PageText) => Html;
  /** Whether it has the script of the pages, for what works without it, too. */
  readonly usesScript?: boolean;
  /** Whether that takes the code of a link from the address into its form. */
  readonly takesCode?: boolean;
  /** The path to which the browser continues by itself. */
  readonly leadsTo?: string;
  /** Whose name and logo it has; those of the oldest organization by default. */
  readonly organizationId?: string | undefined;
}

export interface DocumentPlace {
  /** The path of the console. */
  readonly base: string;
  /** Allows the style. */
  readonly nonce: string;
  readonly language: PageLanguage;
  readonly text: PageText;
  readonly look: SignInLook;
}

export function documentOf(
  { title, content, usesScript = false, takesCode = false, leadsTo }: ConsolePage,
  { base, nonce, language, text, look }: DocumentPlace,
): string {
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        ${leadsTo === undefined ? nothing : html`<meta http-equiv="refresh" content="0; url=${leadsTo}" />`}
        <title>${title(text)} · Frontdoor</title>
        <link rel="icon" href="${DOOR_ICON}" />
        <style nonce="${nonce}">
          ${CONSOLE_STYLE}
        </style>
        ${usesScript ? html`<script src="${base}/page.js" defer></script>` : nothing}
      </head>
      <body ${takesCode ? html`data-takes-code` : nothing}>
        <main>
          ${brandOf(look)}
          <h1>${title(text)}</h1>
          ${content(text)}
        </main>
      </body>
    </html> `.markup;
}

function brandOf({ name, logo }: SignInLook): Html {
  const picture =
    logo === undefined
      ? html`<img src="${DOOR_ICON}" width="32" height="32" alt="" />`
      : html`<img class="logo" src="data:image/png;base64,${logo}" alt="" />`;
  return html`<div class="brand">
    ${picture}
    <p>${name === undefined ? nothing : html`<strong>${name}</strong>`} <span>Frontdoor</span></p>
  </div>`;
}

/** The script of all pages: without it, a password stays hidden, codes are selected and typed. */
export const PAGE_SCRIPT = `const code = location.hash.slice(1);
if (code !== '' && 'takesCode' in document.body.dataset) {
  history.replaceState(null, '', location.pathname);
  document.querySelector('input[name=code]').value = code;
  document.querySelector('form').requestSubmit();
}
const passwords = document.querySelectorAll('button[data-shows]');
for (const button of passwords) {
  const field = document.getElementById(button.dataset.shows);
  const labels = [button.textContent.trim(), button.dataset.hide];
  const show = (isShown) => {
    field.type = isShown ? 'text' : 'password';
    button.textContent = labels[isShown ? 1 : 0];
    // Several of them are distinguished by their fields.
    if (passwords.length > 1)
      button.setAttribute('aria-label', button.textContent + ': ' + field.labels[0].textContent);
  };
  show(false);
  button.hidden = false;
  button.addEventListener('click', () => show(field.type === 'password'));
  // Browsers offer to store passwords, and remember other texts.
  field.form.addEventListener('submit', () => show(false));
}
for (const button of document.querySelectorAll('button[data-copies]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copies);
    document.getElementById('copied').textContent = button.dataset.done;
  });
}
`;
