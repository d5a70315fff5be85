/** What can be done with the selected rows. It has its place also without any, so that the rows do not move. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormat, useText } from '../text/language.tsx';
import { tablesText } from './tables-text.ts';
import { MOST_SELECTED, type RowSelection } from './use-selection.ts';

export function SelectionBar<Row>(props: {
  readonly selection: RowSelection<Row>;
  /** The buttons. */
  readonly children: ReactNode;
}): ReactNode {
  const [text, format] = [useText(tablesText), useFormat()];
  const { rows, isFull, clear } = props.selection;
  const count = rows.length;
  return (
    <div className="fd-selection" data-open={count > 0}>
      <span role="status">
        {count === 0 ? null : text.selected(count, format.number(count))}
        {isFull ? ` ${text.selectedMost(format.number(MOST_SELECTED))}` : null}
      </span>
      {count === 0 ? null : (
        <>
          {props.children}
          <Button size="compact-sm" variant="subtle" onClick={clear}>
            {text.clearSelection}
          </Button>
        </>
      )}
    </div>
  );
}
