/**
 * A part of a list: one row on one line, columns that sort and can be hidden, rows that can be selected, and links to the other parts.
 * On a narrow screen each row is a card. Its elements have their roles by name, because a style that is no table takes them away.
 */
import { Pagination } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat, useText } from '../text/language.tsx';
import { columnId, type ListColumn, type ListRows } from './list-column.ts';
import { ListHead, ListOrder } from './list-head.tsx';
import { ListRow } from './list-row.tsx';
import { partsText } from './parts-text.ts';
import { RowMenu } from './row-menu.tsx';
import { RowTips } from './row-tip.tsx';
import type { SearchControl } from './search-state.tsx';
import { SelectionBar } from './selection-bar.tsx';
import type { ListPart } from './use-list.ts';
import { useSelection } from './use-selection.ts';
import type { TableView } from './use-table-view.ts';

export type { ListColumn };

const BOX_REM = 2;
const MENU_REM = 2.5;

export function ListTable<Row>(
  props: ListRows<Row> & {
    /** Names the list, for people who do not see it. */
    readonly label: string;
    readonly page: ListPart<Row>;
    readonly control: SearchControl;
    readonly view: TableView;
    /** Shown instead of an empty list. */
    readonly empty?: ReactNode;
  },
): ReactNode {
  const text = useText(partsText);
  const { page, control, view, keyOf, nameOf = keyOf, menuOf, bulk } = props;
  const { content, pageable } = page;
  const selection = useSelection(content, keyOf);
  const columns = props.columns.filter(
    (column) => column.isName === true || !view.hidden.includes(columnId(column)),
  );
  if (content.length === 0 && pageable.pageNumber === 0)
    return props.empty ?? <p className="fd-soft">{text.empty}</p>;
  const boxes = bulk === undefined ? undefined : selection;
  return (
    <>
      {boxes === undefined ? null : (
        <SelectionBar selection={boxes}>{bulk?.(boxes.rows, () => boxes.clear())}</SelectionBar>
      )}
      <RowTips>
        <ListOrder columns={columns} control={control} />
        <table
          role="table"
          aria-label={props.label}
          className={view.isRoomy ? 'fd-table fd-roomy' : 'fd-table'}
          style={{ gridTemplateColumns: widthsOf(columns, boxes !== undefined, menuOf !== undefined) }}
        >
          <ListHead
            columns={columns}
            control={control}
            shown={content}
            boxes={boxes}
            hasMenus={menuOf !== undefined}
          />
          <tbody role="rowgroup">
            {content.map((row) => (
              <ListRow key={keyOf(row)} row={row} name={nameOf(row)} columns={columns} boxes={boxes}>
                {menuOf === undefined ? undefined : <RowMenu name={nameOf(row)} actions={menuOf(row)} />}
              </ListRow>
            ))}
          </tbody>
        </table>
      </RowTips>
      <ListFoot page={page} control={control} />
    </>
  );
}

function widthsOf<Row>(columns: readonly ListColumn<Row>[], hasBoxes: boolean, hasMenus: boolean): string {
  return [
    ...(hasBoxes ? [`${BOX_REM}rem`] : []),
    ...columns.map(({ width, share = 1 }) => (width === undefined ? `minmax(0, ${share}fr)` : `${width}rem`)),
    ...(hasMenus ? [`${MENU_REM}rem`] : []),
  ].join(' ');
}

function ListFoot(props: { readonly page: ListPart<unknown>; readonly control: SearchControl }): ReactNode {
  const [text, format] = [useText(partsText), useFormat()];
  const { content, pageable, totalElements, totalPages } = props.page;
  const { pageNumber, pageSize } = pageable;
  const pages = totalPages ?? pageNumber + (content.length < pageSize ? 1 : 2);
  return (
    <div className="fd-foot">
      <span className="fd-soft fd-small">
        {totalElements === undefined ? null : text.entries(totalElements, format.number(totalElements))}
      </span>
      {pages <= 1 ? null : (
        <Pagination
          size="sm"
          total={pages}
          value={pageNumber + 1}
          onChange={(next) => props.control.change({ page: next - 1 })}
          getItemProps={(number) => ({ 'aria-label': `${text.page} ${format.number(number)}` })}
          getControlProps={(which) => ({ 'aria-label': which === 'next' ? text.next : text.back })}
        />
      )}
    </div>
  );
}
