/** The actions of a row, behind one button. A list whose rows have a single action shows that one as a button instead. */
import { ActionIcon, Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import { useText } from '../text/language.tsx';
import { Icon } from './icon.tsx';
import { tablesText } from './tables-text.ts';

export interface RowAction {
  readonly label: string;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  readonly onSelect: () => void;
}

export function RowMenu(props: {
  /** Names the row. */
  readonly name: string;
  readonly actions: readonly RowAction[];
}): ReactNode {
  const text = useText(tablesText);
  const { name, actions } = props;
  return (
    <Menu position="bottom-end" transitionProps={{ duration: 0 }} withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="md" aria-label={text.actionsOf(name)}>
          <Icon name="more" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map(({ label, isDanger = false, isDisabled = false, onSelect }) => (
          <Menu.Item
            key={label}
            disabled={isDisabled}
            onClick={onSelect}
            {...(isDanger ? { className: 'fd-danger' } : {})}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
