/** The latest requests to a share that failed. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ApiText } from '../../parts/api-text.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { RowTable } from '../../parts/simple-table.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { sharesText } from './shares-text.ts';

const SHOWN = 5;

export function LastFailures({ token }: { readonly token: string }): ReactNode {
  const text = useText(sharesText);
  const frontdoorId = useFrontdoorId();
  const answer = useAnswer('listFailures', {
    parameters: { frontdoorId },
    query: { shareToken: token, size: SHOWN },
  });
  return (
    <Panel title={text.lastFailures}>
      <AnswerView answer={answer}>
        {({ body }) =>
          body.content.length === 0 ? (
            <p className="fd-soft">{text.noFailures}</p>
          ) : (
            <>
              <RowTable
                label={text.lastFailures}
                rows={body.content}
                keyOf={({ errorId }) => errorId}
                columns={[
                  { title: text.time, cell: ({ at }) => <TimeAgo at={at} /> },
                  { title: text.httpStatus, cell: ({ status }) => status, isNumber: true },
                  {
                    title: text.cause,
                    cell: ({ errorId, cause, code }) => (
                      <Link
                        to="/frontdoors/$frontdoorId/failures/$errorId"
                        params={{ frontdoorId, errorId }}
                        className="fd-name"
                      >
                        <ApiText code={code}>{cause}</ApiText>
                      </Link>
                    ),
                  },
                ]}
              />
              <p>
                <Link
                  to="/frontdoors/$frontdoorId/failures"
                  params={{ frontdoorId }}
                  search={{ shareToken: token }}
                >
                  {text.allFailures}
                </Link>
              </p>
            </>
          )
        }
      </AnswerView>
    </Panel>
  );
}
