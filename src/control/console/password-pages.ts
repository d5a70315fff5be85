/**
 * The pages on which people replace their password. Each has the e-mail address as a field that is not sent, so that password
 * managers know whose password they store.
 */
import { html, type Html } from '../html/mod.ts';
import { linkCodePage, newPasswordInput, passwordInput, wrong } from './console-pages.ts';
import type { ConsolePage } from './page-document.ts';
import type { PageText, Said } from './english-page-text.ts';

export interface PasswordForm {
  readonly base: string;
  readonly email: string;
  readonly problem?: Said | undefined;
  readonly status?: number;
  /** Whose person it is. */
  readonly organizationId?: string | undefined;
}

/** Asks for the password that the person has, and for the new one. */
export function passwordPage(form: PasswordForm): ConsolePage {
  const { base, email, problem, status = 200, organizationId } = form;
  const content = (text: PageText) =>
    html`${wrong(text, problem)}
      <p>${text.otherSessionsEnd}</p>
      <form method="post" action="${base}/password">
        ${emailInput(text, email)}
        ${passwordInput(text, { id: 'current', label: text.currentPassword, autocomplete: 'current-password' })}
        ${newPasswordInput(text, text.newPassword)}
        <button>${text.changePassword}</button>
      </form>
      <p><a href="${base}/account">${text.back}</a></p>`;
  return { status, title: ({ changePassword }) => changePassword, content, usesScript: true, organizationId };
}

/** Asks for the code of a link, which the script takes from the address. */
export function passwordCodePage(base: string, problem?: Said, status = 200): ConsolePage {
  const form = {
    title: ({ newPassword }: PageText) => newPassword,
    path: 'new-password',
    purpose: ({ newPasswordPurpose }: PageText) => newPasswordPurpose,
  };
  return linkCodePage(base, form, problem, status);
}

/** Asks someone who has followed a link for the new password. */
export function newPasswordPage(form: PasswordForm, code: string): ConsolePage {
  const { base, email, problem, status = 200, organizationId } = form;
  const content = (text: PageText) =>
    html`${wrong(text, problem)}
      <p>${text.allSessionsEnd}</p>
      <form method="post" action="${base}/new-password">
        <input type="hidden" name="code" value="${code}" />
        ${emailInput(text, email)} ${newPasswordInput(text, text.newPassword)}
        <button>${text.setPassword}</button>
      </form>`;
  return { status, title: ({ newPassword }) => newPassword, content, usesScript: true, organizationId };
}

function emailInput(text: PageText, email: string): Html {
  return html`<label for="email">${text.emailAddress}</label>
    <input id="email" value="${email}" autocomplete="username" readonly />`;
}
