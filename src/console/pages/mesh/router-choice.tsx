/** A choice among the first hundred routers. */
import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { namedChoices, withChosen } from '../../parts/filters.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

const MAX_SHOWN = 100;

export function RouterChoice(props: {
  readonly value: string;
  /** The text of no choice. */
  readonly none: string;
  readonly onChange: (id: string) => void;
}): ReactNode {
  const text = useText(meshText);
  const list = useAnswer('listRouters', { query: { size: MAX_SHOWN, sort: 'name,asc' } });
  return (
    <NativeSelect
      label={text.router}
      error={useFieldError('routerId')}
      value={props.value}
      onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
      data={[
        { value: '', label: props.none },
        ...withChosen(namedChoices(list.data?.body.content), props.value),
      ]}
    />
  );
}
