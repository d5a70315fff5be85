/** The name of an action of the activity log in a language. */
import { pseudoText, type Language } from '../../text/define-text.ts';
import { ACTION_TEXTS } from './action-table.ts';

export function actionText(action: string, language: Language): string {
  const row = Object.hasOwn(ACTION_TEXTS, action) ? ACTION_TEXTS[action] : undefined;
  if (row === undefined) return action;
  const [en, de] = row;
  if (language === 'pseudo') return pseudoText(en);
  return language === 'de' ? de : en;
}
