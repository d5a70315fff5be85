/** A frontdoor at one glance: states, traffic, what needs attention, and the latest failures. */
import { Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FrontdoorMetricsAnswer, FrontdoorSummaryAnswer } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { Attention } from './attention.tsx';
import { Busiest } from './busiest.tsx';
import { LatestFailures } from './latest-failures.tsx';
import { overviewText } from './overview-text.ts';

const METRICS_MS = 30_000;

export function OverviewPage(): ReactNode {
  const text = useText(overviewText);
  const frontdoorId = useFrontdoorId();
  const parameters = { frontdoorId };
  const summary = useAnswer('getFrontdoorSummary', { parameters });
  const metrics = useAnswer(
    'getFrontdoorMetrics',
    { parameters, query: { duration: 'PT1H', step: 'PT1M' } },
    { refetchMs: METRICS_MS },
  );
  return (
    <>
      <PageTitle title={text.overview} />
      <AnswerView answer={summary}>
        {({ body }) => (
          <>
            {body.environments.total === 0 ? <Begin frontdoorId={frontdoorId} /> : null}
            <States summary={body} />
            <Attention summary={body} />
          </>
        )}
      </AnswerView>
      <Panel title={text.traffic}>
        <AnswerView answer={metrics}>{({ body }) => <Traffic metrics={body} />}</AnswerView>
      </Panel>
      <Busiest frontdoorId={frontdoorId} />
      <LatestFailures frontdoorId={frontdoorId} />
    </>
  );
}

function Begin({ frontdoorId }: { readonly frontdoorId: string }): ReactNode {
  const text = useText(overviewText);
  const { may } = useSession();
  return (
    <Panel title={text.begin}>
      <p>{text.beginText}</p>
      <Group>
        <Button component={Link} to={`/frontdoors/${frontdoorId}/agents`} disabled={!may('createEnrollment')}>
          {text.addAgent}
        </Button>
      </Group>
    </Panel>
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

function Traffic({ metrics }: { readonly metrics: FrontdoorMetricsAnswer }): ReactNode {
  const [text, format] = [useText(overviewText), useFormat()];
  const { totals, samples } = metrics;
  const requests = samples.map((sample) => sample.requests);
  const total = format.number(totals.requests);
  return (
    <>
      <Sparkline
        values={requests}
        label={text.trafficLine(total, format.number(Math.max(0, ...requests)))}
        isWide
      />
      <p>
        {text.requests(totals.requests, total)}, {text.errors(totals.errors, format.number(totals.errors))}.{' '}
        {totals.requests === 0
          ? null
          : `${text.latency(format.duration(totals.latencyMs.p50), format.duration(totals.latencyMs.p99))}. `}
        {text.transferred(format.bytes(totals.bytesIn), format.bytes(totals.bytesOut))}.
      </p>
    </>
  );
}
