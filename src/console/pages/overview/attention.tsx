/** Lists the resources that need attention: failing shares, agents that are away, certificates that end, domains that wait. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FrontdoorSummaryAnswer } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { ApiText } from '../../parts/api-text.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { Problem } from '../../parts/problem.tsx';
import { StateBadge, type Tone } from '../../parts/state-badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { overviewText } from './overview-text.ts';

/** The first of each kind; the lists have all. */
const SHOWN = 10;

export function Attention({ summary }: { readonly summary: FrontdoorSummaryAnswer }): ReactNode {
  const text = useText(overviewText);
  const { frontdoorId, expiringCertificates } = summary;
  const { failing, away, waiting, isWell, error } = useAttention(summary);
  return (
    <Panel title={text.attention}>
      {error === null ? null : <Problem error={error} />}
      {isWell ? <StateBadge tone="good">{text.allWell}</StateBadge> : null}
      <ul className="fd-plain">
        {failing.map(({ token, name, failure }) => (
          <Entry key={token} tone="bad">
            <Link to="/frontdoors/$frontdoorId/shares/$token" params={{ frontdoorId, token }}>
              {name ?? token}
            </Link>
            {failure === undefined ? null : (
              <>
                : <ApiText>{failure.lastError}</ApiText>
              </>
            )}
          </Entry>
        ))}
        {away.map(({ id, name, lastSeenAt }) => (
          <Entry key={id}>
            <Link
              to="/frontdoors/$frontdoorId/agents/$environmentId"
              params={{ frontdoorId, environmentId: id }}
            >
              {name}
            </Link>{' '}
            {text.awayAgent} <TimeAgo at={lastSeenAt} />
          </Entry>
        ))}
        {waiting.map(({ id, hostname }) => (
          <Entry key={id}>
            <Link to="/frontdoors/$frontdoorId/domains/$domainId" params={{ frontdoorId, domainId: id }}>
              {hostname}
            </Link>{' '}
            {text.domainWaits}
          </Entry>
        ))}
        {expiringCertificates.map(({ kind, id, name, expiresAt }) => (
          <Entry key={`${kind} ${id}`}>
            {name} {text.certificate} <TimeAgo at={expiresAt} />
          </Entry>
        ))}
      </ul>
    </Panel>
  );
}

function Entry({
  tone = 'warn',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <li>
      <StateBadge tone={tone}>{children}</StateBadge>
    </li>
  );
}

/** Asks only for the kinds of which the summary counts some. */
function useAttention(summary: FrontdoorSummaryAnswer) {
  const { frontdoorId, shares, environments, customFrontends, expiringCertificates } = summary;
  const parameters = { frontdoorId };
  const [hasFailing, hasAway, hasWaiting] = [
    shares.failed > 0,
    environments.online < environments.total,
    customFrontends.active < customFrontends.total,
  ];
  const failing = useAnswer(
    'listShares',
    { parameters, query: { status: 'FAILED', size: SHOWN } },
    { enabled: hasFailing },
  );
  const away = useAnswer(
    'listAgents',
    { parameters, query: { status: 'INACTIVE', size: SHOWN } },
    { enabled: hasAway },
  );
  const domains = useAnswer(
    'listCustomFrontends',
    { parameters, query: { size: SHOWN } },
    { enabled: hasWaiting },
  );
  const waiting = hasWaiting ? (domains.data?.body.content ?? []) : [];
  return {
    failing: hasFailing ? (failing.data?.body.content ?? []) : [],
    away: hasAway ? (away.data?.body.content ?? []) : [],
    waiting: waiting.filter(({ status }) => status !== 'ACTIVE'),
    isWell: !hasFailing && !hasAway && !hasWaiting && expiringCertificates.length === 0,
    error: failing.error ?? away.error ?? domains.error,
  };
}
