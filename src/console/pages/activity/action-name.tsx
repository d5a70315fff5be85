/** The name of an action, where the page comes before the table of names: until that is loaded, the name that the API has. */
import { useEffect, useState, type ReactNode } from 'react';
import { useLanguage } from '../../text/language.tsx';
import type { actionText as ActionText } from './action-text.ts';

type TextOf = typeof ActionText;

export function ActionName({ action }: { readonly action: string }): ReactNode {
  const { language } = useLanguage();
  const [textOf, setTextOf] = useState<TextOf>();
  useEffect(() => {
    import('./action-text.ts').then(
      ({ actionText }) => setTextOf(() => actionText),
      () => {},
    );
  }, []);
  return textOf === undefined ? action : textOf(action, language);
}
