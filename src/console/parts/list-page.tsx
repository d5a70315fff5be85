/**
 * A page that is a list, and a panel of a page that has one: filters, rows in pages, what an empty list says. Lists of the API change
 * while they are on the screen (`useAnswer`).
 */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useText } from '../text/language.tsx';
import { AnswerView } from './answer-view.tsx';
import { Filters } from './filters.tsx';
import { columnId, type ListColumn, type ListRows } from './list-column.ts';
import { ListTable } from './list-table.tsx';
import { PageTitle, Panel } from './page-title.tsx';
import { partsText } from './parts-text.ts';
import { TableExport } from './table-export.tsx';
import { TableViewButton, type HideableColumn } from './table-view.tsx';
import type { List, ListPart } from './use-list.ts';
import { useTableView } from './use-table-view.ts';

interface ListProps<Row> extends ListRows<Row> {
  readonly list: List<ListPart<Row>>;
  /** Shown instead of an empty list without filters. */
  readonly empty?: ReactNode;
}

export function ListPage<Row extends object>(
  props: ListProps<Row> & {
    readonly title: string;
    /** Names the list, for people who do not see it; by default the title. */
    readonly label?: string;
    /** Stand beside the title. */
    readonly actions?: ReactNode;
    /** Stands between the title and the list. */
    readonly intro?: ReactNode;
    /** What follows the list: further panels, and dialogs. */
    readonly children?: ReactNode;
  },
): ReactNode {
  const { title, label = title, actions, intro, children, ...list } = props;
  return (
    <>
      <PageTitle title={title}>{actions}</PageTitle>
      {intro}
      <Panel>
        <ListContent {...list} label={label} />
      </Panel>
      {children}
    </>
  );
}

/** A list among other panels of a page. */
export function ListPanel<Row extends object>(
  props: ListProps<Row> & {
    readonly title: string;
    readonly actions?: ReactNode;
    readonly intro?: ReactNode;
  },
): ReactNode {
  const { title, actions, intro, ...list } = props;
  return (
    <Panel title={title} actions={actions}>
      {intro}
      <ListContent {...list} label={title} />
    </Panel>
  );
}

/** A list that has nothing yet: what belongs here, and the way to the first one, or whom to ask. */
export function EmptyList(props: {
  readonly title: string;
  readonly text: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <>
      <p>{props.title}</p>
      <p className="fd-soft">{props.text}</p>
      {props.children}
    </>
  );
}

function ListContent<Row extends object>(props: ListProps<Row> & { readonly label: string }): ReactNode {
  const text = useText(partsText);
  const { list, empty: emptyList, ...rows } = props;
  const { answer, control, filters, isFiltered, clear } = list;
  const view = useTableView(list.name);
  const empty = isFiltered ? (
    <div>
      <p>{text.emptyFiltered}</p>
      <Button variant="default" onClick={clear}>
        {text.clearFilters}
      </Button>
    </div>
  ) : (
    emptyList
  );
  const body = answer.data?.body;
  const hasRows = (body?.content.length ?? 0) > 0;
  // There is nothing to narrow: the page shows the first step instead.
  const isFirst = emptyList !== undefined && !isFiltered && !hasRows && body?.pageable.pageNumber === 0;
  return (
    <>
      <div className="fd-tools">
        {filters.length === 0 || isFirst ? null : (
          <Filters
            label={rows.label}
            filters={filters}
            control={control}
            {...(isFiltered ? { onClear: clear } : {})}
          />
        )}
        {hasRows ? (
          <div className="fd-tools-end">
            <TableExport list={list} />
            <TableViewButton view={view} columns={hideable(rows.columns)} />
          </div>
        ) : null}
      </div>
      <AnswerView answer={answer}>
        {({ body: page }) => <ListTable {...rows} page={page} control={control} view={view} empty={empty} />}
      </AnswerView>
    </>
  );
}

function hideable<Row>(columns: readonly ListColumn<Row>[]): readonly HideableColumn[] {
  return columns
    .filter(({ isName, title }) => isName !== true && title !== '')
    .map((column) => ({ id: columnId(column), title: column.title }));
}
