/** The latest failures, and the way to all of them. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { ApiText } from '../../parts/api-text.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { overviewText } from './overview-text.ts';

const SHOWN = 5;

export function LatestFailures({ frontdoorId }: { readonly frontdoorId: string }): ReactNode {
  const text = useText(overviewText);
  const answer = useAnswer('listFailures', { parameters: { frontdoorId }, query: { size: SHOWN } });
  return (
    <Panel title={text.latestFailures}>
      <AnswerView answer={answer}>
        {({ body }) =>
          body.content.length === 0 ? (
            <p className="fd-soft">{text.noFailures}</p>
          ) : (
            <>
              <ul className="fd-plain">
                {body.content.map(({ errorId, at, host, path, cause }) => (
                  <li key={errorId}>
                    <Link to="/frontdoors/$frontdoorId/failures/$errorId" params={{ frontdoorId, errorId }}>
                      <ApiText>{cause}</ApiText>
                    </Link>{' '}
                    <span className="fd-mono fd-small">{`${host}${path}`}</span>{' '}
                    <span className="fd-soft fd-small">
                      <TimeAgo at={at} />
                    </span>
                  </li>
                ))}
              </ul>
              <Link to="/frontdoors/$frontdoorId/failures" params={{ frontdoorId }}>
                {text.allFailures}
              </Link>
            </>
          )
        }
      </AnswerView>
    </Panel>
  );
}
