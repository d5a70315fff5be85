/** The language of the person: chosen here, else the browser's. */
import { createContext, useContext, useEffect, useMemo, useState, type ReactNode } from 'react';
import type { SentenceCatalogue } from './api-sentences.ts';
import { LANGUAGES, type Language, type TextArea, type Texts } from './define-text.ts';
import { formatOf, type Format } from './format.ts';

const KEY = 'frontdoor-language';

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
  const chosen = localStorage.getItem(KEY);
  if (isLanguage(chosen)) return chosen;
  return navigator.languages.map((tag) => tag.split('-')[0]).find(isLanguage) ?? 'en';
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
        localStorage.setItem(KEY, next);
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
