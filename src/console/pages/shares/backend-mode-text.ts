/** What the table of backend modes says in the languages of the console. */
import { BACKEND_MODE_TABLE, BACKEND_MODES } from '#domain/backend-modes';
import { defineText } from '../../text/define-text.ts';

const options = BACKEND_MODES.flatMap((mode) => Object.entries(BACKEND_MODE_TABLE[mode].options ?? {}));

const labelsOf = (language: 'en' | 'de'): Readonly<Record<string, string>> =>
  Object.fromEntries(BACKEND_MODES.map((mode) => [mode, BACKEND_MODE_TABLE[mode].label[language]]));

const optionsOf = (language: 'en' | 'de'): Readonly<Record<string, string>> =>
  Object.fromEntries(
    options.map(([name, { [language]: text }]) => [name, `${text[0]!.toUpperCase()}${text.slice(1)}`]),
  );

/** The kind of a share, by its backend mode. */
export const backendModeText = defineText({ en: labelsOf('en'), de: labelsOf('de') });
/** Options of targets, by name. */
export const optionText = defineText({ en: optionsOf('en'), de: optionsOf('de') });
