/** Why requests failed in the last day, the most frequent causes first, each with the way to its requests. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { ApiText } from '../../parts/api-text.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { TimeAgo, useNow } from '../../parts/time-ago.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { overviewText } from './overview-text.ts';

const SHOWN = 5;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export function FailureCauses({ frontdoorId }: { readonly frontdoorId: string }): ReactNode {
  const [text, format] = [useText(overviewText), useFormat()];
  // Whole hours, so that the question is the same for an hour.
  const now = useNow();
  const from = new Date(now - (now % HOUR_MS) - DAY_MS).toISOString();
  const answer = useAnswer('listFailureGroups', {
    parameters: { frontdoorId },
    query: { from, size: SHOWN },
  });
  return (
    <Panel title={text.causes}>
      <div className="fd-reserve-rows">
        <AnswerView answer={answer}>
          {({ body }) =>
            body.content.length === 0 ? (
              <p className="fd-soft">{text.noFailures}</p>
            ) : (
              <>
                <ul className="fd-plain">
                  {body.content.map(({ code, hop, count, shares, lastAt, cause }) => (
                    <li key={`${code} ${hop}`} className="fd-cause">
                      <span className="fd-cause-count">{text.times(count, format.number(count))}</span>
                      <span>
                        <Link
                          to="/frontdoors/$frontdoorId/failures"
                          params={{ frontdoorId }}
                          search={{ code, hop, from }}
                        >
                          <ApiText code={code}>{cause}</ApiText>
                        </Link>{' '}
                        <span className="fd-soft fd-small">
                          <span className="fd-mono">{code}</span>,{' '}
                          {text.onShares(shares, format.number(shares))}, <TimeAgo at={lastAt} />
                        </span>
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
      </div>
    </Panel>
  );
}
