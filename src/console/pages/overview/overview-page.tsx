/**
 * A frontdoor at one glance: what is wrong, the states, why requests failed, the traffic with its busiest shares, and what changed.
 * Each part is one request, and has its room before its answer is there, so that nothing moves.
 */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FrontdoorSummaryAnswer } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { Attention } from './attention.tsx';
import { Begin } from './begin.tsx';
import { FailureCauses } from './failure-causes.tsx';
import { LatestChanges } from './latest-changes.tsx';
import { overviewText } from './overview-text.ts';
import { Traffic } from './traffic.tsx';

export function OverviewPage(): ReactNode {
  const text = useText(overviewText);
  const { may } = useSession();
  const frontdoorId = useFrontdoorId();
  const parameters = { frontdoorId };
  const summary = useAnswer('getFrontdoorSummary', { parameters });
  const attention = useAnswer('getFrontdoorAttention', { parameters });
  return (
    <>
      <PageTitle title={text.overview} />
      <AnswerView answer={summary}>
        {({ body }) => (
          <AnswerView answer={attention}>
            {({ body: wrong }) => (
              <>
                <Begin summary={body} />
                <States summary={body} />
                <div className="fd-beside fd-row">
                  <Attention attention={wrong} />
                  <FailureCauses frontdoorId={frontdoorId} />
                </div>
                <Traffic frontdoorId={frontdoorId} />
                {may('listAuditEvents') ? <LatestChanges /> : null}
              </>
            )}
          </AnswerView>
        )}
      </AnswerView>
    </>
  );
}

function States({ summary }: { readonly summary: FrontdoorSummaryAnswer }): ReactNode {
  const [text, format] = [useText(overviewText), useFormat()];
  const { frontdoorId, shares, environments, failuresLastHour } = summary;
  const away = environments.total - environments.online;
  const params = { frontdoorId };
  return (
    <div className="fd-cards">
      <section className="fd-panel" aria-label={text.shares}>
        <h2>
          <Link to="/frontdoors/$frontdoorId/shares" params={params}>
            {text.shares}
          </Link>
        </h2>
        <div className="fd-figure">{format.number(shares.total)}</div>
        <StateBadge tone="good">{text.working(shares.deployed, format.number(shares.deployed))}</StateBadge>
        {shares.pending === 0 ? null : (
          <div>
            <StateBadge tone="soft">{text.waiting(shares.pending, format.number(shares.pending))}</StateBadge>
          </div>
        )}
        {shares.failed === 0 ? null : (
          <div>
            <StateBadge tone="bad">{text.failing(shares.failed, format.number(shares.failed))}</StateBadge>
          </div>
        )}
      </section>
      <section className="fd-panel" aria-label={text.agents}>
        <h2>
          <Link to="/frontdoors/$frontdoorId/agents" params={params}>
            {text.agents}
          </Link>
        </h2>
        <div className="fd-figure">{format.number(environments.total)}</div>
        <StateBadge tone="good">
          {text.online(environments.online, format.number(environments.online))}
        </StateBadge>
        {away === 0 ? null : (
          <div>
            <StateBadge tone="warn">{text.offline(away, format.number(away))}</StateBadge>
          </div>
        )}
      </section>
      <section className="fd-panel" aria-label={text.failures}>
        <h2>
          <Link to="/frontdoors/$frontdoorId/failures" params={params}>
            {text.failures}
          </Link>
        </h2>
        <div className="fd-figure">{format.number(failuresLastHour)}</div>
        <span className="fd-soft">{text.lastHour}</span>
      </section>
    </div>
  );
}
