/** The causes of the failures that the page lists, the most frequent first. Each leads to its own failures. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FailureGroupAnswer } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ApiText } from '../../parts/api-text.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { RowTable, type RowColumn } from '../../parts/simple-table.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import type { ListQuery } from '../../parts/use-list.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { brokenAt } from './failed-way.ts';
import { failuresText } from './failures-text.ts';

const SHOWN = 20;

export function FailureCausesTable({ query }: { readonly query: ListQuery }): ReactNode {
  const text = useText(failuresText);
  const frontdoorId = useFrontdoorId();
  const { sort: _sort, ...filters } = query;
  const answer = useAnswer('listFailureGroups', {
    parameters: { frontdoorId },
    query: { ...filters, size: SHOWN },
  });
  const columns = useCauseColumns(frontdoorId, filters);
  return (
    <AnswerView answer={answer}>
      {({ body }) =>
        body.content.length === 0 ? null : (
          <Panel title={text.causes}>
            <RowTable
              label={text.causes}
              rows={body.content}
              keyOf={({ code, hop }) => `${code} ${hop}`}
              columns={columns}
            />
            {filters['code'] === '' && filters['hop'] === '' ? null : (
              <Link to="/frontdoors/$frontdoorId/failures" params={{ frontdoorId }} search={without(filters)}>
                {text.allCauses}
              </Link>
            )}
          </Panel>
        )
      }
    </AnswerView>
  );
}

function useCauseColumns(frontdoorId: string, filters: ListQuery): readonly RowColumn<FailureGroupAnswer>[] {
  const [text, format] = [useText(failuresText), useFormat()];
  return [
    { title: text.count, isNumber: true, cell: ({ count }) => format.number(count) },
    {
      title: text.cause,
      cell: ({ code, hop, cause }) => (
        <Link
          to="/frontdoors/$frontdoorId/failures"
          params={{ frontdoorId }}
          search={{ ...without(filters), code, hop }}
          className="fd-name"
        >
          <ApiText code={code}>{cause}</ApiText>
        </Link>
      ),
    },
    { title: text.hop, cell: ({ hop, status }) => text.hopName(brokenAt(hop, status)) },
    { title: text.status, cell: ({ status }) => (status === 0 ? text.noStatus : String(status)) },
    { title: text.shares, isNumber: true, cell: ({ shares }) => format.number(shares) },
    { title: text.first, cell: ({ firstAt }) => <TimeAgo at={firstAt} /> },
    { title: text.last, cell: ({ lastAt }) => <TimeAgo at={lastAt} /> },
  ];
}

/** The filters of the address without those of one cause. */
function without(filters: ListQuery): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(filters).flatMap(([name, value]) =>
      typeof value === 'string' && value !== '' && name !== 'code' && name !== 'hop' ? [[name, value]] : [],
    ),
  );
}
