/** The choices of a list: the height of its rows, and its columns. */
import { Button, Checkbox, Popover, Radio, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useText } from '../text/language.tsx';
import { tablesText } from './tables-text.ts';
import type { TableView } from './use-table-view.ts';

export interface HideableColumn {
  readonly id: string;
  readonly title: string;
}

export function TableViewButton(props: {
  readonly view: TableView;
  /** Those that can be hidden. */
  readonly columns: readonly HideableColumn[];
}): ReactNode {
  const text = useText(tablesText);
  const { view, columns } = props;
  const ids = columns.map(({ id }) => id);
  return (
    <Popover position="bottom-end" withinPortal trapFocus returnFocus transitionProps={{ duration: 0 }}>
      <Popover.Target>
        <Button variant="default" size="xs">
          {text.view}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Radio.Group
          label={text.rowHeight}
          value={view.isRoomy ? 'roomy' : 'compact'}
          onChange={(value) => view.setRoomy(value === 'roomy')}
        >
          <Stack gap="xs" mt="xs">
            <Radio value="compact" label={text.compact} />
            <Radio value="roomy" label={text.roomy} />
          </Stack>
        </Radio.Group>
        {columns.length === 0 ? null : (
          <Checkbox.Group
            mt="md"
            label={text.columns}
            value={ids.filter((id) => !view.hidden.includes(id))}
            onChange={(shown) => view.setHidden(ids.filter((id) => !shown.includes(id)))}
          >
            <Stack gap="xs" mt="xs">
              {columns.map(({ id, title }) => (
                <Checkbox key={id} value={id} label={title} />
              ))}
            </Stack>
          </Checkbox.Group>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
