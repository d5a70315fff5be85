/**
 * The pages on which people replace their password. Each has the e-mail address as a field that is not sent, so that password
 * managers know whose password they store.
 */
import { html, type Html } from '../html/mod.ts';
import { linkCodePage, newPasswordInput, wrong, type ConsolePage } from './console-pages.ts';

export interface PasswordForm {
  readonly base: string;
  readonly email: string;
  readonly problem?: string | undefined;
  readonly status?: number;
}

/** Asks for the password that the person has, and for the new one. */
export function passwordPage({ base, email, problem, status = 200 }: PasswordForm): ConsolePage {
  const content = html`${wrong(problem)}
    <p>All your other sessions end when you change the password.</p>
    <form method="post" action="${base}/password">
      ${emailInput(email)}
      <label for="current">Current password</label>
      <input
        id="current"
        name="current"
        type="password"
        autocomplete="current-password"
        required
        maxlength="256"
      />
      ${newPasswordInput('New password')}
      <button>Change password</button>
    </form>
    <p><a href="${base}/account">Back</a></p>`;
  return { status, title: 'Change password', content };
}

/** Asks for the code of a link, which the script takes from the address. */
export function passwordCodePage(base: string, problem?: string, status = 200): ConsolePage {
  const purpose = 'It sets a new password and can be used once.';
  return linkCodePage(base, { title: 'New password', path: 'new-password', purpose }, problem, status);
}

/** Asks someone who has followed a link for the new password. */
export function newPasswordPage(form: PasswordForm, code: string): ConsolePage {
  const { base, email, problem, status = 200 } = form;
  const content = html`${wrong(problem)}
    <p>All your sessions end when the new password is set.</p>
    <form method="post" action="${base}/new-password">
      <input type="hidden" name="code" value="${code}" />
      ${emailInput(email)} ${newPasswordInput('New password')}
      <button>Set password</button>
    </form>`;
  return { status, title: 'New password', content };
}

function emailInput(email: string): Html {
  return html`<label for="email">Email address</label>
    <input id="email" value="${email}" autocomplete="username" readonly />`;
}
