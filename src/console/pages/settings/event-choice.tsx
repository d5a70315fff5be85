/** Which events a destination of notifications receives. Those of the installation are for operators. */
import { Checkbox, Fieldset } from '@mantine/core';
import type { ReactNode } from 'react';
import type { NotificationEventType } from '#contract';
import { useSession } from '../../api/session.tsx';
import { useText } from '../../text/language.tsx';
import { EVENTS, notificationText } from './notification-text.ts';

const TYPES = Object.keys(EVENTS) as NotificationEventType[];

/** What a new destination receives. */
export const FIRST_EVENTS: readonly NotificationEventType[] = TYPES.filter((type) => !EVENTS[type]);

export function EventChoice(props: {
  readonly value: readonly NotificationEventType[];
  readonly onChange: (value: readonly NotificationEventType[]) => void;
}): ReactNode {
  const text = useText(notificationText);
  const { isOperator } = useSession();
  const { value, onChange } = props;
  return (
    <Fieldset legend={text.events} mb="md">
      {TYPES.filter((type) => isOperator || !EVENTS[type]).map((type) => (
        <Checkbox
          key={type}
          mb="xs"
          label={text.eventName(type)}
          checked={value.includes(type)}
          onChange={({ currentTarget: { checked } }) =>
            onChange(checked ? [...value, type] : value.filter((other) => other !== type))
          }
        />
      ))}
    </Fieldset>
  );
}
