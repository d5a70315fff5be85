/** A row of a list. Where nothing in it can have the focus, the row itself can, so that its whole texts can be read. */
import { Checkbox } from '@mantine/core';
import { useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { useText } from '../text/language.tsx';
import type { ListColumn } from './list-column.ts';
import { tablesText } from './tables-text.ts';
import type { RowSelection } from './use-selection.ts';

const CONTROLS = 'a[href], button, input, [tabindex="0"]';

export function ListRow<Row>(props: {
  readonly row: Row;
  readonly name: string;
  readonly columns: readonly ListColumn<Row>[];
  readonly boxes: RowSelection<Row> | undefined;
  /** The menu of the row; undefined where rows have none. */
  readonly children: ReactNode;
}): ReactNode {
  const text = useText(tablesText);
  const { row, name, columns, boxes, children } = props;
  const element = useRef<HTMLTableRowElement>(null);
  const [isBare, setBare] = useState(false);
  useLayoutEffect(() => setBare(element.current?.querySelector(CONTROLS) === null), [columns.length]);
  const isSelected = boxes?.has(row) ?? false;
  return (
    <tr role="row" ref={element} data-selected={isSelected} {...(isBare ? { tabIndex: 0 } : {})}>
      {boxes === undefined ? null : (
        <td role="cell" className="fd-box">
          <Checkbox
            size="xs"
            aria-label={text.select(name)}
            checked={isSelected}
            disabled={boxes.isFull && !isSelected}
            onChange={({ currentTarget }) => boxes.set([row], currentTarget.checked)}
          />
        </td>
      )}
      {columns.map(({ id, title, cell, isNumber = false, isName = false }) => (
        <td
          key={id ?? title}
          role="cell"
          data-title={title}
          className={isNumber ? 'fd-number' : isName ? 'fd-row-name' : ''}
        >
          <span className="fd-cell" data-title={title}>
            {cell(row)}
          </span>
        </td>
      ))}
      {children === undefined ? null : (
        <td role="cell" className="fd-row-menu">
          {children}
        </td>
      )}
    </tr>
  );
}
