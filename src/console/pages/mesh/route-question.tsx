/** Asks which way a circuit would take, and why. Nothing is dialed. The question stands in the address. */
import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import type { MeshAnswer } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

export function RouteQuestion({ mesh }: { readonly mesh: MeshAnswer }): ReactNode {
  const [text, format] = [useText(meshText), useFormat()];
  const control = useSearchState();
  const [routerId, serviceId] = [control.textOf('routerId'), control.textOf('serviceId')];
  const isAsked = routerId !== '' && serviceId !== '';
  const route = useAnswer('getRoute', { query: { routerId, serviceId } }, { enabled: isAsked });
  const choice = (
    name: string,
    label: string,
    choices: readonly { readonly id: string; readonly name: string }[],
  ) => (
    <NativeSelect
      label={label}
      value={control.textOf(name)}
      onChange={({ currentTarget }) => control.change({ [name]: currentTarget.value })}
      data={[
        { value: '', label: '–' },
        ...choices.map(({ id, name: shown }) => ({ value: id, label: shown })),
      ]}
    />
  );
  return (
    <Panel title={text.route}>
      <div className="fd-filters">
        {choice('routerId', text.router, mesh.routers)}
        {choice('serviceId', text.service, mesh.services)}
      </div>
      {mesh.serviceCount > mesh.services.length ? (
        <p className="fd-soft">{text.moreServices(format.number(mesh.serviceCount))}</p>
      ) : null}
      {isAsked ? (
        <AnswerView answer={route}>
          {({ body }) => (
            <>
              <p>
                <StateBadge tone={body.terminatorId === null ? 'bad' : 'good'}>
                  {body.terminatorId === null ? text.noRoute : body.routerNames.join(' → ')}
                </StateBadge>
              </p>
              <p>{body.reason}</p>
              <SimpleTable
                label={text.candidates}
                head={[text.router, text.state, text.precedence, text.cost, text.health, text.reason]}
                rows={body.candidates.map((candidate) => [
                  candidate.routerName,
                  candidate.chosen ? text.chosen : text.notChosen,
                  candidate.precedence,
                  `${candidate.pathCost === null ? '–' : format.number(candidate.pathCost)} + ${format.number(candidate.terminatorCost)}`,
                  candidate.healthy ? text.healthy : text.unhealthy,
                  candidate.reason,
                ])}
              />
            </>
          )}
        </AnswerView>
      ) : null}
    </Panel>
  );
}
