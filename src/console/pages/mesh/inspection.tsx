/** Asks connected routers for values, and shows what they answer. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useProgram } from '../../api/program.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

export function Inspection(props: {
  readonly names: readonly string[];
  readonly routerId: string | undefined;
  /** Each round asks again. */
  readonly round?: number;
}): ReactNode {
  const text = useText(meshText);
  const { api } = useProgram();
  const { names, routerId, round = 0 } = props;
  // It only reads, although the operation is a POST.
  const answer = useQuery({
    queryKey: ['inspectRouters', names, routerId ?? null, round],
    queryFn: () => {
      const all = { names: [...names] };
      return api.call('inspectRouters', { body: routerId === undefined ? all : { ...all, routerId } });
    },
    staleTime: 0,
  });
  return (
    <AnswerView answer={answer}>
      {({ body }) => (
        <>
          {body.values.length === 0 ? <p>{text.noValue}</p> : null}
          {body.values.map(({ routerId: id, name, value, error }) => (
            <Panel key={`${id} ${name}`} title={`${id}: ${name}`}>
              <pre
                className="fd-code"
                tabIndex={0}
                role="region"
                aria-label={`${text.values}: ${id} ${name}`}
              >
                {error ?? shown(value) ?? text.noValue}
              </pre>
            </Panel>
          ))}
        </>
      )}
    </AnswerView>
  );
}

function shown(value: unknown): string | undefined {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
