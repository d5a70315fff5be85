/** Whose sessions at the console a change would end, before it is saved. */
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { settingsText } from './settings-text.ts';

const SHOWN = 10;

/** `query`: which sessions would end. */
export function EndedSessions(props: {
  readonly query:
    | { readonly organizationId: string; readonly logIn: 'password' }
    | { readonly organizationId: string; readonly authProviderId: string };
}): ReactNode {
  const [text, format] = [useText(settingsText), useFormat()];
  const answer = useAnswer('listConsoleSessions', { query: { ...props.query, size: SHOWN } });
  return (
    <AnswerView answer={answer}>
      {({ body: { content, totalElements } }) => {
        if (totalElements === 0) return <p>{text.endsNone}</p>;
        const more = totalElements - content.length;
        return (
          <>
            <p>{text.endsSessions(totalElements, format.number(totalElements))}</p>
            <ul className="fd-plain">
              {content.map(({ id, name, address, current }) => (
                <li key={id} className="fd-wrap">
                  {name} <span className="fd-mono fd-soft">{address}</span>{' '}
                  {current ? <strong>({text.thisSession})</strong> : null}
                </li>
              ))}
            </ul>
            {more === 0 ? null : <p>{text.endsMore(more, format.number(more))}</p>}
          </>
        );
      }}
    </AnswerView>
  );
}
