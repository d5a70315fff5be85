/** The language of the person: chosen here, else the browser's. */
import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import type { SentenceCatalogue } from './api-sentences.ts';
import { LANGUAGES, type Language, type TextArea, type Texts } from './define-text.ts';
import { formatOf, type Format } from './format.ts';

const KEY = 'frontdoor-language';
/** The pages of the control plane read it: those for signing in are drawn without this program. It outlives the session. */
const COOKIE = '__Host-frontdoor-console-language';
const COOKIE_LIFETIME_S = 31_536_000;

interface LanguageState {
  readonly language: Language;
  readonly format: Format;
  /** Sentences of the API in the language; undefined in English, and until they are loaded. */
  readonly catalogue: SentenceCatalogue | undefined;
  setLanguage(language: Language): void;
}

const LanguageContext = createContext<LanguageState | undefined>(undefined);

function isLanguage(text: string | null | undefined): text is Language {
  return text !== null && text !== undefined && (text in LANGUAGES || text === 'pseudo');
}

function firstLanguage(): Language {
  const chosen = localStorage.getItem(KEY) ?? cookieValue();
  if (isLanguage(chosen)) return chosen;
  return navigator.languages.map((tag) => tag.split('-')[0]).find(isLanguage) ?? 'en';
}

/** Signing out empties the storage of the browser, but keeps cookies. */
function cookieValue(): string | undefined {
  const pairs = document.cookie.split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([name]) => name === COOKIE)?.[1];
}

function keepLanguage(language: Language): void {
  localStorage.setItem(KEY, language);
  document.cookie = `${COOKIE}=${language}; Path=/; Secure; SameSite=Strict; Max-Age=${COOKIE_LIFETIME_S}`;
}

/** Dates keep the region of the browser, if the browser's language is the chosen one. */
function localeOf(language: Language): string {
  if (language === 'pseudo') return 'en';
  return navigator.languages.find((tag) => tag.split('-')[0] === language) ?? language;
}

/** Loaded with the language, because only some people need it. Without it, the sentences are English. */
function useCatalogue(language: Language): SentenceCatalogue | undefined {
  const [loaded, setLoaded] = useState<SentenceCatalogue>();
  useEffect(() => {
    if (language !== 'de') return;
    import('./german/german-catalogue.ts').then(
      ({ GERMAN_CATALOGUE }) => setLoaded(GERMAN_CATALOGUE),
      () => {},
    );
  }, [language]);
  return language === 'de' ? loaded : undefined;
}

export function LanguageProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [language, setLanguage] = useState(firstLanguage);
  useEffect(() => {
    document.documentElement.lang = language === 'pseudo' ? 'en' : language;
  }, [language]);
  const catalogue = useCatalogue(language);
  const state = useMemo<LanguageState>(
    () => ({
      language,
      catalogue,
      format: formatOf(localeOf(language)),
      setLanguage: (next) => {
        keepLanguage(next);
        setLanguage(next);
      },
    }),
    [language, catalogue],
  );
  return <LanguageContext value={state}>{children}</LanguageContext>;
}

export function useLanguage(): LanguageState {
  const state = useContext(LanguageContext);
  if (state === undefined) throw new Error('no LanguageProvider');
  return state;
}

export function useText<T extends Texts>(area: TextArea<T>): TextArea<T>[Language] {
  return area[useLanguage().language];
}

export function useFormat(): Format {
  return useLanguage().format;
}
