/** The texts of the gateway's pages for visitors who sign in or out, in the languages that browsers may ask for. */
import { acceptedLanguage } from '#domain';

const english = {
  signIn: 'Sign in',
  signInTo: (host: string) => `Sign in to ${host}`,
  signedOut: 'Signed out',
  youAreSignedOut: 'You are signed out',
  sessionEnded: 'Your session at this address has ended.',
  closePage: 'You can close this page.',
  maybeAtProvider: 'You may still be signed in at your identity provider, which has no sign-out address.',
  signInAgain: 'Sign in again',
};

export type LoginPageText = typeof english;

const german: LoginPageText = {
  signIn: 'Anmelden',
  signInTo: (host) => `Bei ${host} anmelden`,
  signedOut: 'Abgemeldet',
  youAreSignedOut: 'Sie sind abgemeldet',
  sessionEnded: 'Ihre Sitzung unter dieser Adresse ist beendet.',
  closePage: 'Sie können diese Seite schließen.',
  maybeAtProvider:
    'Bei Ihrem Anmeldeanbieter sind Sie möglicherweise noch angemeldet, denn er hat keine Adresse zum Abmelden.',
  signInAgain: 'Erneut anmelden',
};

export const LOGIN_PAGE_TEXTS = { en: english, de: german } as const;
export type LoginPageLanguage = keyof typeof LOGIN_PAGE_TEXTS;

const LANGUAGES = Object.keys(LOGIN_PAGE_TEXTS) as LoginPageLanguage[];

/** `accepted`: the header `Accept-Language`, or ''. */
export function loginPageLanguage(accepted: string): LoginPageLanguage {
  return acceptedLanguage(accepted, LANGUAGES);
}
