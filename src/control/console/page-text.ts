/** The languages of the pages that the control plane renders, and which of them a request gets. */
import type { IncomingMessage } from 'node:http';
import { acceptedLanguage } from '#domain';
import { chosenLanguageOf } from './console-cookie.ts';
import { ENGLISH_PAGE_TEXT } from './english-page-text.ts';
import { GERMAN_PAGE_TEXT } from './german-page-text.ts';

export const PAGE_TEXTS = { en: ENGLISH_PAGE_TEXT, de: GERMAN_PAGE_TEXT } as const;
export type PageLanguage = keyof typeof PAGE_TEXTS;

const LANGUAGES = Object.keys(PAGE_TEXTS) as PageLanguage[];

/** What the person chose in the console of this browser, else what the browser prefers. */
export function languageOf(request: IncomingMessage): PageLanguage {
  const chosen = chosenLanguageOf(request);
  return (
    LANGUAGES.find((language) => language === chosen) ??
    acceptedLanguage(request.headers['accept-language'], LANGUAGES)
  );
}
