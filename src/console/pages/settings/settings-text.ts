import { defineText } from '../../text/define-text.ts';
import { settingsEnglish } from './settings-english.ts';
import { settingsGerman } from './settings-german.ts';

/** Texts of the settings. */
export const settingsText = defineText({ en: settingsEnglish, de: settingsGerman });
