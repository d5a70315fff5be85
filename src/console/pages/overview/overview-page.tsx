/** A frontdoor at one glance. */
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { overviewText } from './overview-text.ts';

export function OverviewPage(): ReactNode {
  const [text, format] = [useText(overviewText), useFormat()];
  const summary = useAnswer('getFrontdoorSummary', { parameters: { frontdoorId: useFrontdoorId() } });
  return (
    <>
      <PageTitle title={text.overview} />
      <AnswerView answer={summary}>
        {({ body }) => (
          <div className="fd-cards">
            <Panel title={text.shares}>
              <div className="fd-figure">{format.number(body.shares.total)}</div>
            </Panel>
            <Panel title={text.agents}>
              <div className="fd-figure">{format.number(body.environments.online)}</div>
            </Panel>
            <Panel title={text.failuresLastHour}>
              <div className="fd-figure">{format.number(body.failuresLastHour)}</div>
            </Panel>
          </div>
        )}
      </AnswerView>
    </>
  );
}
