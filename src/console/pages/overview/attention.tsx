/** Lists the resources that need attention: failing shares, agents that are away, certificates that end, domains that wait. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FrontdoorSummaryAnswer } from '#contract';
import { useAnswer } from '../../api/queries.ts';
import { ApiText } from '../../parts/api-text.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { Problem } from '../../parts/problem.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { overviewText } from './overview-text.ts';

/** The first of each kind; the lists have all. */
const SHOWN = 10;

export function Attention({ summary }: { readonly summary: FrontdoorSummaryAnswer }): ReactNode {
  const text = useText(overviewText);
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
  const error = failing.error ?? away.error ?? domains.error;
  const isWell = !hasFailing && !hasAway && !hasWaiting && expiringCertificates.length === 0;
  return (
    <Panel title={text.attention}>
      {error === null ? null : <Problem error={error} />}
      {isWell ? <StateBadge tone="good">{text.allWell}</StateBadge> : null}
      <ul className="fd-plain">
        {(hasFailing ? (failing.data?.body.content ?? []) : []).map(({ token, name, failure }) => (
          <li key={token}>
            <StateBadge tone="bad">
              <Link to="/frontdoors/$frontdoorId/shares/$token" params={{ frontdoorId, token }}>
                {name ?? token}
              </Link>
              {failure === undefined ? null : (
                <>
                  : <ApiText>{failure.lastError}</ApiText>
                </>
              )}
            </StateBadge>
          </li>
        ))}
        {(hasAway ? (away.data?.body.content ?? []) : []).map(({ id, name, lastSeenAt }) => (
          <li key={id}>
            <StateBadge tone="warn">
              <Link
                to="/frontdoors/$frontdoorId/agents/$environmentId"
                params={{ frontdoorId, environmentId: id }}
              >
                {name}
              </Link>{' '}
              {text.awayAgent} <TimeAgo at={lastSeenAt} />
            </StateBadge>
          </li>
        ))}
        {(hasWaiting ? (domains.data?.body.content ?? []) : [])
          .filter(({ status }) => status !== 'ACTIVE')
          .map(({ id, hostname }) => (
            <li key={id}>
              <StateBadge tone="warn">
                <Link to="/frontdoors/$frontdoorId/domains/$domainId" params={{ frontdoorId, domainId: id }}>
                  {hostname}
                </Link>{' '}
                {text.domainWaits}
              </StateBadge>
            </li>
          ))}
        {expiringCertificates.map(({ kind, id, name, expiresAt }) => (
          <li key={`${kind} ${id}`}>
            <StateBadge tone="warn">
              {name} {text.certificate} <TimeAgo at={expiresAt} />
            </StateBadge>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
