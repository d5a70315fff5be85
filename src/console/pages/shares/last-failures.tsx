/** The latest requests to a share that failed. */
import { Table } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { ApiText } from '../../parts/api-text.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Panel } from '../../parts/page-title.tsx';
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
              <div className="fd-scroll" tabIndex={0} role="region" aria-label={text.lastFailures}>
                <Table verticalSpacing="xs">
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>{text.time}</Table.Th>
                      <Table.Th ta="right">{text.httpStatus}</Table.Th>
                      <Table.Th>{text.cause}</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {body.content.map(({ errorId, at, status, cause }) => (
                      <Table.Tr key={errorId}>
                        <Table.Td>
                          <TimeAgo at={at} />
                        </Table.Td>
                        <Table.Td ta="right">{status}</Table.Td>
                        <Table.Td>
                          <Link
                            to="/frontdoors/$frontdoorId/failures/$errorId"
                            params={{ frontdoorId, errorId }}
                            className="fd-name"
                          >
                            <ApiText>{cause}</ApiText>
                          </Link>
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </div>
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
