/** An answer of the API on a page: waiting, failed, or there. Earlier content stays while a new answer is on its way. */
import { Loader } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useText } from '../text/language.tsx';
import { partsText } from './parts-text.ts';
import { Problem } from './problem.tsx';

export function AnswerView<T>(props: {
  readonly answer: UseQueryResult<T>;
  readonly children: (data: T) => ReactNode;
}): ReactNode {
  const { data, error, refetch } = props.answer;
  const again = () => void refetch();
  if (data === undefined) return error === null ? <Waiting /> : <Problem error={error} onAgain={again} />;
  return (
    <>
      {error === null ? null : <Problem error={error} onAgain={again} />}
      {props.children(data)}
    </>
  );
}

export function Waiting(): ReactNode {
  const text = useText(partsText);
  return (
    <div role="status" aria-label={text.loading}>
      <Loader size="sm" />
    </div>
  );
}
