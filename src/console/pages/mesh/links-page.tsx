/** The links between routers. */
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

const MEASURED_MS = 30_000;

export function LinksPage(): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const control = useSearchState();
  const { page, sort } = control.search;
  const list = useAnswer(
    'listLinks',
    { query: { sort, page: page ?? 0, size: PAGE_SIZE } },
    { refetchMs: MEASURED_MS },
  );
  const ms = (value: number | null) => (value === null ? '–' : format.duration(value));
  return (
    <>
      <PageTitle title={text.links} />
      <Panel>
        <AnswerView answer={list}>
          {({ body }) => (
            <ListTable
              label={text.links}
              page={body}
              control={control}
              keyOf={({ id }) => id}
              empty={<p>{text.noLinks}</p>}
              columns={[
                { title: text.from, cell: ({ sourceRouterName }) => sourceRouterName },
                { title: text.to, cell: ({ destinationRouterName }) => destinationRouterName },
                {
                  title: text.state,
                  cell: ({ usable }) => (
                    <StateBadge tone={usable ? 'good' : 'bad'}>
                      {usable ? text.usable : text.unusable}
                    </StateBadge>
                  ),
                },
                {
                  title: text.address,
                  cell: ({ protocol, dialAddress }) => (
                    <span className="fd-mono">{`${protocol} ${dialAddress}`}</span>
                  ),
                },
                { title: text.cost, cell: ({ cost }) => format.number(cost), isNumber: true },
                {
                  title: text.latency,
                  cell: ({ sourceLatencyMs, destinationLatencyMs }) =>
                    `${ms(sourceLatencyMs)} / ${ms(destinationLatencyMs)}`,
                },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
    </>
  );
}
